"""What an answer costs: exact rationals, no sampling, no arrays, no libraries."""

from sfumato.account.loss import PICO, Epsilon, apportion
from sfumato.account.meaning import Odds, odds
from sfumato.account.mechanism import Geometric, Laplace, Mechanism, read_sensitivity

__all__ = [
    "PICO",
    "Epsilon",
    "Geometric",
    "Laplace",
    "Mechanism",
    "Odds",
    "apportion",
    "odds",
    "read_sensitivity",
]
