"""What a planted fault is, and what a hunt for it brings home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

__all__ = ["Caught", "Fault"]


@final
@dataclass(frozen=True, slots=True)
class Caught:
    """The outcome of a hunt.

    Attributes:
        violated: Whether the audit refuted the broken thing's claim.
        cost: How much it took: draws, pairs of neighbours, questions.
    """

    violated: bool
    cost: str


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """One deliberately broken mechanism or plan.

    Attributes:
        name: Short.
        about: What is wrong, in a sentence.
        by: The part of `sfumato.audit` that catches it.
        hunt: Plants it, audits, takes it out again.
    """

    name: str
    about: str
    by: str
    hunt: Callable[[], Caught]
