"""The rows of a question as SQL: the loaded table, with the columns it derives.

Each operation is bound to a column of its own, in layers::

    (SELECT d.*, t1 + t2 AS t3 FROM (SELECT d.*, … AS t1, … AS t2 FROM data AS d) AS d) AS data

so that every operand is the name of a column: text and work grow with the number of
operations alone, and the order in which a database evaluates them does not matter. Each
operation is total by itself: no operand, whatever the row, makes it raise.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never, final

from sfumato.declare.derived import Derived
from sfumato.declare.logic import (
    Absent,
    And,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Literal_,
    Member,
    Not,
    Or,
    Relation,
    StartsWith,
)
from sfumato.declare.query import Query
from sfumato.declare.relation import Part
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, token
from sfumato.declare.schema import Text as Unlisted
from sfumato.declare.value import (
    LARGEST_VALUE,
    SMALLEST_VALUE,
    Arithmetic,
    Choice,
    Clip,
    Constant,
    Cut,
    DatePart,
    Floor,
    Mapped,
    Missing,
    Name,
    Truth,
    Value,
    settled,
)
from sfumato.engine import physical as stored
from sfumato.engine.almanac import Slot, date_part
from sfumato.engine.cell import as_double, day, key_index, number
from sfumato.engine.dialect import Dialect
from sfumato.engine.evaluate import arithmetic
from sfumato.engine.physical import Floating, Layout, Physical, Places
from sfumato.engine.predicate import Computed, predicate
from sfumato.engine.terms import Terms
from sfumato.plan.kinds import (
    Days,
    Logical,
    Nothing,
    Numeric,
    Words,
    dated,
    kind_of,
    text_function,
)

__all__ = ["Source"]


@final
class Source:
    """The relation that a statement reads, and the filter over it.

    Attributes:
        terms: The cells of declared and derived columns, to be read from `sql`.
        sql: What stands after FROM.
        condition: The filter, or none.
    """

    def __init__(self, query: Query | Part, schema: Schema, layout: Layout,
                 dialect: Dialect, table: str | None = None) -> None:  # fmt: skip
        """Render; `schema` holds the derived columns too, `table` is what is read."""
        self.terms = Terms(schema, layout, dialect)
        self._schema, self._dialect = schema, dialect
        self._layers: list[list[str]] = []
        self._bound: dict[Value, Slot] = {}
        self._levels: dict[str, int] = {}
        self._count = 0
        for one in query.derived:
            self._derive(one)
        self.condition: str | None = None
        if query.condition is not None:
            self.condition, _ = self._condition(query.condition)
        self.sql = table or ("data" if query.base is None else "base")
        for layer in self._layers:
            added = ", ".join(["d.*", *layer])
            self.sql = f"(SELECT {added} FROM {self.sql} AS d{dialect.fence})"
        if self._layers or table:
            self.sql += " AS data"

    def _derive(self, one: Derived) -> None:
        slot, column = self.slot(one.value), self._schema[one.name]
        physical: Physical = Floating()
        kind = kind_of(one.value, self._schema)
        if isinstance(kind, Nothing):
            physical = stored.Nothing()
        elif isinstance(kind, Logical):
            physical = stored.Truth()
        elif slot.words is not None:
            assert isinstance(column, Category)  # noqa: S101  the plan checked it
            slot = self._recoded(slot, {w: key_index(w, column) for w in slot.words})
            physical = Places()
        self.terms.derive(one.name, slot.sql, physical)
        self._levels[one.name] = slot.level

    def slot(self, value: Value) -> Slot:
        """Return the column that a value is bound to."""
        if value not in self._bound:
            self._bound[value] = self._render(value)
        return self._bound[value]

    def _render(self, value: Value) -> Slot:  # noqa: C901, PLR0911, PLR0912  one for each
        match value:
            case Name(name):
                return self._cell(name)
            case Constant(str() as text):
                return Slot(self._dialect.integer(0), 0, (str(token(text)),))
            case Constant(constant):
                return self._constant(settled(as_double(constant)))  # type: ignore[arg-type]
            case Missing():
                return Slot(self._dialect.null_double, 0)
            case Arithmetic():
                return self._arithmetic(value)
            case Floor(inner):
                return self._floor(self.slot(inner))
            case Clip(inner, lower, upper):
                x = self.slot(inner)
                low, high = (self._dialect.constant(settled(b)) for b in (lower, upper))
                return self.bind(
                    f"CASE WHEN {x.sql} < {low} THEN {low} "
                    f"WHEN {x.sql} > {high} THEN {high} ELSE {x.sql} END",
                    [x],
                )
            case Mapped(function, inner):
                return self._mapped(function, inner)
            case DatePart(part, inner):
                return date_part(self.bind, self._dialect, part, self.slot(inner))
            case Cut():
                return self._cut(value)
            case Choice():
                return self._choice(value)
            case Truth(condition):
                sql, level = self._condition(condition)
                return self.bind(f"({sql})", [Slot("", level)])
            case _:
                assert_never(value)

    def _constant(self, number: float) -> Slot:
        return Slot(self._dialect.constant(number), 0, constant=number)

    def bind(
        self, sql: str, uses: Iterable[Slot], words: tuple[str, ...] | None = None
    ) -> Slot:
        """Make an expression over other slots a column of the next layer."""
        level = max((slot.level for slot in uses), default=0) + 1
        while len(self._layers) < level:
            self._layers.append([])
        self._count += 1
        name = f"t{self._count}"
        self._layers[level - 1].append(f"{sql} AS {name}")
        return Slot(name, level, words)

    def _settled(self, x: str, uses: Iterable[Slot]) -> Slot:
        """Bind a number that is not NaN as it counts in values; see `settled`."""
        largest, least, tiny, less = map(
            self._dialect.constant,
            (LARGEST_VALUE, -LARGEST_VALUE, SMALLEST_VALUE, -SMALLEST_VALUE),
        )
        return self.bind(
            f"CASE WHEN {x} > {largest} THEN {largest} WHEN {x} < {least} THEN {least} "
            f"WHEN {x} > {less} AND {x} < {tiny} THEN {self._dialect.constant(0)} "
            f"ELSE {x} END",
            uses,
        )

    def _cell(self, name: str) -> Slot:
        """Bind the cell of a column."""
        here, column = Slot("", self._levels.get(name, 0)), self._schema[name]
        assert not isinstance(column, Unlisted)  # noqa: S101  the plan refused it
        match column:
            case Real() | Integer():
                x = self.bind(self.terms.number(name), [here])
                return self._settled(x.sql, [x])
            case Boolean():
                return self.bind(self.terms.truth(name), [here])
            case Category():
                return self.bind(self.terms.coded(name), [here], column.tokens)
            case _:
                assert_never(column)

    def _arithmetic(self, value: Arithmetic) -> Slot:
        left, right = self.slot(value.left), self.slot(value.right)
        if left.constant is not None and right.constant is not None:
            # Left to a database, constants are computed when it plans, and may raise.
            known = arithmetic(value.sign, left.constant, right.constant)
            return self.slot(Missing()) if known is None else self._constant(known)
        if value.sign == "/":
            # NULLIF, because a database may evaluate both arms of a CASE.
            divisor = f"NULLIF({right.sql}, {self._dialect.constant(0)})"
            return self._settled(f"({left.sql} / {divisor})", [left, right])
        return self._settled(f"({left.sql} {value.sign} {right.sql})", [left, right])

    def _floor(self, x: Slot) -> Slot:
        """Bind the whole number below; beyond 2^53 each double is whole.

        Some databases return a 64-bit integer, which larger numbers would not fit.
        """
        end = self._dialect.constant(2.0**53)
        whole = self._dialect.to_double.format(x=self._dialect.floor.format(x=x.sql))
        inside = f"{x.sql} > -{end} AND {x.sql} < {end}"
        return self.bind(f"CASE WHEN {inside} THEN {whole} ELSE {x.sql} END", [x])

    def _mapped(self, function: str, inner: Value) -> Slot:
        x = self.slot(inner)
        if isinstance(kind_of(inner, self._schema), Nothing):
            return self.slot(Missing())
        if isinstance(kind_of(inner, self._schema), Numeric):
            return x
        if x.words is None and function == "date":
            return x
        if function == "number" and x.words is None:
            return self.bind(self._dialect.truth_to_double.format(x=x.sql), [x])
        assert x.words is not None  # noqa: S101  the plan checked it
        if function in ("number", "date"):
            arms = []
            for i, word in enumerate(x.words):
                read = number(word) if function == "number" else day(word)
                if read is not None:
                    constant = self._dialect.constant(settled(read))
                    arms.append(f"WHEN {x.sql} = {self._dialect.integer(i)} THEN {constant}")  # fmt: skip
            null = self._dialect.null_double
            return self.bind(f"CASE {' '.join(arms)} ELSE {null} END", [x]) if arms else self.slot(Missing())  # fmt: skip
        change = text_function(function)
        texts = {word: str(token(change(word))) for word in x.words}
        words = tuple(dict.fromkeys(texts.values()))
        return self._recoded(x, {w: words.index(t) for w, t in texts.items()}, words)

    def _recoded(
        self,
        slot: Slot,
        places: Mapping[str, int | None],
        words: tuple[str, ...] | None = None,
    ) -> Slot:
        """Bind the places of other texts in place of those of `slot`."""
        assert slot.words is not None  # noqa: S101  a text
        if all(places[word] == i for i, word in enumerate(slot.words)):
            return Slot(slot.sql, slot.level, words)
        if slot.level == 0:  # a constant
            place = places[slot.words[0]]
            constant = self._null_place() if place is None else self._dialect.integer(place)  # fmt: skip
            return Slot(constant, 0, words)
        targets: dict[int, list[int]] = {}
        for i, word in enumerate(slot.words):
            if (place := places[word]) is not None:
                targets.setdefault(place, []).append(i)
        arms = " ".join(
            f"WHEN {self._any(slot, several)} THEN {self._dialect.integer(place)}"
            for place, several in targets.items()
        )
        null = self._null_place()
        sql = f"CASE {arms} ELSE {null} END" if arms else null
        return self.bind(sql, [slot], words)

    def _null_place(self) -> str:
        zero = self._dialect.integer(0)
        return f"NULLIF({zero}, {zero})"

    def _any(self, slot: Slot, places: Sequence[int]) -> str:
        """Return the test that a text is at one of the places; it may be null."""
        if not places:
            return f"({slot.sql} < {self._dialect.integer(0)})"
        return f"{slot.sql} IN ({', '.join(map(self._dialect.integer, places))})"

    def _cut(self, value: Cut) -> Slot:
        x = self.slot(value.inner)
        edges = [self._dialect.constant(e) for e in value.edges]
        words = tuple(str(token(label)) for label in value.labels)
        last = len(words) - 1
        arms = [f"WHEN {x.sql} < {edges[0]} OR {x.sql} > {edges[-1]} THEN {self._null_place()}"]  # fmt: skip
        arms += [
            f"WHEN {x.sql} < {edge} THEN {self._dialect.integer(i)}"
            for i, edge in enumerate(edges[1:-1])
        ]
        arms.append(f"WHEN {x.sql} <= {edges[-1]} THEN {self._dialect.integer(last)}")
        unique = tuple(dict.fromkeys(words))
        slot = self.bind(f"CASE {' '.join(arms)} END", [x], words)
        if unique == words:
            return slot
        return self._recoded(slot, {w: unique.index(w) for w in words}, unique)

    def _choice(self, value: Choice) -> Slot:
        kind = kind_of(value, self._schema)
        words = kind.vocabulary if isinstance(kind, Words) else None
        null = self._dialect.null_double if words is None else self._null_place()
        if isinstance(kind, Logical):
            null = "NULLIF(TRUE, TRUE)"
        uses: list[Slot] = []

        def branch(one: Value) -> str:
            if isinstance(one, Missing):
                return null
            slot = self.slot(one)
            if words is not None and slot.words is not None:
                slot = self._recoded(slot, {w: words.index(w) for w in slot.words})
            uses.append(slot)
            return slot.sql

        arms = []
        for condition, one in value.branches:
            sql, level = self._condition(condition)
            uses.append(Slot("", level))
            arms.append(f"WHEN {sql} THEN {branch(one)}")
        sql = f"CASE {' '.join(arms)} ELSE {branch(value.otherwise)} END"
        return self.bind(sql, uses, words)

    def _condition(self, expr: Expr) -> tuple[str, int]:
        """Return a condition as SQL, and the layer from which on it can stand."""
        levels = [0]

        def computed(one: Computed) -> str:
            sql, uses = self._computed(one)
            levels.extend(slot.level for slot in uses)
            return sql

        sql = predicate(expr, self.terms, computed)
        levels += [self._levels.get(name, 0) for name in _columns(expr)]
        return sql, max(levels)

    def _computed(self, expr: Computed) -> tuple[str, list[Slot]]:
        match expr:
            case Relation():
                left, operator, right = dated(expr, self._schema)
                one, other = self.slot(left), self.slot(right)
                if one.words is not None and other.words is not None:
                    both = tuple(dict.fromkeys(one.words + other.words))
                    one, other = (
                        self._recoded(s, {w: both.index(w) for w in s.words or ()})
                        for s in (one, other)
                    )
                symbol = {"==": "=", "!=": "<>"}.get(operator, operator)
                return f"{one.sql} {symbol} {other.sql}", [one, other]
            case Member(inner, constants):
                x = self.slot(inner)
                if x.words is None:
                    numbers = self._numbers(inner, constants)
                    listed = ", ".join(map(self._dialect.constant, numbers))
                    if not numbers:
                        return f"CASE WHEN {x.sql} IS NOT NULL THEN FALSE END", [x]
                    return f"{x.sql} IN ({listed})", [x]
                tokens = set(map(token, constants))
                places = [i for i, word in enumerate(x.words) if word in tokens]
                return self._any(x, places), [x]
            case Absent(inner):
                x = self.slot(inner)
                return f"{x.sql} IS NULL", [x]
            case StartsWith(inner, prefix):
                x = self.slot(inner)
                words = x.words or ()
                places = [i for i, word in enumerate(words) if word.startswith(prefix)]
                return self._any(x, places), [x]
            case _:
                assert_never(expr)

    def _numbers(self, inner: Value, constants: Sequence[Literal_]) -> list[float]:
        if isinstance(kind_of(inner, self._schema), Days):
            return [found for c in constants if (found := day(c)) is not None]
        return [settled(as_double(c)) for c in constants]  # type: ignore[arg-type]


def _columns(expr: Expr) -> Iterator[str]:
    """Yield the columns whose cells a condition compares directly."""
    waiting = [expr]
    while waiting:
        match waiting.pop():
            case Compare(name) | IsIn(name) | IsMissing(name) | StartsWith(Name(name)):
                yield name
            case And(left, right) | Or(left, right):
                waiting += [left, right]
            case Not(inner):
                waiting.append(inner)
            case _:
                pass
