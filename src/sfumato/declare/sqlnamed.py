"""Statistics that SQL has no word for: functions by the names of the builder's.

``HISTOGRAM``, ``CROSSTAB`` and ``MODE`` of keys, or of ``BINS(x, 0, 70, 100)``, whose
numbers are public edges; matrices; what the bounds of people cut; and the share of a key,
``AVG(g = 'F')``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from sfumato.declare import query as ask
from sfumato.declare.pair import crosstab
from sfumato.declare.people import people_cut, rows_cut
from sfumato.declare.query import Statistic
from sfumato.declare.sqltree import Tree, kind_of, refuse
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["read_named"]

_HINT = N_(
    "write HISTOGRAM(g), HISTOGRAM(BINS(x, 0, 70, 100)), CROSSTAB(g, BINS(x, 0, 70)), "
    "MODE(BINS(x, 0, 70)), COVAR_MATRIX(x, y, z), CORR_MATRIX(x, y, z), PEOPLE_CUT() or "
    "ROWS_CUT()"
)
_SHARE = N_(
    "write AVG(g = 'F'): the share of one key of a column among rows with a key"
)
_CUT: Final[dict[str, Callable[..., Statistic]]] = {
    "PEOPLE_CUT": people_cut,
    "ROWS_CUT": rows_cut,
}
_MATRICES: Final[dict[str, Callable[..., Statistic]]] = {
    "COVAR_MATRIX": ask.covariance,
    "CORR_MATRIX": ask.correlation,
}
_COUNTS: Final = {
    **dict.fromkeys(_CUT, range(1)),
    **dict.fromkeys(_MATRICES, range(3, 1000)),  # of two columns there is COVAR_POP
    "HISTOGRAM": range(1, 2),
    "CROSSTAB": range(2, 3),
}
"""How many arguments each takes."""
_Axis: TypeAlias = "tuple[str, tuple[int | float, ...] | None]"


def read_named(  # noqa: PLR0911  one for each
    node: Any, name: str | None, tree: Tree, measured: Callable[[Any], str]
) -> Statistic | None:
    """Return the statistic that a node asks for; none where it asks for no such.

    Args:
        node: An output of the statement, without its alias.
        name: The alias, or none.
        tree: Uses or refuses each argument of a node.
        measured: Returns the column that a node stands for, or refuses it.

    Raises:
        DeclarationError: It holds anything beyond the grammar.
    """
    if kind_of(node) == "Avg" and kind_of(node.args.get("this")) == "EQ":
        return _share(node, name, tree)
    if kind_of(node) == "Mode" and _is_called(node.args.get("this"), "BINS"):
        (inner,) = tree.open(node, "this", hint=_HINT)
        tree.use("'MODE'", "(", ")")
        column, edges = _binned(inner, tree, measured)
        return ask.mode(column, edges, name=name)
    if kind_of(node) != "Anonymous":
        return None
    word = str(node.args.get("this")).upper()
    if word not in _COUNTS:
        return None
    given = _arguments(node, word, tree)
    if len(given) not in _COUNTS[word]:
        refuse(word, _HINT)
    if word in _CUT:
        return _CUT[word](name=name)
    if word in _MATRICES:
        return _MATRICES[word](*map(measured, given), name=name)
    return _counted([_binned(one, tree, measured) for one in given], name)


def _counted(axes: list[_Axis], name: str | None) -> Statistic:
    """Return the histogram of one axis, or the table of two."""
    (column, edges), *more = axes
    if not more:
        return ask.histogram(column, edges, name=name)
    ((other, other_edges),) = more
    return crosstab(column, other, edges=edges, other_edges=other_edges, name=name)


def _is_called(node: Any, word: str) -> bool:
    return kind_of(node) == "Anonymous" and str(node.args.get("this")).upper() == word


def _arguments(node: Any, word: str, tree: Tree) -> list[Any]:
    """Return the arguments of a function that the parser does not know."""
    _, given = tree.open(node, "this", "expressions", hint=_HINT)
    given = given or []
    tree.use(repr(word), "(", *"," * (len(given) - 1), ")")
    return list(given)


def _binned(node: Any, tree: Tree, measured: Callable[[Any], str]) -> _Axis:
    """Return a column, and its edges where they are given."""
    if not _is_called(node, "BINS"):
        return measured(node), None
    inner, *ends = _arguments(node, "BINS", tree) or [None]
    edges = [tree.constant(end) for end in ends]
    numbers = tuple(e for e in edges if not isinstance(e, str | bool))
    if len(numbers) < len(edges) or not edges:
        refuse("BINS", _HINT)
    return measured(inner), numbers


def _share(node: Any, name: str | None, tree: Tree) -> Statistic:
    """Read the share of a key: the mean of "it is that key"."""
    inner, _ = tree.open(node, "this", "big_int", hint=_SHARE)
    left, right = tree.open(inner, "this", "expression", hint=_SHARE)
    tree.use("'AVG'", "(", "=", ")")
    if kind_of(left) != "Column":
        left, right = right, left
    column, key = tree.column(left, _SHARE), tree.constant(right)
    if isinstance(key, float):
        raise DeclarationError(
            N_("a key is a text, a whole number or a truth value, got {value}"),
            hint=_SHARE,
            value=repr(key),
        )
    return ask.proportion(column, key, name=name)
