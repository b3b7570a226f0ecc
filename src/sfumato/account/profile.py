r"""The privacy profile δ(ε) of everything that was spent: a report, never a guard.

Valid only if the parameters of all mechanisms were fixed beforehand. When they are
chosen after seeing answers, a profile that stays below (ε, δ) in every branch does not
bound the whole (``docs/proofs/profile.md`` has two questions that break it). Budgets
are therefore guarded by sums of ε or ρ, and this module only tells, afterwards and
with that caveat, how much smaller the loss is than the sum.

Each value is an upper bound, rounding of floats included, and tight: for Gaussian noise
alone to 1e-12, for anything else to about 1e-5 of ε, which is what the smoothing takes.
With :math:`\hat M` of `sfumato.account.transform`,

.. math:: \delta(\varepsilon) = \frac{e^{\varepsilon/2}}{2\pi} \int
   \frac{\hat M(c+i\omega)}{(c+i\omega)^2-1/4} e^{-(c+i\omega)\varepsilon} d\omega .

The sum with step τ is exactly δ(ε) plus the same quantity, which is never negative, at
ε ± 2π/τ, ε ± 4π/τ, … (Poisson summation): discretisation can only overstate the loss.
What is cut off, rounded, or missing from the tail is bounded and added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import exp, frexp, inf, ldexp, log, log10, nextafter, pi

import numpy as np
from numpy.typing import NDArray

from sfumato.account.convert import (
    gaussian_delta,
    gaussian_epsilon,
    zcdp_delta,
    zcdp_epsilon,
)
from sfumato.account.descriptor import Spent, read_descriptors
from sfumato.account.loss import ATTO, PICO
from sfumato.account.rho import read_delta
from sfumato.account.transform import ULP, Line, Losses
from sfumato.amount import Amount, exact
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["CAVEAT", "Profile"]

CAVEAT = N_("valid only if the parameters were fixed beforehand")

_LEVELS = (3e-4, 5e-5, 1.5e-5)  # standard deviations of the smoothing, in units of ε
_FINE_LEVELS = (3e-4, 1.5e-5, 1.5e-6, 1.5e-7)
_ROUNDS, _SETTLED, _ENOUGH = 12, 1e-6, 1e-5
_MOST_NODES, _MANY_NODES = 4_000_000, 500_000
_CLOSE = 23.0  # images of less than e^-23 of δ are let in
_PER_DECADE = 8  # orders that are tried
_FARTHEST = 1e3  # over the smoothing: no order beyond a tenth of it is needed


class Profile:
    """δ(ε) and ε(δ) of a list of mechanisms, from above.

    Args:
        entries: Descriptors, as `sfumato.account.descriptor.describe` writes them.

    Raises:
        DeclarationError: A descriptor cannot be read.

    Examples:
        >>> entry = {"kind": "laplace", "sensitivity": "1", "scale": "10"}
        >>> round(Profile([{**entry, "count": 100}]).epsilon("1e-6"), 4)
        4.6927
        >>> Profile([entry]).epsilon(0)
        0.1
    """

    def __init__(self, entries: Iterable[Mapping[str, object]]) -> None:
        """Add up the entries."""
        self._spent = read_descriptors(entries)
        self._losses = Losses(self._spent)

    def delta(self, epsilon: Amount) -> float:
        """Return an upper bound of δ at ε.

        Examples:
            >>> noise = {"kind": "gaussian", "squared_sensitivity": "1", "variance": "25"}
            >>> f"{Profile([noise]).delta(1):.6g}"
            '1.75463e-08'
        """
        e = _read_epsilon(epsilon)
        least = min(p._delta_at(e) for p in self._readings())  # noqa: SLF001  its own
        found = float(self._spent.delta) + least
        return min(1.0, found * (1 + ULP))

    def epsilon(self, delta: Amount | None) -> float:
        """Return an upper bound of ε at δ; infinite when δ is too small for any."""
        left = Fraction(read_delta(delta), ATTO) - self._spent.delta
        if left < 0:
            return inf
        whole = self._spent.epsilon
        best = inf if whole is None else _up(whole)
        if left > 0 and best:
            found = (p._epsilon_at(left) for p in self._readings())  # noqa: SLF001
            best = min(best, *found)
        return best

    def _readings(self) -> list[Profile]:
        """Return a profile for each way to count; each is above the truth."""
        ways = self._spent.readings()
        return [self] if len(ways) == 1 else [Profile._of(way) for way in ways]

    def _delta_at(self, e: Fraction) -> float:
        """Return δ without what mechanisms lose by failing."""
        spent = self._spent
        whole = spent.epsilon
        if whole is not None and whole <= e:
            return 0.0
        if not self._composed:
            if not spent.concentrated:
                return _up(gaussian_delta(spent.gaussian, e).high)
            return _up(zcdp_delta(spent.rho, e))
        if not spent.concentrated:
            return self._exact_delta(float(e))
        parts = [e * i / 16 for i in range(1, 16)]
        split = [
            self._exact_delta(float(p)) + float(zcdp_delta(spent.concentrated, e - p))
            for p in parts
        ]
        return min(*split, _up(zcdp_delta(spent.rho, e)))

    def _epsilon_at(self, delta: Fraction) -> float:
        spent = self._spent
        if not self._composed and not spent.concentrated:
            return _up(Fraction(gaussian_epsilon(spent.gaussian, delta), PICO))
        if not spent.concentrated:
            return self._exact_epsilon(delta)
        best = _up(Fraction(zcdp_epsilon(spent.rho, delta), PICO))
        if not (self._composed or spent.gaussian):
            return best
        rest = Profile._of(replace(spent, concentrated=Fraction(0), delta=Fraction(0)))
        epsilon_at = rest._epsilon_at  # noqa: SLF001  a method of this class
        for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
            alone = Fraction(zcdp_epsilon(spent.concentrated, share * delta), PICO)
            best = min(best, _up(alone) + epsilon_at((1 - share) * delta))
        return nextafter(best, inf)

    @classmethod
    def _of(cls, spent: Spent) -> Profile:
        profile = cls([])
        profile._spent = spent
        profile._losses = Losses(spent)
        return profile

    @property
    def _composed(self) -> bool:
        """Tell whether something else than Gaussian noise was used."""
        return bool(len(self._losses.epsilon))

    def _exact_delta(self, e: float) -> float:
        """Return δ at ε of all mechanisms with an exact transform.

        Less and less smoothing is tried until that changes nothing or takes too long.
        """
        best = 1.0
        for level in _FINE_LEVELS:
            variance = self._smooth(max(e, self._losses.spread), level)
            line = self._line(e, variance, most=_MANY_NODES if best < 1 else None)
            if line is None:
                break
            before, best = best, min(best, self._at(line, e, variance))
            if before - best <= _ENOUGH * best:
                break
        return best

    def _exact_epsilon(self, delta: Fraction) -> float:
        """Search for ε; what is returned was itself checked.

        Less and less smoothing is tried until that changes nothing any more.
        """
        goal = nextafter(float(delta), 0)
        guess = best = self._guess(goal)
        if goal >= self._losses.least_advantage:
            variance = self._smooth(best, _LEVELS[0])
            if self._at(self._line(0.0, variance), 0.0, variance) <= goal:
                return 0.0
        for place, level in enumerate(_LEVELS):
            before = best
            best = self._settle(best, goal, self._smooth(best, level))
            if best < guess and place and before - best <= _ENOUGH * best:
                break
        return nextafter(best, inf)

    def _settle(self, best: float, goal: float, variance: float) -> float:
        """Move the line to the answer until the answer stays."""
        for _ in range(_ROUNDS):
            found = self._search(self._line(best, variance), goal, best, variance)
            close = best - found <= _SETTLED * best
            best = min(best, found)
            if close:
                break
        return best

    def _search(
        self, line: Line | None, goal: float, high: float, variance: float
    ) -> float:
        """Return an ε up to `high`, near the smallest, with δ at most `goal`.

        Regula falsi on ln δ with halving (Illinois); infinite when even `high` fails.
        """

        def excess(e: float) -> float:
            return log(self._at(line, e, variance) / goal)

        low, over, under = 0.0, -log(goal), excess(high)
        if under > 0:
            return inf
        last = 0
        while high - low > _SETTLED / 1000 * high:
            middle = (low * under - high * over) / (under - over)
            value = excess(middle)
            if value <= 0:
                high, under = middle, value
                over = over / 2 if last < 0 else over
                last = -1
            else:
                low, over = middle, value
                under = under / 2 if last > 0 else under
                last = 1
            if under > -_SETTLED / 1000:
                break
        return high

    def _guess(self, goal: float) -> float:
        """Return an ε at which δ is at most `goal`, by the Chernoff bound."""
        losses = self._losses
        orders = _orders(self._smooth(losses.spread, _LEVELS[-1]))
        moments = np.array([losses.log_moment(t, losses.variance)[0] for t in orders])
        return max(1e-15, float(np.min((moments - log(goal)) / (orders - 0.5))))

    def _smooth(self, e: float, level: float) -> float:
        """Return the variance of Gaussian noise, with enough to make sums short.

        Adding a Gaussian answer to the composition can only raise δ.
        """
        least = level * max(e, 0.01 * self._losses.spread)
        return max(self._losses.variance, least * least)

    def _line(self, e: float, variance: float, most: int | None = None) -> Line | None:
        """Choose the line right of the saddle, and a step whose images are negligible.

        None when that takes more than `most` nodes. Right of the saddle the images are
        smaller, and e^4 times more rounding is still nothing.
        """
        losses, orders = self._losses, _orders(variance)
        moments = np.array([losses.log_moment(t, variance)[0] for t in orders])
        slopes = orders - 0.5
        sizes = moments - slopes * e - np.log(slopes * (orders + 0.5))
        place = int(np.flatnonzero(sizes <= np.min(sizes) + 4)[-1])
        c = float(orders[min(place, len(orders) - _PER_DECADE)])  # images need more
        log_delta = float(np.min(sizes)) - 3
        window = (_CLOSE - log_delta) / (c - 0.5)
        while np.min(moments - slopes * (e + window)) + (c - 0.5) * window > (
            log_delta - _CLOSE
        ):
            window *= 1.2
        step = 2 * pi / window
        least = 10.1 / variance**0.5 / (most or _MOST_NODES)
        if most and step < least:
            return None
        return losses.line(c, _few_bits(max(step, least)), variance)

    def _at(self, line: Line | None, e: float, variance: float) -> float:
        """Return an upper bound of δ(ε) from one line."""
        if line is None:
            return 1.0
        angle = line.omega * e
        waves = line.ratio.real * np.cos(angle) + line.ratio.imag * np.sin(angle)
        total = 2 * float(waves.sum()) - float(line.ratio[0].real)
        sizes = np.abs(line.ratio)
        rounding = ULP * float((sizes * (20 + angle)).sum())
        moment, error = self._losses.log_moment(line.c, variance)
        power = moment - (line.c - 0.5) * e
        error += ULP * (1 + abs(power) + line.c * e)
        height = max(total, 0.0) + line.slack + 2 * rounding
        exponent = power + error + log(line.step / (2 * pi)) + log(height)
        if exponent > 0:
            return 1.0
        most = exp(exponent) * (1 + ULP * (2 + abs(power) - exponent))
        return min(1.0, nextafter(most, inf))  # above 0 also where exp is not


def _orders(variance: float) -> NDArray[np.float64]:
    """Return the places to try for the line, up to where noise of `variance` ends them."""
    sd = variance**0.5
    least, most = min(1e-4, 0.01 / sd), _FARTHEST / sd
    count = int(_PER_DECADE * log10(most / least)) + 1
    return 0.5 + np.geomspace(least, most, count)


def _few_bits(step: float) -> float:
    """Round down to 20 bits, so that small multiples are exact floats."""
    mantissa, exponent = frexp(step)
    return ldexp(int(mantissa * 2**20), exponent - 20)


def _up(value: Fraction) -> float:
    """Return a float at or above a fraction."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)


def _read_epsilon(epsilon: Amount) -> Fraction:
    number = exact(epsilon)
    if number is None or number < 0:
        raise DeclarationError(
            N_("epsilon must be a finite number of at least 0, got {value}"),
            hint=N_('write a decimal such as "0.5"'),
            value=quoted(epsilon),
        )
    return number
