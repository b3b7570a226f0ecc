"""How the cells of a declared column are stored, once the table is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

__all__ = [
    "Floating",
    "Layout",
    "Nothing",
    "Physical",
    "Places",
    "Scaled",
    "Text",
    "Truth",
    "Whole",
]


@final
@dataclass(frozen=True, slots=True)
class Floating:
    """Binary floating point, held as doubles.

    Attributes:
        digits: Binary digits of the significand that the cells were written with: below
            ``2**digits`` in size each whole number is a cell of its own, from there on one
            cell stands for several. 53 of a double, 24 of 32 bits, 11 of 16 bits.
        double: Whether the cells are known to be doubles, so that nothing needs a cast.
    """

    digits: int = 53
    double: bool = False


@final
@dataclass(frozen=True, slots=True)
class Whole:
    """Integers of at most 64 bits, between `low` and `high`."""

    low: int = -(1 << 63)
    high: int = (1 << 63) - 1


@final
@dataclass(frozen=True, slots=True)
class Scaled:
    """Decimals of at most 15 digits: casting them to doubles rounds only once."""


@final
@dataclass(frozen=True, slots=True)
class Truth:
    """True, false or null."""


@final
@dataclass(frozen=True, slots=True)
class Text:
    """Unicode text; only keys and identifiers are left in it, numbers are read first.

    Attributes:
        canonical: Whether these are identifiers that were read, so that equal texts are
            equal persons and null is nobody.
    """

    canonical: bool = False


@final
@dataclass(frozen=True, slots=True)
class Places:
    """Places among the declared keys from 0, written by a loader; -1 is missing."""


@final
@dataclass(frozen=True, slots=True)
class Nothing:
    """A column without any value: each cell is missing."""


Physical: TypeAlias = Floating | Whole | Scaled | Truth | Text | Places | Nothing

Layout: TypeAlias = "tuple[Physical, ...]"
"""One entry per column of ``schema.stored``, in that order. The i-th column is called
``ci`` in the loaded table ``data``: no name that a user wrote ever reaches SQL."""
