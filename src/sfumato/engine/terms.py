"""Cells as SQL expressions: the rule of `cell`, in the primitives of a dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import assert_never, final

from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    token,
)
from sfumato.declare.schema import Text as Unlisted
from sfumato.declare.unit import Unit
from sfumato.engine.cell import UNREAD
from sfumato.engine.columns import cell_reader
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import (
    Floating,
    Layout,
    Nothing,
    Physical,
    Places,
    Scaled,
    Text,
    Truth,
    Whole,
)

__all__ = ["Terms"]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_LONGEST = 40  # digits of an integer that some column type can hold


@final
class Terms:
    """Renders the cells of the declared columns of one loaded table."""

    def __init__(self, schema: Schema, layout: Layout, dialect: Dialect) -> None:
        """Keep the declarations, the storage of each column, and the primitives.

        Declared columns beyond the layout are derived: `derive` says where they are.
        """
        self.schema, self.dialect = schema, dialect
        self._listed: Mapping[str, tuple[str, ...]] = {}
        self._readers: dict[str, Callable[[object], float]] = {}
        names = list(schema)
        if isinstance(schema.unit, Unit):  # its column is the last of those stored
            names.insert(len(layout) - 1, schema.unit.column)
        self._slots = {
            name: (f"c{i}", physical)
            for i, (name, physical) in enumerate(zip(names, layout, strict=False))
        }

    def listing(self, listed: Mapping[str, tuple[str, ...]]) -> Terms:
        """Return the same terms with the tokens of listed keys for some text columns."""
        found = copy(self)
        found._listed = listed  # noqa: SLF001  a copy of this class
        return found

    def derive(self, name: str, cell: str, physical: Physical) -> None:
        """Say where the cells of a derived column are, and as what."""
        self._slots[name] = (cell, physical)

    def stored(self, name: str) -> tuple[str, Physical]:
        """Return where the cells of a column are, derived or not, and as what."""
        return self._slots[name]

    def number(self, name: str) -> str:
        """Return the cell as a double that is never NaN; null when it is missing."""
        x, missing = self._double(name)
        return f"CASE WHEN {' OR '.join(missing)} THEN NULL ELSE {x} END"

    def has_value(self, name: str) -> str:
        """Return something that is null exactly when the cell is missing."""
        if isinstance(self.schema[name], Real | Integer):
            return self.number(name)
        return f"CASE WHEN {self.has_key(name)} THEN 1 END"

    def clamped(self, name: str) -> str:
        """Return the cell of a number column as a double between its bounds, or null."""
        column, (x, missing) = self.schema[name], self._double(name)
        assert isinstance(column, Real | Integer)  # noqa: S101  the plan checked it
        low, high = map(self.dialect.constant, (column.lower, column.upper))
        *codes, nan = missing
        # NaN is tested late, because few cells come so far. Databases differ in how they
        # order NaN, but none holds it to be both at least `low` and at most `high`.
        arms = [f"WHEN {code} THEN NULL" for code in codes]
        arms += [f"WHEN {x} >= {low} AND {x} <= {high} THEN {x}"]
        arms += [f"WHEN {nan} THEN NULL"]
        arms += [f"WHEN {x} < {low} THEN {low}", f"WHEN {x} > {high} THEN {high}"]
        return f"CASE {' '.join(arms)} END"

    def _double(self, name: str) -> tuple[str, list[str]]:
        """Return the cell as a double, and the tests that make it missing, NaN last."""
        declared, (cell, physical) = self.schema[name], self._slots[name]
        match physical:
            case Floating(double=True):
                x = cell
            case Floating() | Whole() | Scaled():
                x = self.dialect.to_double.format(x=cell)
            case Truth():
                x = self.dialect.truth_to_double.format(x=cell)
            case Nothing():
                x = self.dialect.null_double
            case Text() | Places():
                msg = "a loader left a number column unread"
                raise TypeError(msg)
            case _:
                assert_never(physical)
        codes = declared.missing if isinstance(declared, Real | Integer) else ()
        listed = ", ".join(map(self.dialect.constant, codes))
        tests = [f"{x} IN ({listed})"] if codes else []
        return x, [*tests, self.dialect.is_nan.format(x=x)]

    def steps(self, name: str, f: str) -> str:
        """Return the grid number of a clamped double `f`; of a Boolean the double.

        A declaration keeps grid numbers within ±2^62, so that 64 bits hold them.
        """
        column, dialect = self.schema[name], self.dialect
        if isinstance(column, Real | Integer):
            step, half = dialect.constant(column.step), dialect.constant(0.5)
            # Below it |x / step| < 2^-60, and adding 1/2 gives 1/2. Should it be zero,
            # the step is so small that no double underflows when divided by it.
            tiny = dialect.constant(column.step * 2.0**-60)
            y = dialect.quotient.format(x=f, step=step, tiny=tiny)
            f = dialect.floor.format(x=f"{y} + {half}")
        return dialect.to_int64.format(x=f)

    def truth(self, name: str) -> str:
        """Return true, false or, for a missing cell of a Boolean column, null."""
        false, true = self._keys(name)
        arms = [(true, "TRUE"), (false, "FALSE")]
        whens = " ".join(
            f"WHEN {_among(self._cell(name), constants)} THEN {word}"
            for constants, word in arms
        )
        return f"CASE {whens} END"

    def key(self, name: str) -> str:
        """Return the raw cell of a key column, whose spellings `place` maps to keys."""
        boolean = isinstance(self.schema[name], Boolean)
        return self.truth(name) if boolean else self._cell(name)

    def coded(self, name: str) -> str:
        """Return the place of a cell among the declared keys, or null."""
        cell, physical = self._slots[name]
        if isinstance(physical, Places):
            return f"CASE WHEN {cell} >= 0 THEN {cell} END"
        arms = " ".join(
            f"WHEN {self.is_any(name, [i])} THEN {self.dialect.integer(i)}"
            for i, _ in enumerate(self._keys(name))
        )
        return f"CASE {arms} END"

    def code(self, name: str) -> tuple[str, tuple[object, ...]] | None:
        """Return the place of a cell among the keys by one look-up, or null.

        Beside it stands a raw cell of each key, for `place`. None where the dialect has no
        look-up of texts, or a key is no plain text.
        """
        cell, physical = self._slots[name]
        if isinstance(physical, Places):
            place = self.dialect.to_int64.format(x=cell)
            sql = f"CASE WHEN {cell} >= 0 THEN {place} END"
            return sql, tuple(range(self.keys(name)))
        column = self.schema[name]
        if not isinstance(physical, Text) or isinstance(column, Boolean):
            return None
        texts = self._listed.get(name) or _tokens(column)
        constants = [c for several in self._keys(name) for c in several]
        plain = len(constants) == len(texts) and not any("\0" in t for t in texts)
        if not plain or not self.dialect.coded:
            return None
        return self.dialect.coded.format(
            x=self._cell(name), keys=", ".join(constants)
        ), texts

    def identity(self) -> str:
        """Return something equal for rows of one person only, null for nobody's."""
        unit = self.schema.unit
        assert isinstance(unit, Unit)  # noqa: S101  the statement's maker knows it
        cell, physical = self._slots[unit.column]
        tests: list[str] = []
        match physical:
            case Text(canonical=True):
                return cell
            case Text():
                x = self._whole_text(cell)
                nobody = [self.dialect.string(t) for t in ("", *unit.missing)]
                tests = [f"{cell} LIKE {self.dialect.string(f'%{UNREAD}%')}"]
            case Floating(digits):
                d = self.dialect.to_double.format(x=cell)
                low, high = map(self.dialect.constant, (-(2.0**digits), 2.0**digits))
                whole = f"{d} > {low} AND {d} < {high} AND {d} = {self.dialect.floor.format(x=d)}"
                nan = self.dialect.is_nan.format(x=d)
                integer = self.dialect.to_int64.format(x=d)
                x = f"CASE WHEN {nan} THEN NULL WHEN {whole} THEN {integer} END"
                nobody = [self._constant(t, Whole()) for t in unit.missing]
            case Nothing():
                return self.dialect.null_text
            case Whole() | Truth():
                x, nobody = cell, [self._constant(t, physical) for t in unit.missing]
            case Scaled() | Places():
                msg = "a loader left identifiers unread"
                raise TypeError(msg)
            case _:
                assert_never(physical)
        listed = ", ".join(code for code in nobody if code is not None)
        tests += [f"{x} IN ({listed})"] if listed else []
        return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {x} END" if tests else x

    def has_key(self, name: str) -> str:
        """Return the test that a cell is one of the keys; it may be null.

        Of a text column without listed keys every text is one.
        """
        if isinstance(self.schema[name], Unlisted) and name not in self._listed:
            return f"{self._cell(name)} IS NOT NULL"
        return self.is_any(name, range(len(self._keys(name))))

    def is_text(self, name: str, values: Iterable[object]) -> str:
        """Return the test that a cell of a text column is one of these; it may be null."""
        texts = [str(token(v)) for v in values]
        constants = [c for t in texts if (c := self.dialect.string(t)) is not None]
        return (
            f"{self._cell(name)} IN ({', '.join(constants)})" if constants else "FALSE"
        )

    def begins(self, name: str, prefix: str) -> str:
        """Return the test that a cell of a text column begins so; it may be null."""
        cell, constant = self._cell(name), self.dialect.string(prefix)
        if constant is None:  # no cell of this database can
            return f"CASE WHEN {cell} IS NOT NULL THEN FALSE END"
        return f"substr({cell}, 1, {len(prefix)}) = {constant}"

    def is_any(self, name: str, places: Iterable[int]) -> str:
        """Return the test that a cell is one of the keys at `places`; it may be null."""
        keys = self._keys(name)
        return _among(self._cell(name), [c for i in places for c in keys[i]])

    def keys(self, name: str) -> int:
        """Return how many keys are declared."""
        return len(self._keys(name))

    def equals_any(self, name: str, cell: str, places: Iterable[int]) -> str:
        """Return the test that something that `key` rendered is a key at `places`."""
        if isinstance(self.schema[name], Boolean):
            return " OR ".join(cell if place else f"NOT {cell}" for place in places)
        keys = self._keys(name)
        return _among(cell, [c for place in places for c in keys[place]])

    def place_of(self, name: str, cell: str) -> str:
        """Return the place, as SQL, of something that `key` rendered; null for none."""
        if isinstance(self._slots[name][1], Places):
            return cell
        whens = [
            f"WHEN {self.equals_any(name, cell, [i])} THEN {i}"
            for i in range(self.keys(name))
        ]
        return f"CASE {' '.join(whens)} END"

    def place(self, name: str, raw: object) -> int | str | None:
        """Return the place among the keys of a cell that `key` rendered.

        A text of a column without listed keys stands for itself.
        """
        column, (_, physical) = self.schema[name], self._slots[name]
        if isinstance(column, Unlisted):
            text, listed = str(raw), self._listed.get(name)
            if raw is None or listed is None:
                return None if raw is None else text
            return listed.index(text) if text in listed else None
        if raw is None or isinstance(column, Boolean):
            return None if raw is None else int(raw is True)
        if isinstance(physical, Places):
            return raw if isinstance(raw, int) and raw >= 0 else None
        if name not in self._readers:
            self._readers[name] = cell_reader(column)
        place = int(self._readers[name](raw))
        return place if place >= 0 else None

    def _cell(self, name: str) -> str:
        """Return a key cell such that one constant stands for one token."""
        cell, physical = self._slots[name]
        column = self.schema[name]
        if isinstance(column, Unlisted):
            return self._text(cell, physical, column)
        if isinstance(physical, Floating):
            x = self.dialect.to_double.format(x=cell)
            return f"CASE WHEN {self.dialect.is_nan.format(x=x)} THEN NULL ELSE {x} END"
        if isinstance(physical, Text) and any(map(_spelled_twice, _tokens(self.schema[name]))):  # fmt: skip
            return self._whole_text(cell)
        return self.dialect.null_text if isinstance(physical, Nothing) else cell

    def _whole_text(self, cell: str) -> str:
        """Return a text, without the zero fraction of a whole number."""
        whole = self.dialect.is_whole_text.format(x=cell)
        part = self.dialect.whole_text.format(x=cell)
        return f"CASE WHEN {whole} THEN {part} ELSE {cell} END"

    def _text(self, cell: str, physical: Physical, column: Unlisted) -> str:
        """Return the key that a cell of a text column is, by the rule of `text_key`."""
        dialect = self.dialect
        arms = ""
        match physical:
            case Text():
                whole = dialect.is_whole_text.format(x=cell)
                part = dialect.whole_text.format(x=cell)
                arms = f" WHEN {whole} THEN {part}"
            case Whole():
                cell = dialect.int_to_text.format(x=cell)
            case Truth():
                yes, no = dialect.string("true"), dialect.string("false")
                cell = f"CASE WHEN {cell} THEN {yes} WHEN NOT {cell} THEN {no} END"
            case Nothing():
                return dialect.null_text
            case Floating() | Scaled() | Places():
                msg = "a loader left a text column unread"
                raise TypeError(msg)
            case _:
                assert_never(physical)
        length = dialect.length.format(x=cell)
        return f"CASE WHEN {length} > {column.longest} THEN NULL{arms} ELSE {cell} END"

    def _keys(self, name: str) -> list[list[str]]:
        """Return, for each declared key, the constants that a cell of it can equal."""
        column, (_, physical) = self.schema[name], self._slots[name]
        match column:
            case Boolean(true, false):
                spellings = [false, true]
            case Category():
                spellings = [(text,) for text in column.tokens]
            case Unlisted():
                keys_ = map(self.dialect.string, self._listed[name])
                return [[] if c is None else [c] for c in keys_]
            case _:
                msg = "a number column has no keys"
                raise TypeError(msg)
        if isinstance(physical, Places):
            return [[str(i)] for i in range(len(spellings))]
        return [
            [c for text in texts if (c := self._constant(text, physical)) is not None]
            for texts in spellings
        ]

    def _constant(self, text: str, physical: Physical) -> str | None:
        """Return the one constant of that storage whose token is `text`, if any."""
        match physical:
            case Text():
                return self.dialect.string(text)
            case Truth():
                return text.upper() if text in ("true", "false") else None
            case Whole(low, high):
                fits = _is_integer(text) and low <= int(text) <= high
                return text if fits else None
            case Floating():
                # A double's token comes from its shortest text, so it is asked back.
                fits = _is_integer(text) and token(float(text)) == text
                return self.dialect.constant(float(text)) if fits else None
            case Scaled() | Places() | Nothing():
                return None
            case _:
                assert_never(physical)


def _among(cell: str, constants: list[str]) -> str:
    """Return the test that a cell is one of the constants; it may be null."""
    if not constants:
        return "FALSE"
    if len(constants) > 1 and all(map(_is_integer, constants)):
        # Keys numbered without gaps are common, and a range is the cheaper test.
        numbers = sorted(map(int, constants))
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            return f"{cell} BETWEEN {numbers[0]} AND {numbers[-1]}"
    return f"{cell} IN ({', '.join(constants)})"


def _tokens(column: Column) -> tuple[str, ...]:
    if isinstance(column, Boolean):
        return column.true + column.false
    return column.tokens if isinstance(column, Category) else ()


def _is_integer(text: str) -> bool:
    return len(text) <= _LONGEST and _INTEGER.fullmatch(text) is not None


def _spelled_twice(text: str) -> bool:
    """Tell whether other texts have this token, as ``7.0`` has the token ``7``."""
    return token(f"{text}.0") == text
