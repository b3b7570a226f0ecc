"""True beside released figures: for the owner's eyes, never for publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.release.record import Figure

__all__ = ["OwnerComparison", "OwnerRow"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class OwnerRow:
    """One released figure with the true value of the clamped data."""

    figure: Figure
    truth: float

    @property
    def error(self) -> float:
        """Released minus true."""
        return self.figure.estimate - self.truth

    @property
    def relative_error(self) -> float | None:
        """Absolute error over the true value's size; none when that is 0."""
        return abs(self.error / self.truth) if self.truth else None

    @property
    def covered(self) -> bool:
        """Whether the released interval holds the true value."""
        return self.figure.low <= self.truth <= self.figure.high


@final
@dataclass(frozen=True, slots=True, repr=False)
class OwnerComparison:
    """A release set against the truth. It is NOT PRIVATE and must not leave the owner."""

    title: str
    question: str
    confidence: float
    rows: tuple[OwnerRow, ...]

    def __repr__(self) -> str:
        """Warn, and show no value."""
        return (
            f"<OwnerComparison of {len(self.rows)} figures: NOT PRIVATE, never publish>"
        )
