"""Certified bounds of exp and ln in integer arithmetic.

Nothing here depends on floating point or on a mathematics library. Proofs:
``docs/proofs/integer-bounds.md``.
"""

from __future__ import annotations

__all__ = ["exp_bounds", "ln_bounds"]


def exp_bounds(num: int, den: int, precision: int) -> tuple[int, int]:
    """Return integers around ``2**precision * exp(-num/den)``, at most 2 apart.

    Args:
        num: Numerator of the exponent, >= 0.
        den: Denominator of the exponent, > 0.
        precision: Number of fraction bits P, >= 0.

    Returns:
        ``(low, high)`` with ``low <= 2**P * exp(-num/den) <= high <= low + 2``.

    Examples:
        >>> exp_bounds(1, 1, 20), 2**20 * 0.36787944
        ((385749, 385750), 385749.5516...)
    """
    if num == 0:
        return 1 << precision, 1 << precision
    whole = num // den
    if whole > precision + 2:
        return 0, 1
    halvings = 9 + whole.bit_length()
    width = precision + 64 + halvings
    x = (num << (width - halvings)) // den
    total = term = 1 << width
    j = 1
    while term:
        term = (term * x >> width) // j
        total += -term if j & 1 else term
        j += 1
    for _ in range(halvings):
        total = total * total >> width
    error = (width // 4 + 16) << (halvings + 1)
    shift = width - precision
    return max((total - error) >> shift, 0), ((total + error) >> shift) + 1


def ln_bounds(value: int, precision: int) -> tuple[int, int]:
    """Return integers around ``2**precision * ln(value)``, at most 2 apart.

    Args:
        value: Integer >= 1, below ``2**(2**30)``.
        precision: Number of fraction bits P, >= 0.

    Returns:
        ``(low, high)`` with ``low <= 2**P * ln(value) <= high <= low + 2``.

    Examples:
        >>> ln_bounds(10, 20), 2**20 * 2.302585093
        ((2414435, 2414436), 2414435.4664...)
    """
    power = value.bit_length() - 1
    width = precision + 40 + 2 * value.bit_length().bit_length()
    width += precision.bit_length()
    total = power * _twice_atanh(1, 3, width)
    if power:
        top = 1 << power
        total += _twice_atanh(value - top, value + top, width)
    error = (power + 1) * 8 * width
    shift = width - precision
    return max((total - error) >> shift, 0), ((total + error) >> shift) + 1


def _twice_atanh(num: int, den: int, width: int) -> int:
    """Return 2 * atanh(num/den) in fixed point, ``0 <= num/den <= 1/3``."""
    term = (num << width) // den
    square = term * term >> width
    total, j = 0, 1
    while term:
        total += term // j
        term = term * square >> width
        j += 2
    return 2 * total
