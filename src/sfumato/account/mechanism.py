"""Mechanisms as data: the noise scale and the charge come from one object."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, log, log1p
from typing import TypeAlias

from sfumato.account.loss import Epsilon
from sfumato.amount import Amount, exact
from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

__all__ = ["Geometric", "Laplace", "Mechanism", "read_sensitivity"]


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    r"""Laplace noise for real values, exactly rounded to a public grid.

    Formal guarantee: let f have L1 sensitivity at most `sensitivity` (summed over all
    coordinates that are released together). Releasing ``f + noise`` with independent
    noise of density :math:`e^{-|x|/b}/2b`, :math:`b = \Delta/\epsilon`, is ε-DP
    (Dwork, McSherry, Nissim, Smith 2006, Prop. 1). What is released is that ideal sum
    rounded to a grid of public spacing, which is post-processing: no floating-point
    allowance enters (``docs/proofs/rounded-reals.md``).

    Args:
        sensitivity: Largest L1 change of the value between neighbours, in its unit.
        epsilon: Loss charged; the scale is derived from it, so they cannot disagree.

    Raises:
        ArgumentError: The sensitivity is not a finite number greater than 0.
        DeclarationError: Epsilon is not a finite number greater than 0.

    Examples:
        >>> noise = Laplace(250, "0.5")
        >>> noise.scale, noise.cost
        (Fraction(500, 1), Epsilon("0.5"))
        >>> round(noise.error(0.95), 1)
        1497.9
    """

    sensitivity: Fraction
    cost: Epsilon

    def __init__(self, sensitivity: Amount, epsilon: Amount | Epsilon) -> None:
        """Read both numbers exactly as written."""
        object.__setattr__(self, "sensitivity", read_sensitivity(sensitivity))
        object.__setattr__(self, "cost", Epsilon(epsilon))

    @property
    def scale(self) -> Fraction:
        """The scale b = sensitivity / ε, exactly."""
        return self.sensitivity / self.cost.value

    @property
    def variance(self) -> Fraction:
        """The variance 2b², exactly (rounding to the grid adds less than b²·1e-12)."""
        return 2 * self.scale**2

    @property
    def mean_absolute_error(self) -> float:
        """E|noise| = b."""
        return float(self.scale)

    def error(self, confidence: float) -> float:
        """Return t with ``P(|noise| <= t) = confidence``: b·ln(1/(1-confidence))."""
        return float(self.scale) * -log1p(-confidence)


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    r"""Two-sided geometric (discrete Laplace) noise for integers.

    Formal guarantee: let f be an integer vector of L1 sensitivity at most
    `sensitivity`. Adding independent noise of mass
    :math:`P(k) \propto e^{-|k|\epsilon/\Delta}` to each coordinate is ε-DP, exactly
    (Ghosh, Roughgarden, Sundararajan 2012, SIAM J. Comput. 41(6), Thm 2.4; vectors by
    the triangle inequality).

    Args:
        sensitivity: Largest L1 change of the integers between neighbours, an integer.
        epsilon: Loss charged; the scale is derived from it, so they cannot disagree.

    Raises:
        ArgumentError: The sensitivity is not an integer greater than 0.
        DeclarationError: Epsilon is not a finite number greater than 0.

    Examples:
        >>> noise = Geometric(1, "1")
        >>> noise.scale, noise.error(0.95), round(noise.mean_absolute_error, 3)
        (Fraction(1, 1), 3, 0.851)
        >>> round(noise.variance, 4)
        1.8413
    """

    sensitivity: int
    cost: Epsilon

    def __init__(self, sensitivity: Amount, epsilon: Amount | Epsilon) -> None:
        """Read both numbers exactly as written."""
        steps = read_sensitivity(sensitivity)
        if steps.denominator != 1:
            raise ArgumentError(
                N_("the sensitivity of integers must be an integer, got {value}"),
                hint=N_("round it up, or use Laplace for real values"),
                value=sensitivity,
            )
        object.__setattr__(self, "sensitivity", int(steps))
        object.__setattr__(self, "cost", Epsilon(epsilon))

    @property
    def scale(self) -> Fraction:
        """The scale t = sensitivity / ε, exactly."""
        return self.sensitivity / self.cost.value

    @property
    def variance(self) -> float:
        """The variance 2a/(1-a)² with a = e^(-1/t)."""
        rate = float(1 / self.scale)
        return 2 * exp(-rate) / expm1(-rate) ** 2

    @property
    def mean_absolute_error(self) -> float:
        """E|noise| = 2a/(1-a²)."""
        rate = float(1 / self.scale)
        return 2 * exp(-rate) / -expm1(-2 * rate)

    def error(self, confidence: float) -> int:
        """Return the smallest integer t with ``P(|noise| <= t) >= confidence``.

        ``P(|noise| > t) = 2a^(t+1)/(1+a)``.
        """
        rate = float(1 / self.scale)
        tail = log1p(-confidence) + log1p(exp(-rate)) - log(2)
        return max(0, ceil(-tail / rate - 1 - 1e-12))


Mechanism: TypeAlias = Laplace | Geometric


def read_sensitivity(value: object) -> Fraction:
    """Read a sensitivity exactly; refuse what is not a finite number above 0."""
    number = exact(value)
    if number is None or number < 0:
        raise ArgumentError(
            N_("sensitivity must be a finite number of at least 0, got {value}"),
            hint=N_(
                "give the largest L1 change that one person can cause, for example "
                "upper - lower for a clipped sum"
            ),
            value=quoted(value),
        )
    if number == 0:
        raise ArgumentError(
            N_("sensitivity 0 would release the value without noise"),
            hint=N_(
                "if the value is a public constant, say so: public_constant=True; "
                "otherwise give the largest change that one person can cause"
            ),
        )
    return number
