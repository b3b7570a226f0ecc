"""The adjustment: noisy figures in, figures that agree out, the raw ones beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from sfumato.consistency.constraint import (
    Between,
    Constraint,
    Monotone,
    Parts,
    Total,
)
from sfumato.consistency.estimate import estimate
from sfumato.consistency.figures import Named, Numbered
from sfumato.consistency.system import Floats
from sfumato.errors import ArgumentError, quoted
from sfumato.release import Figure, Release
from sfumato.release.libraries import need
from sfumato.release.wording import NOT_PRIVATE
from sfumato.words import N_, language, speaker

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Adjusted", "consistency_adjustment", "consistent"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """Noisy figures and the consistent ones that follow from them.

    Attributes:
        raw: The noisy figures as they were given, shape ``(n,)``.
        values: The consistent figures.
        variances: Of the error of each consistent figure, before bounds are used; none
            without `variances` of the noise.
        low: Lower ends of intervals that hold each true figure with `confidence`.
        high: Upper ends.
        confidence: Of each interval on its own.
        figures: The released figures behind the numbers; none for an array.
        private: False where a release was made with a test seed: NOT PRIVATE.
    """

    raw: Floats
    values: Floats
    variances: Floats | None
    low: Floats | None
    high: Floats | None
    confidence: float
    figures: tuple[Figure, ...] = ()
    private: bool = True

    def __len__(self) -> int:
        """Return the number of figures."""
        return len(self.values)

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame: raw and consistent value, and the interval, per figure.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        columns: dict[str, Any] = {}
        if self.figures:
            keys = dict.fromkeys(k for f in self.figures for k in f.group)
            columns["name"] = [f.name for f in self.figures]
            columns |= {k: [f.group.get(k) for f in self.figures] for k in keys}
            columns["bin"] = [f.bin for f in self.figures]
            if any(f.other_bin is not None for f in self.figures):
                columns["other_bin"] = [f.other_bin for f in self.figures]
        columns |= {"raw": self.raw, "consistent": self.values}
        if self.low is not None:
            columns |= {"low": self.low, "high": self.high}
        if not self.private:
            columns["status"] = ["NOT PRIVATE"] * len(self)
        frame: pd.DataFrame = need("pandas").DataFrame(columns)
        return frame

    def __str__(self) -> str:
        """Show the first figures, raw and consistent."""
        names = [f.name for f in self.figures] or [str(i) for i in range(len(self))]
        shown = zip(names[:20], self.raw, self.values, strict=False)
        lines = [f"{n}: {r:.6g} → {v:.6g}" for n, r, v in shown]
        lines += ["…"] if len(names) > len(lines) else []
        alarm = [] if self.private else [speaker(language())(NOT_PRIVATE)]
        return "\n".join([*alarm, *lines])


def consistent(  # noqa: PLR0913  all but the first two are options
    noisy: ArrayLike | Release | Sequence[Release],
    constraints: Sequence[Constraint] = (),
    *,
    variances: ArrayLike | None = None,
    total: float | None = None,
    nonnegative: bool = False,
    integers: bool = False,
    confidence: float = 0.95,
) -> Adjusted:
    """Make noisy figures agree with each other and with what is publicly known.

    Formal guarantee: post-processing; it adds no privacy loss, as long as the
    constraints are public. Weighted least squares: under equations alone the result is
    the best linear unbiased estimate (Gauss-Markov theorem). Under inequalities it is
    the projection onto all vectors that satisfy them, which never moves the figures
    away from the true vector (in the distance weighted by the variances) but is biased
    where it holds a figure at a bound.

    Args:
        noisy: Noisy figures, shape ``(n,)``; a release, or several, whose figures are
            counts, histograms, tables of two columns and sums.
        constraints: What holds between them.
        variances: Of the noise, one number or one for each figure; 0 marks a public,
            exact figure. Releases know theirs; an array without them is weighed evenly
            and gets no intervals.
        total: Short for ``Total(total)``.
        nonnegative: Short for ``Between(0)``.
        integers: Round to whole numbers that still satisfy the constraints.
        confidence: Of the intervals. Each is that of the equations' estimate, cut to
            the bounds of `Between`, which hold for the true figure too. Its width is
            that of one Laplace or Gaussian noise of the same variance, whichever is
            wider; sums of several were found narrower (see the tests).

    Raises:
        ArgumentError: The constraints contradict each other (the error names a
            smallest set that does), a member is unknown, numbers are not finite, or one
            measurement is given twice: copies have one noise, not two.
        MissingExtraError: The constraints are no tree of sums, and scipy or clarabel
            is not installed.

    Examples:
        >>> adjusted = consistent([52.0, 31.0, 20.0], total=100)
        >>> adjusted.values
        array([51., 30., 19.])
    """
    figures, values, spread, places = _read(noisy, variances)
    stated = _stated(constraints, total, nonnegative=nonnegative)
    if not 0 < confidence < 1:
        raise ArgumentError(
            N_("confidence lies between 0 and 1, got {value}"),
            hint=N_("write 0.95"),
            value=quoted(confidence),
        )
    placed = [one for constraint in stated for one in places.place(constraint)]
    weights = np.ones(len(values)) if spread is None else spread
    found = estimate(values, weights, placed, integers=integers)
    if spread is None:
        none = None, None, None
        return Adjusted(
            values, found.values, *none, confidence, figures, places.private
        )
    reach = _reach(confidence) * np.sqrt(found.variances)
    low, high = (
        np.clip(found.middle + r, found.low, found.high) for r in (-reach, reach)
    )
    return Adjusted(
        values,
        found.values,
        found.variances,
        np.minimum(low, found.values),
        np.maximum(high, found.values),
        confidence,
        figures,
        places.private,
    )


def consistency_adjustment(
    noisy: ArrayLike,
    *,
    sum: float | None = None,  # noqa: A002  the name that the tutorials use
    variances: ArrayLike | None = None,
    nonnegative: bool = False,
    integers: bool = False,
) -> Adjusted:
    """Make noisy numbers add up to a public total: the tutorials' step, by `consistent`.

    Formal guarantee: as `consistent`.

    Args:
        noisy: Noisy numbers, shape ``(n,)``.
        sum: Their total, where it is publicly known.
        variances: Of the noise; without them all numbers are moved alike.
        nonnegative: None may be below 0.
        integers: All must be whole.

    Raises:
        ArgumentError: As `consistent`.

    Examples:
        >>> consistency_adjustment([52.0, 31.0, 20.0], sum=100, integers=True).values
        array([51., 30., 19.])
    """
    return consistent(
        noisy,
        total=sum,
        variances=variances,
        nonnegative=nonnegative,
        integers=integers,
    )


def _read(
    noisy: ArrayLike | Release | Sequence[Release], variances: ArrayLike | None
) -> tuple[tuple[Figure, ...], Floats, Floats | None, Named | Numbered]:
    """Return figures, values, variances and the reader of members."""
    releases = [noisy] if isinstance(noisy, Release) else noisy
    if isinstance(releases, list | tuple) and any(
        isinstance(one, Release) for one in releases
    ):
        if variances is not None or not all(isinstance(r, Release) for r in releases):
            raise ArgumentError(
                N_("a release knows its own variances, and stands with releases only"),
                hint=N_("write consistent([first, second], [...])"),
            )
        named = Named(releases)
        return named.figures, named.values(), named.variances(), named
    values = _numbers("noisy", noisy)
    if values.ndim != 1 or not len(values):
        raise ArgumentError(
            N_("noisy figures have one dimension and at least one number"),
            hint=N_("flatten a table with .ravel(); members are places in it"),
        )
    if variances is None:
        return (), values, None, Numbered(len(values))
    spread = _numbers("variances", variances)
    if spread.shape not in ((), values.shape) or (spread < 0).any():
        raise ArgumentError(
            N_("variances are one number, or one for each figure, and never negative"),
            hint=N_("for Laplace noise of scale b the variance is 2·b²"),
        )
    return (
        (),
        values,
        np.broadcast_to(spread, values.shape).copy(),
        Numbered(len(values)),
    )


def _numbers(name: str, given: Any) -> Floats:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array(np.nan)
    if not np.isfinite(numbers).all():
        raise ArgumentError(
            N_("{name} must be finite numbers"),
            hint=N_("leave out what is missing, or ask for it again"),
            name=name,
        )
    return numbers


def _stated(
    constraints: Sequence[Constraint], total: float | None, *, nonnegative: bool
) -> list[Constraint]:
    """Return all constraints, checked."""
    stated = list(constraints)
    for one in stated:
        if not isinstance(one, Total | Parts | Between | Monotone):
            raise ArgumentError(
                N_("{value} is no constraint"),
                hint=N_("use Total, Parts, Between or Monotone"),
                value=quoted(one),
            )
    stated += [] if total is None else [Total(total)]
    stated += [Between(0)] if nonnegative else []
    if not stated:
        raise ArgumentError(
            N_("no constraint is given"),
            hint=N_("write, for example, consistent(noisy, total=768)"),
        )
    return stated


def _reach(confidence: float) -> float:
    """Return t with ``P(|X| > t) <= 1 - confidence`` for noise of standard deviation 1.

    The wider of a Laplace and a normal law: between them lie their weighted sums.
    """
    laplace = -log(1 - confidence) / sqrt(2)
    return max(laplace, NormalDist().inv_cdf((1 + confidence) / 2))
