"""What a release says of its guarantee and of its bounds: words of public facts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sfumato.account import Epsilon, Loss, epsilon_at
from sfumato.account.loss import decimal_text
from sfumato.declare.merged import OneInEach
from sfumato.plan import Plan
from sfumato.release import Claim, Person, Receipt

__all__ = ["clipped_words", "told"]


def told(
    plan: Plan, cost: Loss, receipt: Receipt, *, delta: str, private: bool
) -> Claim:
    """Return the claim of a release.

    Args:
        plan: What was measured last.
        cost: All that was paid, with the search for clipping bounds.
        receipt: The debit that paid.
        delta: The δ at which a loss ρ is told as an ε; an ε has the δ that it paid.
        private: Whether the noise came from a secure source.
    """
    unit = plan.schema.unit
    at = format(Decimal(delta), "f")
    if isinstance(cost, Epsilon):
        at = decimal_text(cost.delta_units, 18)
    implied = epsilon_at(cost, at)
    return Claim(
        measure=plan.measure,
        loss=str(cost),
        epsilon=None if implied is None else str(implied),
        delta=at,
        unit=unit.name,
        neighbours=unit.neighbours,
        size=unit.size,
        receipt=receipt,
        private=private,
        bounds=Person.of(unit),
        tables=unit.tables if isinstance(unit, OneInEach) else 1,
    )


def clipped_words(bounds: Mapping[str, tuple[float, float]]) -> str:
    """Return which bounds were found, for the question in words.

    Examples:
        >>> clipped_words({"age": (0.0, 90.0)})
        '; age clipped to [0, 90]'
    """
    parts = (f"{c} clipped to [{a:g}, {b:g}]" for c, (a, b) in bounds.items())
    return f"; {', '.join(parts)}"
