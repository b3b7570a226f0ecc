r"""The transform of a composed privacy loss, on a line in the complex plane.

A mechanism with a dominating pair (P, Q) has the privacy loss ℓ = ln dP/dQ. Put
:math:`M(d\ell) = e^{-\ell/2} P(d\ell)`; then :math:`\hat M(s) = \int e^{s\ell} dM`
multiplies under composition. For the mechanisms here M is symmetric and
(``docs/proofs/profile.md``)

=====================  =========================================================
Gaussian, μ            exp(μ²(s²/2 - 1/8))
Laplace, ε             e^(-ε/2)·(cosh sε + sinh(sε)/2s)
pure, ε                cosh(sε) / cosh(ε/2)
geometric, a and m     e^(-am/2)/(1+q)·(2cosh(sam) + (1-q)·sinh(sa(m-1))/sinh(sa))
=====================  =========================================================

On the line s = c + iω each ratio M̂(s)/M̂(c) has modulus at most 1, because M is a
positive measure. Every ratio is computed with a bound of its absolute error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, expm1, sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.account.descriptor import Spent

__all__ = ["Line", "Losses"]

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

ULP = 64 * 2.0**-53  # far above the error of any one step below, relatively
_NEGLIGIBLE = 1e-22  # nodes that contribute less are dropped, and paid for
_REACH = sqrt(2 * 50.7)  # exp(-_REACH**2 / 2) < 1e-22


@dataclass(frozen=True, slots=True)
class Line:
    """Ratios M̂(c + iω)/M̂(c) at ω = 0, τ, 2τ, …, without those that are negligible.

    Attributes:
        c: Where the line crosses the real axis, above 1/2.
        step: τ, a float with few bits: multiples of it are exact.
        omega: The nodes kept, shape ``(n,)``.
        ratio: M̂(c + iω)/(M̂(c)·(s² - 1/4)), shape ``(n,)``.
        slack: Bound on all that was left out or rounded in the sum over all nodes,
            positive and negative, of the moduli of ratio.
    """

    c: float
    step: float
    omega: Floats
    ratio: Complexes
    slack: float


class Losses:
    """The mechanisms of a ledger as arrays, Gaussian noise apart.

    Attributes:
        variance: μ² of all Gaussian noise together.
        epsilon: Largest loss of each other mechanism, shape ``(n,)``.
        rate: Its rate a where geometric, else 0.
        steps: Its sensitivity m where geometric, 0 for Laplace, 1 for pure.
        count: How often it was used.
    """

    def __init__(self, spent: Spent) -> None:
        """Read the exact parameters into floats: one rounding each."""
        rows = [(float(e), 0.0, 0.0, n) for e, n in spent.laplace.items()]
        rows += [(float(e), 0.0, 1.0, n) for e, n in spent.pure.items()]
        rows += [
            (float(a * m), float(a), float(m), n)
            for (a, m), n in spent.geometric.items()
        ]
        rows.sort(key=lambda row: -row[0])
        table = np.array(rows, np.float64).reshape(-1, 4)
        self.variance = float(2 * spent.gaussian)
        self.epsilon, self.rate, self.steps, self.count = table.T

    @property
    def spread(self) -> float:
        """About the standard deviation of the loss."""
        others = float((self.count * np.minimum(self.epsilon, 1) ** 2).sum())
        return sqrt(self.variance + others)

    @property
    def least_advantage(self) -> float:
        """About what δ at ε = 0 is at least: that of the one largest mechanism."""
        one = -expm1(-float(self.epsilon.max(initial=0.0)) / 2)
        return max(one, erf(sqrt(self.variance / 8)))

    def log_moment(self, c: float, variance: float) -> tuple[float, float]:
        """Return ln M̂(c) with all Gaussian noise of `variance`, and its error bound."""
        gaussian = variance * (c - 0.5) * (c + 0.5) / 2
        if not len(self.epsilon):
            return gaussian, ULP * abs(gaussian)
        shift, rest = self._log_parts(c)
        terms = self.count * (shift + rest)
        size = self.count * (np.abs(shift) + np.abs(rest) + 1)
        size += self.count * c * self.epsilon
        error = ULP * (abs(gaussian) + float(size.sum()))
        return gaussian + float(terms.sum()), error

    def _log_parts(self, c: float) -> tuple[Floats, Floats]:
        """Return ln M̂(c) = (c - 1/2)ε + ln(scaled factor), per mechanism."""
        e, a, m = self.epsilon, self.rate, self.steps
        shift = (c - 0.5) * e
        down = np.exp(-2 * c * e)
        laplace = (1 + down) / 2 + (1 - down) / (4 * c)
        rate = np.where(a > 0, a, 1.0)
        inner = np.expm1(-2 * c * rate * np.maximum(m - 1, 0)) / np.expm1(-2 * c * rate)
        q = np.exp(-np.where(a > 0, a, e))
        one = np.where(m > 1, -np.expm1(-rate) * np.exp(-2 * c * rate) * inner, 0.0)
        geometric = (1 + down + one) / (1 + q)
        return shift, np.log(np.where(m == 0, laplace, geometric))

    def line(self, c: float, step: float, variance: float) -> Line:
        """Return the ratios on the line through c; `variance` must be positive."""
        top = _REACH / sqrt(variance)
        omega = np.arange(int(top / step) + 1, dtype=np.float64) * step
        last = float(omega[-1]) + step
        phase = variance * omega
        ratio = np.exp(-phase * omega / 2) * np.exp(1j * phase * c)
        error = ULP * (1 + phase * (omega + c))
        kernel = 1 / ((c - 0.5 + 1j * omega) * (c + 0.5 + 1j * omega))
        dropped = 0.0
        for place in range(len(self.epsilon)):
            factor, wrong = self._ratio(place, c, omega)
            count = int(self.count[place])
            ratio *= _power(factor, count)
            error += count * (wrong + ULP)
            size = np.abs(ratio) + error
            keep = np.abs(ratio) > _NEGLIGIBLE
            if np.count_nonzero(keep) < 0.8 * len(keep):
                dropped += float((size * np.abs(kernel))[~keep].sum())
                omega, ratio = omega[keep], ratio[keep]
                error, kernel = error[keep], kernel[keep]
        weight = np.abs(kernel)
        left = dropped + float((weight * (error + ULP * np.abs(ratio))).sum())
        beyond = np.exp(-variance * last**2 / 2) * (1 / last + step / last**2) / step
        slack = 2 * (left + float(beyond)) * (1 + ULP * (1 + len(omega)))
        return Line(c, step, omega, ratio * kernel, slack)

    def _ratio(self, i: int, c: float, omega: Floats) -> tuple[Complexes, Floats]:
        """Return M̂ᵢ(s)/M̂ᵢ(c) and a bound of its error."""
        e, a, m = (float(x[i]) for x in (self.epsilon, self.rate, self.steps))
        if m == 0:
            cosh, sinh = _scaled(c, e, omega)
            factor = cosh + sinh / (2 * (c + 1j * omega))
        else:
            factor = _scaled(c, e, omega)[0]
            if m > 1:
                sinh = _scaled(c, a * (m - 1), omega)[1] / _scaled(c, a, omega)[1]
                factor = factor - np.expm1(-a) * np.exp(-2 * c * a) / 2 * sinh
        wrong = ULP * (1 + omega * (e + 1 / c**2))
        return factor / float(np.abs(factor[0])), wrong


def _scaled(c: float, e: float, omega: Floats) -> tuple[Complexes, Complexes]:
    """Return cosh(se) and sinh(se), both times e^(-ce), for s = c + iω."""
    cos, sin = np.cos(omega * e), np.sin(omega * e)
    down = np.exp(-2 * c * e)
    less = -np.expm1(-2 * c * e)
    return (
        ((1 + down) * cos + 1j * (less * sin)) / 2,
        (less * cos + 1j * ((1 + down) * sin)) / 2,
    )


def _power(base: Complexes, exponent: int) -> Complexes:
    """Raise by repeated squaring: each of about 2·log2(n) products errs by one ulp."""
    result: Complexes | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent:
            base = base * base
    return np.ones_like(base) if result is None else result
