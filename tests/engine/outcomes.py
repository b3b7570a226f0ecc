"""The exact law of what a release shows of unknown keys: every outcome of the gate."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest

from sfumato import gate
from sfumato.account.precise import normal_tail

DIGITS = 60
SLACK = Decimal(10) ** -30


def law(threshold):
    """Return P(Z = z) for every z that the noise of a threshold can be, to 60 digits."""
    with localcontext(prec=DIGITS):
        scale = threshold.scale
        if threshold.law == "gaussian":
            far = int(8 * scale) + 2
            half = Fraction(1, 2)
            tails = [normal_tail((z - half) / scale).high for z in range(-far, far + 2)]
            masses = [a - b for a, b in zip(tails, tails[1:], strict=False)]
            return {z: Decimal(m.numerator) / Decimal(m.denominator) for z, m in zip(range(-far, far + 1), masses, strict=True)}  # fmt: skip
        a = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        k = threshold.reach
        whole = 1 + a - 2 * a ** (k + 1)
        return {z: (1 - a) / whole * a ** abs(z) for z in range(-k, k + 1)}


def outcomes(plan, exact):
    """Return the probability of everything that a release can show of the keys."""
    masses = law(plan.threshold)
    found: dict[object, Decimal] = defaultdict(Decimal)
    for drawn in product(masses, repeat=len(exact.groups)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gate, "_draw_threshold", lambda *_, d=drawn: d)
            shown, noisy = gate._release(plan, exact)
        mass = Decimal(1)
        with localcontext(prec=DIGITS):
            for z in drawn:
                mass *= masses[z]
            found[shown.groups, noisy[plan.selecting]] += mass
    return found


def lost(plan, here, there):
    """Return the δ between the releases of two tables at the ε that the plan charges."""
    p, q = outcomes(plan, here), outcomes(plan, there)
    with localcontext(prec=DIGITS):
        e = plan.step_of(plan.selecting).mechanism.cost.value
        factor = (Decimal(e.numerator) / Decimal(e.denominator)).exp()
        return max(
            sum(max(Decimal(0), m - factor * q.get(o, 0)) for o, m in p.items()),
            sum(max(Decimal(0), m - factor * p.get(o, 0)) for o, m in q.items()),
        )


def charged(plan):
    """Return the δ that the ledger is asked for."""
    delta = plan.cost.delta
    return Decimal(delta.numerator) / Decimal(delta.denominator)
