"""One row per person in SQL: the one sub-query that is read, besides UNION ALL.

It is what SQL calls it, grouping by the person, and by nothing else::

    (SELECT patient_id, MAX(HbA1c) AS worst, MIN_BY(ward, day) AS home,
            CLIP(COUNT(*), 0, 20) AS visits
     FROM labs WHERE HbA1c > 0 GROUP BY patient_id) AS people

and it becomes the node `PerPerson`, whose theorem is in ``docs/joins.md``. The text is
never run; each argument of each node is used, or refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, final

from sfumato.declare import feature
from sfumato.declare.feature import Feature, read_features
from sfumato.declare.query import Query
from sfumato.declare.relation import Base, PerPerson
from sfumato.declare.schema import Real
from sfumato.declare.sqltree import Scope, Tree, kind_of, refuse, word_of
from sfumato.declare.sqlvalue import Values
from sfumato.declare.value import Clip, Name
from sfumato.errors import quoted
from sfumato.words import N_

__all__ = ["PEOPLE", "TWICE", "People"]

PEOPLE = N_(
    "write (SELECT patient_id, MAX(x) AS worst FROM labs WHERE … GROUP BY patient_id) AS "
    "people, or (SELECT * FROM a UNION ALL SELECT * FROM b) AS both_years"
)
_FIGURES = N_(
    "figures about a person are MAX(x), MIN(x), CLIP(SUM(x), 0, 5000), CLIP(COUNT(*), 0, "
    "20), MIN_BY(x, day) or MAX_BY(x, day), each with a name: MAX(x) AS worst"
)
_BOUNDED = N_(
    "say how far it can reach, which is public: CLIP(COUNT(*), 0, 20), CLIP(SUM(x), 0, 5000)"
)
TWICE = N_("two values are written alike: ask for them in questions of their own")
_OWN = N_("one row per person: GROUP BY the column that says whose a row is, alone")
_WORDS: Final = {
    "Max": "MAX", "Min": "MIN", "Sum": "SUM", "Count": "COUNT",
    "ArgMin": "MIN_BY", "ArgMax": "MAX_BY",
}  # fmt: skip
_FIRST: Final = {"ArgMin": feature.first, "ArgMax": feature.last}

_Rows: TypeAlias = "Callable[[Any, Any], Base | None]"


@final
class People:
    """Reads one such sub-query."""

    def __init__(self, tree: Tree, rows: _Rows) -> None:
        """Count words in `tree`; `rows` reads FROM and JOIN."""
        self._tree, self._rows = tree, rows
        self._values = Values(tree)
        self._query = Query()

    def read(self, node: Any) -> tuple[Base, list[str], str]:
        """Return the rows, the names of their figures, and the person's column.

        Raises:
            DeclarationError: It holds anything else.
        """
        tree, outer = self._tree, self._tree.scope
        outputs, source, joins, where, group = tree.open(
            node, "expressions", "from", "joins", "where", "group", hint=PEOPLE
        )
        if group is None:
            refuse("(SELECT", PEOPLE)
        tree.use("SELECT", *"," * (len(outputs or []) - 1))
        tree.scope = Scope({}, {})
        self._query = Query(base=self._rows(source, joins))
        person = self._person(group)
        figures = [one for o in outputs or [] if (one := self._output(o)) is not None]
        if where is not None:
            (condition,) = tree.open(where, "this", hint=PEOPLE)
            tree.use("WHERE")
            self._query = self._query.where(self._values.condition(condition))
        tree.scope = outer
        if len({name for name, _ in figures}) < len(figures):
            refuse("AS", _FIGURES)
        features = read_features(dict(figures))
        return PerPerson(self._query.rows, features), [n for n, _ in features], person

    def _person(self, group: Any) -> str:
        tree = self._tree
        (columns,) = tree.open(group, "expressions", hint=_OWN)
        if len(columns or []) != 1 or not self._is_person(columns[0]):
            refuse("GROUP BY", _OWN)
        tree.use("GROUP BY")
        return tree.cell(columns[0], _OWN)[1]

    def _is_person(self, node: Any) -> bool:
        """Tell whether a column is the one that says whose a row is; counts no word."""
        if kind_of(node) != "Column":
            return False
        table = str(node.args["table"].name) if node.args.get("table") else None
        return self._tree.scope.is_person(table, str(node.name))

    def _output(self, node: Any) -> tuple[str, Feature] | None:
        """Read a figure and its name; the person may be listed and adds nothing."""
        tree = self._tree
        if self._is_person(node):
            tree.cell(node, _FIGURES)
            return None
        if kind_of(node) != "Alias":
            refuse(word_of(node), _FIGURES)
        inner, alias = tree.open(node, "this", "alias", hint=_FIGURES)
        return tree.name(alias, _FIGURES), self._figure(inner)

    def _figure(self, node: Any) -> Feature:
        tree, (node, bounds) = self._tree, self._bounded(node)
        declared = None if bounds is None else Real(*bounds)
        match kind_of(node):
            case "Max" | "Min" as kind:
                make = feature.max if kind == "Max" else feature.min
                return make(self._of(node), declared)
            case "ArgMin" | "ArgMax" as kind:
                inner, order = tree.open(node, "this", "expression", hint=_FIGURES)
                tree.use(repr(_WORDS[kind]), "(", ",", ")")
                column, by = self._column(inner), self._column(order)
                return _FIRST[kind](column, by=by, declared=declared)
            case "Sum" if declared is not None:
                return feature.sum(self._of(node), declared)
            case "Count" if bounds is not None and bounds[0] == 0:
                return self._count(node, bounds[1])
            case "Sum" | "Count" as kind:
                return refuse(kind.upper(), _BOUNDED)
            case _:
                return refuse(word_of(node), _FIGURES)

    def _bounded(self, node: Any) -> tuple[Any, tuple[float, float] | None]:
        """Return what stands in ``CLIP(…, low, high)``, and the bounds if there are any."""
        if kind_of(node) != "Anonymous":
            return node, None
        name, arguments = self._tree.open(node, "this", "expressions", hint=_FIGURES)
        if str(name).upper() != "CLIP" or len(arguments or []) != 3:  # noqa: PLR2004  value, low, high
            refuse(word_of(node), _FIGURES)
        self._tree.use("'CLIP'", "(", ",", ",", ")")
        inner, *ends = arguments
        low, high = (self._tree.constant(end) for end in ends)
        if isinstance(low, str | bool) or isinstance(high, str | bool):
            refuse("CLIP", _BOUNDED)
        return inner, (low, high)

    def _count(self, node: Any, most: float) -> Feature:
        if not isinstance(most, int):
            refuse("COUNT", _BOUNDED)
        # big_int only says how wide some databases count.
        inner, _ = self._tree.open(node, "this", "big_int", hint=_FIGURES)
        self._tree.use("'COUNT'", "(", ")")
        if kind_of(inner) != "Star":
            return feature.count(self._column(inner), most=most)
        self._tree.open(inner, hint=_FIGURES)
        self._tree.use("*")
        return feature.count(most=most)

    def _of(self, node: Any) -> str:
        """Return the column that a figure of one column is about."""
        (inner,) = self._tree.open(node, "this", hint=_FIGURES)
        self._tree.use(repr(_WORDS[kind_of(node)]), "(", ")")
        return self._column(inner)

    def _column(self, node: Any) -> str:
        """Return the column that holds a value, derived if need be."""
        if kind_of(node) in ("NoneType", "Star", "Distinct", "Literal", "Boolean", "Null", "Order"):  # fmt: skip
            refuse(word_of(node), _FIGURES)
        value = self._values.value(node)
        if isinstance(value, Name):
            return value.column
        name, bounds = str(value), None
        if isinstance(value, Clip) and value.lower < value.upper:
            bounds = Real(value.lower, value.upper)
        known = {one.name: one.value for one in self._query.derived}
        if known.get(name, value) != value:
            refuse(quoted(name), TWICE)
        if name not in known:
            self._query = self._query.derive(name, value, bounds)
        return name
