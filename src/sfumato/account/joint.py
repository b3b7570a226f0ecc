"""The K-norm mechanism of a box, as data: many coordinates that change together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, inf

from sfumato.account.loss import Epsilon
from sfumato.amount import Amount
from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["Coordinate", "KNorm"]

_FINENESS = 64  # levels per scale: the lattice costs at most about 1 % of accuracy


@dataclass(frozen=True, slots=True, init=False)
class KNorm:
    r"""Joint noise for integer vectors: P(z) ∝ ``exp(-κ(z)/scale)`` on a box.

    Formal guarantee: let the change of an integer vector between neighbours be a sum
    of vectors δ_j whose coordinate i is at most ``a_j * bounds[i]`` in size, where the
    a_j <= 1 add up to at most `rows`, and at most `spread` of them are below 1 (and
    above 0). Adding noise with ``κ(z) = max ceil(|z_i| * resolution / bounds_i)`` and
    ``scale = (rows * resolution + spread) / ε`` is ε-DP (Hardt, Talwar 2010, for the box of Steinke, Ullman 2017;
    lattice form in ``docs/proofs/joint-noise.md``).

    Args:
        bounds: Largest change of each coordinate by one row, integers of at least 1.
        epsilon: Loss charged for the whole vector.
        rows: 1 under add/remove; 2 under replace-one, where one row leaves and one
            enters. For people: times the groups that count of one person.
        spread: How many of the vectors may have a part of a weight only, because a
            person with rows in many groups counts a little in each: κ rounds up in
            each of them. 0 for rows.

    Raises:
        ArgumentError: A bound is below 1, or fewer than two coordinates.

    Examples:
        >>> noise = KNorm((1, 250, 80), "0.5")
        >>> noise.scale, noise.resolution
        (Fraction(128, 1), 64)
        >>> round(noise.coordinate(1).mean_absolute_error)
        1000
    """

    bounds: tuple[int, ...]
    rows: int
    cost: Epsilon
    spread: int

    def __init__(
        self,
        bounds: Sequence[int],
        epsilon: Amount | Epsilon,
        *,
        rows: int = 1,
        spread: int = 0,
    ) -> None:
        """Check once."""
        if len(bounds) < 2 or min(bounds) < 1 or rows < 1 or spread < 0:  # noqa: PLR2004  a vector
            raise ArgumentError(
                N_("joint noise needs at least two bounds, each an integer above 0"),
                hint=N_("use Geometric for one integer"),
            )
        object.__setattr__(self, "bounds", tuple(map(int, bounds)))
        object.__setattr__(self, "rows", int(rows))
        object.__setattr__(self, "cost", Epsilon(epsilon))
        object.__setattr__(self, "spread", int(spread))

    @property
    def resolution(self) -> int:
        """Levels of κ per box: a power of two that keeps the scale at 64 or more.

        It also keeps what `spread` adds to the scale below a sixty-fourth of it.
        """
        return _resolution(self.rows, self.spread, self.cost.units)

    @property
    def scale(self) -> Fraction:
        """Scale of κ, exactly ``(rows * resolution + spread) / ε``."""
        return _scale(self.rows, self.spread, self.cost.units)

    def coordinate(self, index: int) -> Coordinate:
        """Return the law of one coordinate's noise."""
        unit = float(self.bounds[index] * self.scale / self.resolution)
        return Coordinate(unit, len(self.bounds))


@lru_cache(maxsize=1024)
def _resolution(rows: int, spread: int, cost: int) -> int:
    epsilon = Epsilon.from_units(cost).value
    wanted = _FINENESS * max(Fraction(1), epsilon / rows, Fraction(spread, rows))
    return 1 << (-(-wanted.numerator // wanted.denominator) - 1).bit_length()


@lru_cache(maxsize=1024)
def _scale(rows: int, spread: int, cost: int) -> Fraction:
    levels = rows * _resolution(rows, spread, cost) + spread
    return levels / Epsilon.from_units(cost).value


@dataclass(frozen=True, slots=True)
class Coordinate:
    """The noise of one coordinate: ``unit * r * u``, r ~ Gamma(d + 1), u in [-1, 1].

    The continuous limit of the lattice law; the difference is below one step plus
    about 1 %.

    Attributes:
        unit: Size of the coordinate's bound over ε.
        dimension: Number d of coordinates that share the noise.
    """

    unit: float
    dimension: int

    @property
    def variance(self) -> float:
        """Variance ``(d + 1)(d + 2)/3 * unit²``."""
        d = self.dimension
        return (d + 1) * (d + 2) / 3 * self.unit**2

    @property
    def mean_absolute_error(self) -> float:
        """E|noise| = ``(d + 1)/2 * unit``."""
        return (self.dimension + 1) / 2 * self.unit

    def error(self, confidence: float) -> float:
        """Return t with ``P(|noise| <= t) = confidence``."""
        return pair_error(self.unit, 0.0, self.dimension, confidence)


def pair_error(a: float, b: float, dimension: int, confidence: float) -> float:
    """Return t with ``P(r|a·u + b·v| <= t) = confidence``, u, v uniform in [-1, 1].

    r ~ Gamma(d + 1). |a·u + b·v| has the tail ``1 - y/a`` up to a - b and ``(a + b - y)² /
    4ab`` up to a + b (a >= b); integrated over r in closed form.

    Examples:
        >>> round(pair_error(1, 0, 2, 0.95), 3)
        4.113
    """
    a, b = max(a, b), min(a, b)
    if not a:
        return 0.0

    def tail(x: float) -> float:
        inner = x / (a - b) if a > b else inf
        outer = x / (a + b)
        near = _moment(dimension, 0, inner) - x / a * _moment(dimension, 1, inner)
        if not b:
            return near
        far = [
            _moment(dimension, i, outer) - _moment(dimension, i, inner)
            for i in range(3)
        ]
        s = a + b
        return near + (s * s * far[0] - 2 * s * x * far[1] + x * x * far[2]) / (
            4 * a * b
        )

    return _solve(tail, 1 - confidence, (a + b) * (dimension + 40))


def pair_mean(a: float, b: float, dimension: int) -> float:
    """Return E r|a·u + b·v| = ``(d + 1)(3a² + b²)/6a`` for a >= b.

    Examples:
        >>> pair_mean(1, 0, 2)
        1.5
    """
    a, b = max(a, b), min(a, b)
    return (dimension + 1) * (3 * a * a + b * b) / (6 * a) if a else 0.0


def _moment(dimension: int, power: int, start: float) -> float:
    """Return the integral of ``r^(d - power) e^-r / d!`` from `start` on."""
    if start == inf:
        return 0.0
    term = total = 1.0
    for j in range(1, dimension + 1 - power):
        term *= start / j
        total += term
    scale = 1.0
    for i in range(power):
        scale *= dimension - i
    return exp(-start) * total / scale


def _solve(tail: Callable[[float], float], level: float, high: float) -> float:
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle) <= level else (middle, high)
    return high
