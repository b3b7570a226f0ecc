"""Joint noise for a vector whose coordinates may all change at once.

The discrete K-norm law of a box: P(z) is proportional to ``exp(-κ(z)/scale)`` with
``κ(z) = max over i of ceil(|z_i| * resolution / bounds_i)``. For the same worst case it
has a sixth of the variance of independent Laplace noise in many dimensions.

The level sets of κ are the boxes ``B_k = {z : |z_i| <= floor(k * bounds_i /
resolution)}``, so the law is a mixture of uniform laws on boxes: k with P(k) ~
``|B_k| * exp(-k/scale)``, then z uniform in B_k. k is a sum of d + 1 geometric draws,
kept with a probability that is a product of rational coins. Proof:
``docs/proofs/joint-noise.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.errors import ArgumentError
from sfumato.noise.arguments import Number, positive
from sfumato.noise.scalar import LaplacePlan, discrete_laplace, laplace_plan
from sfumato.noise.stream import Stream, default
from sfumato.words import N_

__all__ = ["box_level", "box_noise"]


def box_noise(
    bounds: Sequence[int],
    scale: Number,
    resolution: int,
    *,
    stream: Stream | None = None,
) -> tuple[int, ...]:
    """Draw one vector of integers with P(z) proportional to ``exp(-κ(z)/scale)``.

    Exactness: the law is exact, given uniform bits; integers decide everything.

    Source: Hardt and Talwar (2010) for the K-norm mechanism; Steinke and Ullman (2017)
    for the box; the lattice form and its sampler are proved in
    ``docs/proofs/joint-noise.md``.

    Args:
        bounds: Half-widths of the box, integers of at least 1, one per coordinate.
        scale: Positive scale of κ.
        resolution: Steps of κ per box, an integer of at least 1.
        stream: Source of random bits, by default the secure one of this thread.

    Returns:
        One Python integer, of any size, per coordinate.

    Raises:
        ArgumentError: A bound or the resolution is below 1, or the scale is so small
            that hardly any noise is left: then draw the coordinates one by one.

    Examples:
        >>> len(box_noise([1, 250, 80], scale=128, resolution=64))
        3
    """
    exact = positive("scale", scale)
    if resolution < 1 or not bounds or min(bounds) < 1:
        raise ArgumentError(
            N_("bounds and resolution must be integers of at least 1"),
            hint=N_("leave out coordinates that never change"),
        )
    shift = max(-(-resolution // (2 * b)) for b in bounds)
    if shift > (len(bounds) + 1) * exact:
        raise ArgumentError(
            N_("scale {scale} is too small for joint noise"),
            hint=N_("draw the coordinates one by one"),
            scale=float(exact),
        )
    source = default() if stream is None else stream
    plan = laplace_plan(exact.numerator, exact.denominator)
    while True:
        drawn = sum(_geometric(plan, source) for _ in range(len(bounds) + 1))
        level = drawn - shift
        if level < 0:
            continue
        sides = [2 * (level * b // resolution) + 1 for b in bounds]
        # side * resolution <= 2 * b * (drawn + i), because 2 * b * shift >= resolution.
        if all(
            source.below(2 * b * (drawn + i)) < side * resolution
            for i, (b, side) in enumerate(zip(bounds, sides, strict=True), 1)
        ):
            return tuple(source.below(side) - side // 2 for side in sides)


def _geometric(plan: LaplacePlan, stream: Stream) -> int:
    """Draw G with P(G >= g) = exp(-g/scale): a Laplace draw, given that it is >= 0."""
    while True:
        drawn = discrete_laplace(plan, stream)
        if drawn >= 0:
            return drawn


def box_level(vector: Sequence[int], bounds: Sequence[int], resolution: int) -> int:
    """Return κ(vector): the smallest k whose box holds it.

    Examples:
        >>> box_level([1, -250], [1, 250], 64), box_level([0, 1], [1, 250], 64)
        (64, 1)
    """
    return max(
        -(-abs(v) * resolution // b) for v, b in zip(vector, bounds, strict=True)
    )
