"""Mechanisms for numbers and vectors that the caller already holds.

These are the low-level doors: the caller vouches for the sensitivity, keeps the budget,
and must give each private value only once. For tables use `sfumato.Session`, which
derives sensitivities and keeps a ledger.

Only numbers get noise. Type, shape, index and name come back as they were given, so they
must not follow from private rows: ``value_counts()`` has the private keys as its index, and
``statistics.mean`` returns an int where the mean is whole, a float elsewhere.
"""

from sfumato.arrays.additive import gaussian, geometric, laplace
from sfumato.arrays.selection import above_threshold, choose

__all__ = ["above_threshold", "choose", "gaussian", "geometric", "laplace"]
