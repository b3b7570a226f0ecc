"""A parsed SELECT → a `Query`: outputs, source, filter and keys.

A value that is computed becomes a derived column of its own, whose name is how it is
written, or, for a key, its alias.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, final

from sfumato.declare import query as ask
from sfumato.declare.query import Query, Statistic
from sfumato.declare.schema import Column, Real
from sfumato.declare.sqlfrom import From, Tables
from sfumato.declare.sqlnamed import read_named
from sfumato.declare.sqlpeople import TWICE
from sfumato.declare.sqlseveral import read_several
from sfumato.declare.sqlshown import ShownReader
from sfumato.declare.sqltree import (
    SHAPE,
    Tree,
    kind_of,
    refuse,
    spelt,
    word_of,
)
from sfumato.declare.sqlvalue import Values
from sfumato.declare.value import Clip, Name, Value
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Reader"]

_STATISTICS = N_(
    "ask for COUNT(*), COUNT(x), SUM(x), AVG(x), VAR_POP(x), STDDEV_POP(x), MEDIAN(x), "
    "QUANTILE(x, 0.9), PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x), SUM(x) / SUM(y), "
    "COVAR_POP(x, y), CORR(x, y) or MODE(x)"
)
_SIMPLE: Final[dict[str, tuple[str, Callable[..., Statistic]]]] = {
    "Count": ("COUNT", ask.count), "Sum": ("SUM", ask.sum), "Avg": ("AVG", ask.mean),
    "VariancePop": ("VAR_POP", ask.variance), "StddevPop": ("STDDEV_POP", ask.std),
    "Median": ("MEDIAN", ask.median),
}  # fmt: skip
_DISTINCT = N_(
    "distinct people are counted, COUNT(DISTINCT patient_id), where Unit declares that "
    "column; what else is distinct follows from a histogram, or GROUP BY"
)
_KEYS = N_("after GROUP BY name columns with declared keys, or values with public ones")


@final
class Reader:
    """Reads the statement; each node is recognised by the exact name of its class."""

    def __init__(self, table: str, tables: Tables | None = None) -> None:
        """Begin with no word used; `table` is the name of the dataset's own table."""
        self._tree = Tree(table)
        self._from = From(self._tree, tables)
        self._values = Values(self._tree)
        self._derived: dict[str, tuple[Value, Column | None]] = {}

    @property
    def used(self) -> Counter[str]:
        """The words and signs that the nodes seen so far are written with."""
        return self._tree.used

    def query(self, tree: Any) -> Query:
        """Read the statement."""
        if kind_of(tree) != "Select":
            refuse(word_of(tree), SHAPE, table=self._tree.table)
        outputs, source, joins, where, group, *last = self._tree.open(
            tree, "expressions", "from", "joins", "where", "group", "having", "order",
            "limit", hint=SHAPE,
        )  # fmt: skip
        if not outputs:
            refuse("SELECT", _STATISTICS)
        self._tree.use("SELECT", *"," * (len(outputs) - 1))
        base = self._from.read(source, joins)
        found = [self._output(output) for output in outputs]
        keys = self._keys(group, {n: o for o, n in found if isinstance(o, Value) and n})
        statistics = [
            one for o, name in found if (one := self._asked(o, name, keys)) is not None
        ]
        query = Query(base=base)
        for name, (value, column) in self._derived.items():
            query = query.derive(name, value, column)
        query = query.group_by(*keys).select(*statistics)
        query = ShownReader(self._tree, found, self._output).apply(query, *last)
        if where is None:
            return query
        (condition,) = self._tree.open(where, "this", hint=SHAPE)
        self._tree.use("WHERE")
        return query.where(self._values.condition(condition))

    def _keys(self, group: Any, aliased: dict[str, Value]) -> list[str]:
        """Read GROUP BY: columns, values, and names that outputs give to values."""
        if group is None:
            return []
        (columns,) = self._tree.open(group, "expressions", hint=_KEYS)
        if not columns:
            refuse("GROUP BY", _KEYS)
        self._tree.use("GROUP BY", *"," * (len(columns) - 1))
        keys = []
        for node in columns:
            if kind_of(node) in ("Literal", "Boolean", "Null"):
                refuse(word_of(node), _KEYS)
            value = self._values.value(node)
            if isinstance(value, Name) and value.column in aliased:
                keys.append(self._derive(aliased[value.column], value.column))
            else:
                keys.append(self._column(value))
        return keys

    def _output(self, node: Any) -> tuple[Statistic | Value, str | None]:
        """Read an output and the name that it is given."""
        name = None
        if kind_of(node) == "Alias":
            node, alias = self._tree.open(node, "this", "alias", hint=_STATISTICS)
            name = self._tree.name(alias, _STATISTICS)
        for read in (read_named, read_several):
            found = read(node, name, self._tree, self._measured)
            if found is not None:
                return found, name
        if kind_of(node) in (*_SIMPLE, "Quantile", "WithinGroup"):
            return self._statistic(node, name), name
        if kind_of(node) in ("Literal", "Boolean", "Null", "Star"):
            refuse(word_of(node), _STATISTICS)
        return self._values.value(node), name

    def _asked(
        self, output: Statistic | Value, name: str | None, keys: list[str]
    ) -> Statistic | None:
        """Return a statistic; a key that groups may be listed and adds nothing."""
        if not isinstance(output, Value):
            return output
        plain = isinstance(output, Name)
        known = str(output) if plain or name is None else name
        derived = self._derived.get(known, (None,))[0]
        if known in keys and (name is None if plain else derived == output):
            return None
        hint = N_(
            "single cells are never shown: ask for COUNT, SUM or AVG, or add GROUP BY "
            "{spelt}"
        )
        if not plain and name is None:
            hint = N_(
                "single cells are never shown: ask for COUNT, SUM or AVG, or give the "
                "value a name with AS and add it to GROUP BY"
            )
        raise DeclarationError(
            N_("the SQL selects the cells of column {name}"),
            hint=hint,
            name=quoted(known),
            spelt=spelt(known),
        )

    def _statistic(self, node: Any, name: str | None) -> Statistic:
        kind, tree = kind_of(node), self._tree
        if kind in ("Quantile", "WithinGroup"):
            return self._quantile(node, name)
        word, make = _SIMPLE[kind]
        # big_int only says how wide some databases count.
        inner, _ = tree.open(node, "this", "big_int", hint=_STATISTICS)
        tree.use(repr(word), "(", ")")
        if kind == "Count" and kind_of(inner) == "Star":
            tree.open(inner, hint=_STATISTICS)
            tree.use("*")
            return ask.count(name=name)
        if kind == "Count" and kind_of(inner) == "Distinct":
            return self._people(inner, name)
        return make(self._measured(inner), name=name)

    def _people(self, node: Any, name: str | None) -> Statistic:
        """Read COUNT(DISTINCT person): the number of people."""
        tree = self._tree
        (columns,) = tree.open(node, "expressions", hint=_DISTINCT)
        tree.use("'DISTINCT'")
        if len(columns) != 1 or kind_of(columns[0]) != "Column":
            refuse("DISTINCT", _DISTINCT)
        if not tree.scope.is_person(*tree.cell(columns[0], _DISTINCT)):
            refuse("DISTINCT", _DISTINCT)
        return ask.people(name=name)

    def _quantile(self, node: Any, name: str | None) -> Statistic:
        """Read QUANTILE(x, p), or PERCENTILE_DISC(p) WITHIN GROUP (ORDER BY x)."""
        tree = self._tree
        if kind_of(node) == "Quantile":
            inner, level = tree.open(node, "this", "quantile", hint=_STATISTICS)
            tree.use("'QUANTILE'", "(", ",", ")")
        else:
            disc, order = tree.open(node, "this", "expression", hint=_STATISTICS)
            if kind_of(disc) != "PercentileDisc":
                refuse(word_of(disc), _STATISTICS)
            (level,) = tree.open(disc, "this", hint=_STATISTICS)
            (columns,) = tree.open(order, "expressions", hint=_STATISTICS)
            if kind_of(order) != "Order" or len(columns) != 1:
                refuse("ORDER BY", _STATISTICS)
            # nulls_first is what some databases do with what is missing: nothing here.
            inner, _ = tree.open(columns[0], "this", "nulls_first", hint=_STATISTICS)
            tree.use("'PERCENTILE_DISC'", "(", ")", "'WITHIN'", "'GROUP'", "(", ")", "ORDER BY")  # fmt: skip
        share = tree.constant(level)
        return ask.quantile(self._measured(inner), share, name=name)

    def _measured(self, node: Any) -> str:
        """Return the column that a statistic is about."""
        if kind_of(node) in ("NoneType", "Star", "Distinct", "Literal", "Boolean", "Null", "Order"):  # fmt: skip
            refuse(word_of(node), _STATISTICS)
        return self._column(self._values.value(node))

    def _column(self, value: Value) -> str:
        """Return the column that holds a value, derived if need be."""
        return value.column if isinstance(value, Name) else self._derive(value, str(value))  # fmt: skip

    def _derive(self, value: Value, name: str) -> str:
        """Derive a column; CLIP around the whole value says its public bounds."""
        bounds = None
        if isinstance(value, Clip) and value.lower < value.upper:
            bounds = Real(value.lower, value.upper)
        known, _ = self._derived.setdefault(name, (value, bounds))
        if known != value:  # a column's own name can be written as the other value is
            refuse(quoted(name), TWICE)
        return name
