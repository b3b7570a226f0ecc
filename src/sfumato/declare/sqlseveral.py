"""Statistics of SQL that take more than one column, or choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sfumato.declare.query import Statistic, correlation, covariance, mode, ratio
from sfumato.declare.sqltree import Tree, kind_of, refuse
from sfumato.words import N_

__all__ = ["read_several"]

_PAIRS: Final[dict[str, tuple[str, Callable[..., Statistic]]]] = {
    "CovarPop": ("COVAR_POP", covariance),
    "Corr": ("CORR", correlation),
}
_HINT = N_(
    "write COVAR_POP(x, y), CORR(x, y), SUM(x) / SUM(y), MODE(g) or "
    "MODE() WITHIN GROUP (ORDER BY g)"
)
_END = N_(
    "it is one row's value, which no private answer can tell; ask for a quantile near the "
    "end: QUANTILE(x, 0.01) or QUANTILE(x, 0.99)"
)


def read_several(
    node: Any, name: str | None, tree: Tree, measured: Callable[[Any], str]
) -> Statistic | None:
    """Return the statistic that a node asks for; none where it asks for no such.

    Args:
        node: An output of the statement, without its alias.
        name: The alias, or none.
        tree: Uses or refuses each argument of a node.
        measured: Returns the column that a node stands for, or refuses it.

    Raises:
        DeclarationError: It asks for MIN or MAX, for a sample's covariance, or holds
            anything beyond the grammar.
    """
    kind = kind_of(node)
    match kind:
        case "CovarPop" | "Corr":
            word, make = _PAIRS[kind]
            inner = tree.open(node, "this", "expression", hint=_HINT)
            tree.use(repr(word), "(", ",", ")")
            return make(*map(measured, inner), name=name)
        case "Div" if _is_sum(node, "this") and _is_sum(node, "expression"):
            # typed and safe say how a database divides; here the release does.
            both = tree.open(node, "this", "expression", "typed", "safe", hint=_HINT)[
                :2
            ]
            tree.use("/", *("'SUM'", "(", ")") * 2)
            sums = [tree.open(side, "this", hint=_HINT)[0] for side in both]
            above, below = map(measured, sums)
            return ratio(above, below, name=name)
        case "Mode":
            (inner,) = tree.open(node, "this", hint=_HINT)
            tree.use("'MODE'", "(", ")")
            return mode(measured(inner), name=name)
        case "WithinGroup" if kind_of(node.args.get("this")) == "Mode":
            return mode(_ordered(node, tree, measured), name=name)
        case "Min" | "Max":
            refuse(kind.upper(), _END)
        case "CovarSamp":
            hint = N_("the divisor is the number of rows: write COVAR_POP(x, y)")
            refuse("COVAR SAMP", hint)
        case _:
            pass
    return None


def _is_sum(node: Any, side: str) -> bool:
    return kind_of(node.args.get(side)) == "Sum"


def _ordered(node: Any, tree: Tree, measured: Callable[[Any], str]) -> str:
    """Return the column of ``MODE() WITHIN GROUP (ORDER BY column)``."""
    inner, order = tree.open(node, "this", "expression", hint=_HINT)
    tree.open(inner, hint=_HINT)
    (columns,) = tree.open(order, "expressions", hint=_HINT)
    if kind_of(order) != "Order" or len(columns) != 1:
        refuse("ORDER BY", _HINT)
    # nulls_first is what some databases do with what is missing: nothing here.
    column, _ = tree.open(columns[0], "this", "nulls_first", hint=_HINT)
    tree.use("'MODE'", "(", ")", "'WITHIN'", "'GROUP'", "(", ")", "ORDER BY")
    return measured(column)
