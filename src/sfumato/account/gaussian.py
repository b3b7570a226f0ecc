"""Gaussian noise as data, and batches of it that are fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, fsum, isqrt, pi, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

from sfumato.account.budget import ApproxDP
from sfumato.account.loss import Epsilon
from sfumato.account.mechanism import read_sensitivity
from sfumato.account.precise import root_up
from sfumato.account.rho import GDP, ZCDP
from sfumato.amount import Amount
from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

__all__ = ["Gaussian", "Law", "gaussian_batch"]

Law: TypeAlias = Literal["real", "whole", "discrete"]
_WIDE = 1_000_000  # variance from which a sum over integers equals its integral


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    r"""Gaussian noise; its variance is derived from the charge ρ.

    Formal guarantee: let f have L2 sensitivity Δ (the root of the summed squares of
    all changes). Noise of variance :math:`\sigma^2 = \Delta^2/2\rho` in each
    coordinate is ρ-zCDP (Bun, Steinke 2016, Lemma 2.5). Three laws:

    ``real``
        the ideal sum of a real value, rounded to a fine public grid
        (``docs/proofs/rounded-reals.md``): μ-GDP with μ = Δ/σ, exactly;
    ``whole``
        the ideal sum of an integer, rounded to whole numbers: likewise;
    ``discrete``
        integer noise of mass :math:`\propto e^{-k^2/2\sigma^2}`: ρ-zCDP (Canonne,
        Kamath, Steinke 2020, Thm 14), but *not* Δ/σ-GDP, see
        ``docs/proofs/zcdp-costs.md``. It cannot be charged to a Gaussian budget.

    Args:
        sensitivity: The L2 sensitivity.
        rho: Loss charged, ρ.
        law: One of the three.
        squared: Say that `sensitivity` is Δ², as for √k cells that change by one.

    Raises:
        ArgumentError: The sensitivity or the law cannot be used.
        DeclarationError: ρ is not a finite number greater than 0.

    Examples:
        >>> noise = Gaussian(1, "0.5")
        >>> noise.variance, noise.scale, noise.cost
        (Fraction(1, 1), Fraction(1, 1), ZCDP("0.5"))
        >>> round(noise.error(0.95), 3), Gaussian(1, "0.02", law="whole").error(0.95)
        (1.96, 10)
    """

    squared_sensitivity: Fraction
    rho: GDP
    law: Law

    def __init__(
        self,
        sensitivity: Amount,
        rho: Amount | ZCDP | GDP,
        *,
        law: Law = "real",
        squared: bool = False,
    ) -> None:
        """Read the numbers exactly as written."""
        change = read_sensitivity(sensitivity)
        if law not in ("real", "whole", "discrete"):
            raise ArgumentError(
                N_("unknown law of Gaussian noise: {law}"),
                hint=N_("write 'real', 'whole' or 'discrete'"),
                law=quoted(law),
            )
        units = rho.units if isinstance(rho, ZCDP | GDP) else ZCDP(rho).units
        object.__setattr__(self, "squared_sensitivity", change ** (1 if squared else 2))
        object.__setattr__(self, "rho", GDP.from_units(units))
        object.__setattr__(self, "law", law)

    @classmethod
    def calibrated(
        cls,
        sensitivity: Amount,
        epsilon: Amount | Epsilon,
        delta: Amount,
        *,
        law: Law = "real",
        squared: bool = False,
    ) -> Gaussian:
        """Return the least noise that is (ε, δ)-DP (Balle, Wang 2018, Alg. 1).

        Raises:
            ArgumentError: The law is ``discrete``: the curve is not that of its noise.

        Examples:
            >>> round(float(Gaussian.calibrated(5, 1, "1e-5").scale), 8)
            18.65315817
        """
        if law == "discrete":
            raise ArgumentError(
                N_("the discrete law does not follow the Gaussian curve"),
                hint=N_("use law='whole' for integers, or charge a rho"),
            )
        cap = ApproxDP(epsilon, delta, gaussian_only=True).cap
        assert isinstance(cap, GDP)  # noqa: S101  gaussian_only makes it so
        return cls(sensitivity, cap, law=law, squared=squared)

    @property
    def cost(self) -> ZCDP:
        """The charge ρ as a zCDP loss."""
        return ZCDP.from_units(self.rho.units)

    @property
    def variance(self) -> Fraction:
        """The parameter σ² = Δ²/2ρ, exactly.

        The variance of the discrete law is at most this; rounding to whole numbers
        adds about 1/12.
        """
        return self.squared_sensitivity / (2 * self.rho.value)

    @property
    def scale(self) -> Fraction:
        """A rational σ at or above √variance, within 2**-60 of it."""
        return root_up(self.variance)

    @property
    def mean_absolute_error(self) -> float:
        """E|noise| = σ√(2/π); for integers the sum over their law."""
        sigma = float(self.scale)
        if self.law == "real" or self.variance > _WIDE:
            return sigma * sqrt(2 / pi)
        return 2 * fsum(k * p for k, p in enumerate(self._masses()))

    def error(self, confidence: float) -> float:
        """Return the smallest t with ``P(|noise| <= t) >= confidence``."""
        sigma = float(self.scale)
        wide = NormalDist().inv_cdf((1 + confidence) / 2) * sigma
        if self.law == "real":
            return wide
        if self.law == "whole" or self.variance > _WIDE:
            return max(0, ceil(wide - 0.5 - 1e-9))
        masses = self._masses()
        inside, t = masses[0], 0
        while inside < confidence - 1e-12 and t + 1 < len(masses):
            t += 1
            inside += 2 * masses[t]
        return t

    def _masses(self) -> list[float]:
        """Return P(noise = k) for k = 0, 1, … up to where it is below 1e-17."""
        variance = float(self.variance)
        reach = 9 * (isqrt(ceil(variance)) + 1)
        if self.law == "whole":
            edge = [_upper((k - 0.5) / sqrt(variance)) for k in range(reach + 2)]
            return [a - b for a, b in pairwise(edge)]
        weights = [exp(-k * k / (2 * variance)) for k in range(reach + 1)]
        total = weights[0] + 2 * fsum(weights[1:])
        return [w / total for w in weights]


def gaussian_batch(
    sensitivities: Sequence[Amount],
    epsilon: Amount | Epsilon,
    delta: Amount,
    *,
    weights: Sequence[Fraction | int] | None = None,
    squared: bool = False,
) -> tuple[Gaussian, ...]:
    r"""Return one Gaussian per figure, all together (ε, δ)-DP, by the exact curve.

    The batch is fixed before any answer is seen. Its total ρ = μ²/2 is the largest
    that is (ε, δ)-DP (Balle, Wang 2018; Dong, Roth, Su 2022, Cor. 3.3) and is split by
    the square-root rule ρᵢ ∝ Δᵢ·√wᵢ, which makes Σ wᵢσᵢ² least; the integers sum to it
    exactly.

    Args:
        sensitivities: L2 sensitivity of each figure.
        epsilon: The ε of the whole batch.
        delta: The δ of the whole batch, greater than 0.
        weights: How much each figure's variance matters; equally by default.
        squared: Say that `sensitivities` are squares.

    Examples:
        >>> batch = gaussian_batch([1, 1, 4], "1", "1e-6")
        >>> [round(float(g.scale), 2) for g in batch]
        [10.35, 10.35, 20.7]
        >>> sum(g.rho.units for g in batch)
        28014481912
    """
    from sfumato.account.allocate import Term, optimal

    cap = ApproxDP(epsilon, delta, gaussian_only=True).cap
    assert isinstance(cap, GDP)  # noqa: S101  gaussian_only makes it so
    changes = [s if squared else s**2 for s in map(read_sensitivity, sensitivities)]
    worth = [1] * len(changes) if weights is None else weights
    terms = [Term.of_square(s, w) for s, w in zip(changes, worth, strict=True)]
    shares = optimal(cap, terms)
    return tuple(
        Gaussian(s, share, squared=True)
        for s, share in zip(changes, shares, strict=True)
    )


def _upper(x: float) -> float:
    return NormalDist().cdf(-x)
