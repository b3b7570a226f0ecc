"""Noisy figures → figures that agree with each other: post-processing, free of cost."""

from sfumato.consistency.adjust import Adjusted, consistency_adjustment, consistent
from sfumato.consistency.constraint import Between, Constraint, Monotone, Parts, Total

__all__ = [
    "Adjusted",
    "Between",
    "Constraint",
    "Monotone",
    "Parts",
    "Total",
    "consistency_adjustment",
    "consistent",
]
