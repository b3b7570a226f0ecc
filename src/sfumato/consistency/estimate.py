"""Which way is taken: trees in closed form, equations, a quadratic programme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.consistency.conflict import conflict
from sfumato.consistency.constraint import Total
from sfumato.consistency.forest import Forest
from sfumato.consistency.rounding import round_forest, round_system
from sfumato.consistency.solve import CLOSE, Equations, minimise, need_solver
from sfumato.consistency.system import Floats, Placed, Rows, System
from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["Estimate", "estimate"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What least squares found.

    Attributes:
        values: The figures that satisfy every constraint.
        middle: The unbiased estimate under the equations alone.
        variances: Of the error of `middle`.
        low: Lower bounds that were stated.
        high: Upper bounds that were stated.
    """

    values: Floats
    middle: Floats
    variances: Floats
    low: Floats
    high: Floats


def estimate(
    values: Floats, variances: Floats, placed: Sequence[Placed], *, integers: bool
) -> Estimate:
    """Return the weighted least squares figures under the constraints.

    Raises:
        ArgumentError: The constraints contradict each other, or no whole numbers fit.
        MissingExtraError: A solver is needed and not installed.
    """
    size = len(values)
    values, variances, placed = _with_totals(values, variances, placed)
    slack = CLOSE * max(1.0, float(np.max(np.abs(values))))
    system = System.of(len(values), placed)
    forest = Forest.of(len(values), [p for p in placed if p.whole >= 0])
    if forest is not None:
        middle, spread = forest.adjust(values, variances)
        agrees = forest.mismatch(middle) <= slack
    else:
        need_solver()
        middle, spread, agrees = _equations(values, variances, system, slack)
    found: Floats | None = middle if agrees else None
    if found is not None and system.is_bounded:
        if system.violation(found) > slack:
            need_solver()
            found = minimise(values, variances, system)
        else:
            found = np.clip(found, system.low, system.high)
    if found is None:
        need_solver()
        raise _contradiction(conflict(placed, values, variances))
    if integers:
        found = _whole(found, forest, system)
    parts = (found, middle, spread, system.low, system.high)
    return Estimate(*(part[:size] for part in parts))


def _with_totals(
    values: Floats, variances: Floats, placed: Sequence[Placed]
) -> tuple[Floats, Floats, list[Placed]]:
    """Give each public total an exact figure of its own, so that it is a sum like others."""
    added: list[float] = []
    found: list[Placed] = []
    for one in placed:
        if isinstance(one.constraint, Total):
            whole = len(values) + len(added)
            added.append(float(one.constraint.equals))
            found.append(Placed(one.constraint, one.members, whole))
        else:
            found.append(one)
    nothing = np.zeros(len(added))
    return np.append(values, added), np.append(variances, nothing), found


def _equations(
    values: Floats, variances: Floats, system: System, slack: float
) -> tuple[Floats, Floats, bool]:
    """Return estimate, variances, and whether the equations can hold."""
    if Equations.fits(len(system.equal.right)):
        solved = Equations(
            system.equal.matrix(system.size), system.equal.right, variances
        )
        middle = solved.adjust(values)
        return middle, solved.variances(), solved.gap(middle) <= slack
    nothing = np.zeros(0, dtype=np.int64)
    none = Rows(nothing, nothing, np.zeros(0), np.zeros(0))
    wide = np.full(system.size, np.inf)
    found = minimise(
        values, variances, System(system.size, system.equal, none, -wide, wide)
    )
    # Equations never widen an error, so the raw variance is an upper bound.
    return (values if found is None else found), variances, found is not None


def _whole(found: Floats, forest: Forest | None, system: System) -> Floats:
    ends = np.concatenate([system.low, system.high])
    ends = ends[np.isfinite(ends)]
    if (
        forest is not None
        and not len(system.most.right)
        and (ends == np.round(ends)).all()
    ):
        rounded = round_forest(found, forest)
        if forest.mismatch(rounded) == 0:
            return rounded
    need_solver()
    return round_system(found, system)


def _contradiction(found: Sequence[Placed]) -> ArgumentError:
    named = dict.fromkeys(str(one.constraint) for one in found)
    return ArgumentError(
        N_("these constraints cannot all hold: {constraints}"),
        hint=N_("drop or mend one of them; any fewer of them can hold together"),
        constraints="; ".join(list(named)[:10]),
    )
