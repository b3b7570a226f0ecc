"""The utility to expect of a plan: from public facts alone, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Protocol, final

from sfumato.errors import ArgumentError, quoted
from sfumato.plan import Direct, Plan, PublicSize, expected_errors
from sfumato.words import N_

__all__ = ["ExpectedUtility", "expected_utility"]


class _Planned(Protocol):
    """What a session's plan shows of itself."""

    @property
    def plan(self) -> Plan: ...


@final
@dataclass(frozen=True, slots=True)
class ExpectedUtility:
    """What noise alone will do to one figure; it may be shown to anyone.

    Attributes:
        name: Name of the figure (each group and bin of it alike).
        mean_absolute_error: Expected ``|noise|``, in the figure's unit.
        root_mean_squared_error: Of counts, histograms and sums; of other figures none.
        largest_error: With probability `confidence` the error stays below it.
        confidence: Of `largest_error`.
    """

    name: str
    mean_absolute_error: float
    root_mean_squared_error: float | None
    largest_error: float
    confidence: float


def expected_utility(
    plan: Plan | _Planned, *, rows: int = 1000, confidence: float = 0.95
) -> tuple[ExpectedUtility, ...]:
    """Return the expected error of every figure of a plan. Reads no data, costs nothing.

    Args:
        plan: What would be released.
        rows: A public guess of the number of rows; a declared size wins over it.
        confidence: Probability that an error stays below `largest_error`.

    Raises:
        ArgumentError: It is no plan of a question.
    """
    stored = plan if isinstance(plan, Plan) else getattr(plan, "plan", None)
    if not isinstance(stored, Plan):
        raise ArgumentError(
            N_("the errors of a plan are told, got {value}"),
            hint=N_('write expected_utility(question.plan(epsilon="1"))'),
            value=quoted(plan),
        )
    errors = expected_errors(stored, rows=rows, confidence=confidence)
    return tuple(
        ExpectedUtility(
            one.name,
            one.mean_absolute,
            _root_mean_square(stored, place),
            one.error,
            one.confidence,
        )
        for place, one in enumerate(errors)
    )


def _root_mean_square(plan: Plan, place: int) -> float | None:
    recipe = plan.recipes[place]
    if isinstance(recipe, PublicSize):
        return 0.0
    if not isinstance(recipe, Direct):
        return None
    return sqrt(plan.noise_of(recipe.part).variance) * recipe.step_size
