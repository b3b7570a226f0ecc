"""What an answer costs: exact rationals, no sampling, no arrays, no libraries."""

from sfumato.account.joint import Coordinate, KNorm
from sfumato.account.loss import PICO, Epsilon, apportion
from sfumato.account.meaning import Odds, odds
from sfumato.account.mechanism import Geometric, Laplace, Mechanism, read_sensitivity

__all__ = [
    "PICO",
    "Coordinate",
    "Epsilon",
    "Geometric",
    "KNorm",
    "Laplace",
    "Mechanism",
    "Odds",
    "apportion",
    "odds",
    "read_sensitivity",
]
