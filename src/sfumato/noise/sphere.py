"""Spherical noise: one vector, jointly, whose size alone is random in law and known.

The ideal draw Z in R^q has density proportional to ``exp(-||z||_2 / scale)``: a uniform
direction, and a radius that is a sum of q exponentials. What is returned is
``floor(1/2 + Z_i)``, exactly, so that an integer vector plus the draw is the ideal sum
rounded: post-processing of the K-norm mechanism of the Euclidean ball, in any dimension
(``docs/proofs/spherical-noise.md``).

A direction is a vector of exact standard normals over its length. Exponentials and
half-normals are ``-ln U`` of uniforms that are read bit by bit; integer enclosures of
the whole expression decide each floor, and more bits are read where they cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from sfumato.errors import ArgumentError
from sfumato.noise.arguments import Number, positive
from sfumato.noise.bounds import ln_bounds
from sfumato.noise.exact import LazyUniform, half_normal_accepts
from sfumato.noise.stream import Source, default
from sfumato.words import N_

__all__ = ["spherical_noise"]

_GUARD = 8
_Span = tuple[int, int]


def spherical_noise(
    scale: Number,
    dimension: int,
    *,
    thin: Sequence[int] | None = None,
    source: Source | None = None,
) -> tuple[int, ...]:
    """Draw ``floor(1/2 + Z_i)``, Z of density proportional to ``exp(-||z||_2/scale)``.

    With `thin` it is ``floor(1/2 + Z_i/√thin_i)``: noise for a norm whose square counts
    coordinate i ``thin_i`` times, as that of the upper triangle of a symmetric matrix.

    Exactness: the law is exact, given uniform bits; integers decide everything.

    Source: Hardt and Talwar (2010) for the K-norm mechanism; Chaudhuri, Monteleoni and
    Sarwate (2011) for the ball; rounding is post-processing
    (``docs/proofs/spherical-noise.md``).

    Args:
        scale: Positive scale, in whole steps.
        dimension: Number of coordinates, at least 1.
        thin: Positive integers, one per coordinate; all 1 by default.
        source: Source of random bits, by default the secure one of this thread.

    Returns:
        One Python integer, of any size, per coordinate.

    Raises:
        ArgumentError: The scale or the dimension cannot be used. Nothing was drawn.

    Examples:
        >>> len(spherical_noise(1000, 9))
        9
    """
    width = positive("scale", scale)
    if dimension < 1:
        raise ArgumentError(
            N_("spherical noise needs at least one coordinate, got {dimension}"),
            hint=N_("give the number of coordinates of the vector"),
            dimension=dimension,
        )
    draw = _Draw.of(default() if source is None else source, dimension)
    while True:
        rounded = tuple(draw.rounded(width, thin or (1,) * dimension))
        if None not in rounded:
            return rounded  # type: ignore[return-value]  # no None is left
        draw.extend()


@dataclass(frozen=True, slots=True)
class _Draw:
    """The uniforms of one draw: exponentials, half-normals and their signs."""

    radius: tuple[LazyUniform, ...]
    normals: tuple[LazyUniform, ...]
    signs: tuple[int, ...]

    @classmethod
    def of(cls, source: Source, dimension: int) -> _Draw:
        normals = tuple(_half_normal(source) for _ in range(dimension))
        signs = tuple(source.bits(1) for _ in range(dimension))
        radius = tuple(LazyUniform(source) for _ in range(dimension))
        draw = cls(radius, normals, signs)
        for uniform in radius:
            uniform.extend()
        return draw

    def extend(self) -> None:
        for uniform in (*self.radius, *self.normals):
            uniform.extend()

    def rounded(self, scale: Fraction, thin: Sequence[int]) -> Iterator[int | None]:
        """Iterate over the rounded coordinates; None where bits are too few."""
        places = max(u.length for u in (*self.radius, *self.normals)) + _GUARD
        two = ln_bounds(2, places)
        logs = [_minus_ln(u, places, two) for u in (*self.radius, *self.normals)]
        sizes = [span for span in logs if span is not None]
        if len(sizes) < len(logs):  # a uniform that is all zeros so far
            yield None
            return
        count = len(self.radius)
        low, high = map(sum, zip(*sizes[:count], strict=True))
        squares = [sum(s[side] ** 2 for s in sizes[count:]) for side in (0, 1)]
        if not squares[0]:
            yield None
            return
        lengths = {t: _length(squares[0] * t, squares[1] * t) for t in set(thin)}
        for (small, large), negative, t in zip(
            sizes[count:], self.signs, thin, strict=True
        ):
            near, far = lengths[t]
            least = scale.numerator * low * small // (scale.denominator * far)
            most = -(-scale.numerator * high * large // (scale.denominator * near))
            yield _floor_of(least, most, places, negative=negative)


def _half_normal(source: Source) -> LazyUniform:
    """Return U with -ln U standard half-normal (von Neumann's rejection)."""
    while True:
        first = LazyUniform(source)
        if half_normal_accepts(first, LazyUniform(source)):
            return first


def _minus_ln(uniform: LazyUniform, places: int, two: _Span) -> _Span | None:
    """Enclose ``2**places * -ln U``; none while all bits read are zero."""
    if not uniform.prefix:
        return None
    _, above = ln_bounds(uniform.prefix + 1, places)
    below, _ = ln_bounds(uniform.prefix, places)
    low, high = uniform.length * two[0] - above, uniform.length * two[1] - below
    return max(low, 0), max(high, 0)


def _length(near: int, far: int) -> _Span:
    """Enclose the root of an enclosed square."""
    return isqrt(near), isqrt(far) + 1


def _floor_of(least: int, most: int, places: int, *, negative: int) -> int | None:
    """Return ``floor(1/2 + z)``; none when the enclosure of |z| holds a jump."""
    half = 1 << (places - 1)
    ends = (-most, -least) if negative else (least, most)
    low, high = ((end + half) >> places for end in ends)
    return low if low == high else None
