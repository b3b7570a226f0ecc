"""Mechanisms for numbers and vectors that the caller already holds.

These are the low-level doors: the caller vouches for the sensitivity, keeps the budget,
and must give each private value only once. For tables use `sfumato.Session`, which
derives sensitivities and keeps a ledger.
"""

from sfumato.arrays.additive import gaussian, geometric, laplace
from sfumato.arrays.selection import above_threshold, choose

__all__ = ["above_threshold", "choose", "gaussian", "geometric", "laplace"]
