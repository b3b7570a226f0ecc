"""Which groups are told, and in which order: from released figures, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, nan
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, Final

from sfumato.declare.logic import And, Compare, Expr, Not, Or, Relation
from sfumato.declare.query import Query
from sfumato.declare.schema import Key
from sfumato.declare.value import Arithmetic, Constant, Name, Value
from sfumato.plan import Group, Plan
from sfumato.plan.shown import single
from sfumato.release import Figure, Release

__all__ = ["of_told", "shown"]

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne,
}  # fmt: skip
_COMPUTE: Final[dict[str, Callable[[float, float], float]]] = {
    "+": add, "-": sub, "*": mul, "/": lambda a, b: a / b if b else nan,
}  # fmt: skip


def shown(query: Query, figures: tuple[Figure, ...]) -> tuple[Figure, ...]:
    """Return the figures of the groups that are told, each statistic's in their order.

    Formal guarantee: it sees estimates only, so it is post-processing.
    """
    wanted = query.shown
    if wanted.having is None and not wanted.order and wanted.most is None:
        return figures
    names = {s.name for s in query.statistics if single(s)}
    told: dict[Group, dict[str, float]] = {}
    for figure in figures:
        held = told.setdefault(_group(query, figure), {})
        if figure.name in names:
            held[figure.name] = figure.estimate
    groups = list(told)
    if wanted.having is not None:
        groups = [g for g in groups if _truth(wanted.having, told[g]) is True]
    for one in reversed(wanted.order):
        ranks = {
            group: _rank(
                held[one.name]
                if one.name in names
                else group[query.keys.index(one.name)]
            )
            for group, held in told.items()
        }
        groups.sort(key=ranks.__getitem__, reverse=one.descending)
    places = {group: i for i, group in enumerate(groups[: wanted.most])}
    found: list[Figure] = []
    for statistic in query.statistics:
        own = [f for f in figures if f.name == statistic.name]
        kept = [f for f in own if _group(query, f) in places]
        found += sorted(kept, key=lambda f: places[_group(query, f)])
    return tuple(found)


def of_told(
    plan: Plan, held: Sequence[Sequence[float]], released: Release
) -> tuple[Plan, list[list[float]]]:
    """Return a plan and its integers in terms for the groups that a release tells."""
    first = plan.query.statistics[0].name
    told = [_group(plan.query, f) for f in released if f.name == first]
    groups = tuple(dict.fromkeys(told))
    if groups == plan.groups:
        return plan, [list(values) for values in held]
    places = [plan.groups.index(group) for group in groups]
    widths = [part.cells // len(plan.groups) for part in plan.parts]
    kept = [
        [v for i in places for v in values[i * width : (i + 1) * width]]
        for values, width in zip(held, widths, strict=True)
    ]
    return plan.regrouped(groups), kept


def _group(query: Query, figure: Figure) -> Group:
    return tuple(figure.group[key] for key in query.keys)


def _rank(value: Key | float) -> tuple[bool, str, Any]:
    """Order numbers by size and texts by code points, whatever stands beside them."""
    if isinstance(value, str):
        return True, value, 0
    return False, "", value


def _truth(condition: Expr, held: dict[str, float]) -> bool | None:
    """Return the three-valued truth; a division by zero compares as missing."""
    match condition:
        case And(left, right):
            both = {_truth(left, held), _truth(right, held)}
            return False if False in both else None if None in both else True
        case Or(left, right):
            both = {_truth(left, held), _truth(right, held)}
            return True if True in both else None if None in both else False
        case Not(inner):
            truth = _truth(inner, held)
            return None if truth is None else not truth
        case Compare(name, operator, value):
            return _compared(held[name], operator, float(value))
        case Relation(left_value, operator, right_value):
            ends = _number(left_value, held), _number(right_value, held)
            return _compared(ends[0], operator, ends[1])
        case _:
            msg = "the plan checked that figures are compared as numbers"
            raise TypeError(msg)


def _compared(one: float, operator: str, other: float) -> bool | None:
    if not (isfinite(one) and isfinite(other)):
        return None
    return _COMPARE[operator](one, other)


def _number(value: Value, held: dict[str, float]) -> float:
    match value:
        case Name(name):
            return held[name]
        case Constant(number):
            return float(number)
        case Arithmetic(sign, left, right):
            return _COMPUTE[sign](_number(left, held), _number(right, held))
        case _:
            msg = "the plan checked that figures are compared as numbers"
            raise TypeError(msg)
