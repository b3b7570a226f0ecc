"""Noise in words: its law, its scale and its standard deviation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, exp, expm1, fsum, sqrt
from statistics import NormalDist

from sfumato.amount import exact
from sfumato.release.record import Measurement, Noise
from sfumato.release.wording import Say, law_words
from sfumato.words import N_

__all__ = ["all_gaussian", "deviation", "method", "noise_words", "scale_words"]

_CHOICES = frozenset({"permute_and_flip", "exponential"})
_GAUSSIAN = frozenset({"discrete_gaussian", "gaussian"})
_WIDE = 4.0  # σ from which the sums over integers equal their integrals to 1e-130
_FRACTION = 9  # characters
_LONG = 6  # digits of a scale on a page; the formats hold all
_THOUSAND = 1000

_LAWS = {
    "geometric": N_(
        "Alone, an integer gets a k with probability proportional to exp(−|k| / scale), "
        "where scale = sensitivity / ε."
    ),
    "truncated_geometric": N_(
        "The count of an unknown key gets a k with probability proportional to "
        "exp(−|k| / scale), cut off at both ends below the threshold that decides whether "
        "the key is shown; scale = sensitivity / ε."
    ),
    "k_norm": N_(
        "Jointly, a vector of integers gets a z with probability proportional to "
        "exp(−max |zᵢ / scaleᵢ|), where the maximum is rounded up to a fine lattice."
    ),
    "discrete_gaussian": N_(
        "Each integer gets a k with probability proportional to exp(−k² / 2σ²), where "
        "σ² = sensitivity² / 2ρ; the sensitivity is in L2, the root of the summed squares "
        "of all changes."
    ),
    "gaussian": N_(
        "Each integer gets a normal number of standard deviation σ, and the sum is rounded "
        "to a whole number; σ² = sensitivity² / 2ρ, and the sensitivity is in L2, the root "
        "of the summed squares of all changes."
    ),
    "permute_and_flip": N_(
        "A choice visits the candidates in random order and stops at the first that passes "
        "with probability exp(−gap / scale), where the gap is how far its count lies below "
        "the largest; no count is told."
    ),
    "exponential": N_(
        "A choice takes each candidate with probability proportional to "
        "exp(count / scale); no count is told."
    ),
}

_THRESHOLD = N_(
    "Which keys occur is private: only those whose noisy count was {least} or more are shown, "
    "and rows of other keys are in no figure."
)


def method(measurements: Sequence[Measurement], say: Say) -> tuple[str, ...]:
    """Return how the figures were made: a sentence for each law that was used."""
    used = dict.fromkeys(m.noise.law for m in measurements)
    return (
        say(
            N_(
                "Each cell was clamped to public bounds and rounded to a public grid, so "
                "that every count and sum is an exact integer; then random integers were "
                "added to them."
            )
        ),
        *(say(_LAWS[law]) for law in used if law in _LAWS),
        *(say(_THRESHOLD, least=m.threshold) for m in measurements if m.threshold),
        say(N_("All figures follow from these noisy integers alone.")),
    )


def all_gaussian(measurements: Sequence[Measurement]) -> bool:
    """Tell whether all noise is Gaussian, so that scales are σ and changes in L2."""
    return all(m.noise.law in _GAUSSIAN for m in measurements)


def noise_words(terms: Sequence[Noise], say: Say) -> str:
    """Return laws and scales; terms of one law share its name."""
    by_law: dict[tuple[str, bool], list[str]] = {}
    for term in terms:
        step = "" if term.step == 1 else f" × {term.step:g}"
        key = (law_words(term, say), term.law in _GAUSSIAN)
        by_law.setdefault(key, []).append(scale_words(term) + step)
    return say(N_("; ")).join(
        say(
            N_("{law}, σ = {scale}") if gaussian else N_("{law}, scale {scale}"),
            law=law,
            scale=say(N_(" and ")).join(scales),
        )
        for (law, gaussian), scales in by_law.items()
    )


def scale_words(noise: Noise) -> str:
    """Return the scale: a short fraction as it is, a long number in six digits.

    Examples:
        >>> scale_words(Noise("geometric", "4", 1.0, "0.25"))
        '4'
        >>> scale_words(Noise("geometric", "1000/3", 1.0, "0.3"))
        '1000/3 ≈ 333.3'
        >>> scale_words(Noise("discrete_gaussian", "8.67628148219", 1.0, "0.01"))
        '8.67628'
    """
    value = exact(noise.scale)
    if value is None:
        return noise.scale
    if "/" in noise.scale and len(noise.scale) <= _FRACTION:
        return f"{noise.scale} ≈ {float(Fraction(value)):.4g}"
    short = f"{float(value):.{_LONG}g}"
    return noise.scale if len(noise.scale) <= len(short) else short


def deviation(noise: Noise) -> str:
    """Return the standard deviation of a noise term in the figure's unit, briefly.

    Two-sided geometric noise of scale s has variance ``2a / (1 - a)²``, a = exp(-1/s);
    joint noise of d measurements ``(d + 1)(d + 2)/3 · s²``; Gaussian noise on integers
    the sum of k² over its law, which is near σ², and near σ² + 1/12 when rounded.
    """
    scale = float(exact(noise.scale) or 0)
    if scale <= 0:
        return "0"
    if noise.law in _CHOICES:
        return "–"  # a choice adds no noise
    size = noise.step * _deviation(noise.law, scale, noise.joint)
    return f"{size:.3g}" if size < _THOUSAND else f"{size:,.0f}"


def _deviation(law: str, scale: float, joint: int) -> float:
    match law:
        case "k_norm":
            return scale * sqrt((joint + 1) * (joint + 2) / 3)
        case "discrete_gaussian":
            return scale if scale > _WIDE else _of_law(scale, _discrete(scale))
        case "gaussian":
            wide = sqrt(scale**2 + 1 / 12)
            return wide if scale > _WIDE else _of_law(scale, _rounded(scale))
        case _:
            a, rest = exp(-1 / scale), -expm1(-1 / scale)
            return sqrt(2 * a) / rest


def _of_law(scale: float, weight: Callable[[int], float]) -> float:
    weights = [weight(k) for k in range(ceil(10 * scale) + 2)]
    whole = weights[0] + 2 * fsum(weights[1:])
    return sqrt(2 * fsum(k * k * w for k, w in enumerate(weights)) / whole)


def _discrete(scale: float) -> Callable[[int], float]:
    return lambda k: exp(-((k / scale) ** 2) / 2)


def _rounded(scale: float) -> Callable[[int], float]:
    tail = NormalDist(0, scale).cdf
    return lambda k: tail(0.5 - k) - tail(-0.5 - k)
