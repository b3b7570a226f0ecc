"""Clipping bounds that are found privately, inside public ones, and paid for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.amount import Amount, exact
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["PrivateBounds", "private_bounds", "private_quantiles", "stated_bounds"]


@final
@dataclass(frozen=True, slots=True)
class PrivateBounds:
    """A wish for clipping bounds that are found from the rows, with noise.

    Attributes:
        lower: Public lower end that every plausible value is above.
        upper: Public upper end.
        q: The upper bound shall be near this quantile.
        share: Part of a question's loss that finding the bounds costs.
        low: The lower bound shall be near this one; 0 for the public end itself.
    """

    lower: Amount
    upper: Amount
    q: Fraction
    share: Fraction
    low: Fraction


def private_bounds(
    q: Amount = "0.99",
    *,
    within: tuple[Amount, Amount] | None = None,
    share: Amount = "0.2",
) -> PrivateBounds:
    """Declare that the clipping bounds of a column are to be found privately.

    A sum, mean or variance of the column then has two steps under one debit: first the
    rows are counted in ranges that double in width, with noise, and the bounds are read
    off those counts; then values are clipped to them, so that the smaller sensitivity
    is real. Bounds that are read from the rows without noise (a quantile of the data)
    are private values, and nothing is clipped by them: the promise would be void.

    Args:
        q: How much to keep: 0.99 clips near the 1 % and 99 % quantiles.
        within: Public ends, however wide: ``(0, 1_000_000)``. Values beyond are clamped.
        share: Part of a question's loss spent on the bounds of all its columns.

    Raises:
        DeclarationError: `within` is missing or no pair; q is not between 0.5 and 1;
            the share is not between 0 and 1.

    Examples:
        >>> private_bounds(0.99, within=(0, 10_000)).q
        Fraction(99, 100)
        >>> private_bounds(0.99)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] private bounds need public ends to search within
          hint: write private_bounds(0.99, within=(0, 10_000)); the ends may be very wide
    """
    level = exact(q)
    if level is None or not Fraction(1, 2) < level < 1:
        raise DeclarationError(
            N_("the quantile of private bounds lies between 0.5 and 1, got {value}"),
            hint=N_("write 0.99 to clip one value in a hundred on each side"),
            value=quoted(q),
        )
    return _wish(1 - level, level, within, share)


def private_quantiles(
    low: Amount,
    high: Amount,
    *,
    within: tuple[Amount, Amount] | None = None,
    share: Amount = "0.2",
) -> PrivateBounds:
    """Declare clipping bounds near two quantiles of one's own choice; see `private_bounds`.

    A column that begins at 0, such as a charge, is best clipped above only: low = 0 keeps
    the public lower end.

    Args:
        low: Quantile of the lower bound, from 0; 0 is the public end.
        high: Quantile of the upper bound, to 1; 1 is the public end.
        within: As `private_bounds`.
        share: As `private_bounds`.

    Raises:
        DeclarationError: The quantiles are not in order between 0 and 1, both are ends, or
            as `private_bounds`.

    Examples:
        >>> private_quantiles(0, "0.99", within=(0, 10_000)).low
        Fraction(0, 1)
        >>> private_quantiles(0.5, 1.2, within=(0, 10_000))
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] the quantiles of private bounds lie in order between 0 and 1, got (0.5, 1.2)
          hint: write private_quantiles(0, 0.99, within=(0, 10_000)) to clip above only
    """
    first, last = exact(low), exact(high)
    if (
        first is None
        or last is None
        or not (0 <= first < last <= 1 and last - first < 1)
    ):
        raise DeclarationError(
            N_(
                "the quantiles of private bounds lie in order between 0 and 1, got {value}"
            ),
            hint=N_(
                "write private_quantiles(0, 0.99, within=(0, 10_000)) to clip above only"
            ),
            value=quoted((low, high)),
        )
    return _wish(first, last, within, share)


def _wish(
    low: Fraction, high: Fraction, within: object, share: object
) -> PrivateBounds:
    part = exact(share)
    if part is None or not 0 < part < 1:
        raise DeclarationError(
            N_("the share of private bounds lies between 0 and 1, got {value}"),
            hint=N_("write 0.2 to spend a fifth of a question's loss on its bounds"),
            value=quoted(share),
        )
    if not isinstance(within, tuple | list) or len(within) != 2:  # noqa: PLR2004
        raise DeclarationError(
            N_("private bounds need public ends to search within"),
            hint=N_(
                "write private_bounds(0.99, within=(0, 10_000)); the ends may be very wide"
            ),
        )
    return PrivateBounds(within[0], within[1], high, part, low)


def stated_bounds(
    lower: object, upper: object, bounds: object
) -> tuple[object, object, PrivateBounds | None]:
    """Return the public ends of a column, and the wish for private bounds, if any.

    Raises:
        DeclarationError: Bounds are given twice, or are neither numbers nor private.
    """
    if bounds is None:
        return lower, upper, None
    if lower is not None or upper is not None:
        raise DeclarationError(
            N_("bounds are given twice"),
            hint=N_("write Real(0, 250), or Real(bounds=private_bounds(…))"),
        )
    if isinstance(bounds, PrivateBounds):
        return bounds.lower, bounds.upper, bounds
    if isinstance(bounds, tuple | list) and len(bounds) == 2:  # noqa: PLR2004
        return bounds[0], bounds[1], None
    raise DeclarationError(
        N_("bounds cannot be {value}: bounds read from the rows are private values"),
        hint=N_(
            "declare public numbers, Real(0, 250), or pay for bounds: "
            "Real(bounds=private_bounds(0.99, within=(0, 10_000)))"
        ),
        value=quoted(bounds),
    )
