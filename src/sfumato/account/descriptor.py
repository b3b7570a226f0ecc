"""Mechanisms as plain JSON: what a ledger keeps, and an auditor reads back.

A descriptor holds the real mechanism with exact parameters, not its cost, so that costs
can be derived again and a tighter report can be made later. A geometric mechanism is
never written down as Laplace: its losses are larger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias, assert_never

from sfumato.account.cost import Charged, charge
from sfumato.account.gaussian import Gaussian
from sfumato.account.joint import KNorm
from sfumato.account.loss import PICO, Epsilon, decimal_text
from sfumato.account.mechanism import Geometric, Laplace
from sfumato.account.selection import Selection
from sfumato.account.threshold import Threshold
from sfumato.amount import exact
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Descriptor", "Spent", "describe", "read_descriptors"]

Descriptor: TypeAlias = "dict[str, str | int]"


def describe(mechanism: Charged, *, count: int = 1) -> Descriptor:
    """Return the descriptor of a mechanism, used `count` times.

    Examples:
        >>> describe(Laplace(250, "0.5"))
        {'kind': 'laplace', 'sensitivity': '250', 'scale': '500'}
        >>> describe(Geometric(1, "0.1"), count=3)
        {'kind': 'geometric', 'sensitivity': '1', 'scale': '10', 'count': 3}
    """
    found: Descriptor
    match mechanism:
        case Laplace():
            found = _entry("laplace", mechanism.sensitivity, scale=mechanism.scale)
        case Geometric():
            found = _entry("geometric", mechanism.sensitivity, scale=mechanism.scale)
        case Gaussian():
            kind = "discrete_gaussian" if mechanism.law == "discrete" else "gaussian"
            found = {
                "kind": kind,
                "squared_sensitivity": str(mechanism.squared_sensitivity),
                "variance": str(mechanism.variance),
            }
        case Selection():
            found = _entry(mechanism.law, mechanism.sensitivity, rate=mechanism.rate)
            found |= {"monotone": 1} if mechanism.monotone else {}
        case KNorm():
            found = {"kind": "k_norm", **_pure(mechanism.cost)}
        case Threshold():
            found = _threshold(mechanism)
        case Epsilon():
            found = {"kind": "pure", **_pure(mechanism)}
        case _:
            assert_never(mechanism)
    return found if count == 1 else {**found, "count": count}


def _entry(kind: str, sensitivity: Fraction | int, **rest: Fraction) -> Descriptor:
    numbers = {name: str(value) for name, value in rest.items()}
    return {"kind": kind, "sensitivity": str(sensitivity), **numbers}


def _pure(loss: Epsilon) -> Descriptor:
    delta = decimal_text(loss.delta_units, 18)
    text = decimal_text(loss.units, 12)
    return {"epsilon": text, **({"delta": delta} if loss.delta_units else {})}


def _threshold(mechanism: Threshold) -> Descriptor:
    """Describe noise that can fail: what is known of the noise, and the δ of a failure."""
    delta = decimal_text(mechanism.cost.delta_units, 18)
    told = {"delta": delta, "threshold": str(mechanism.least)}
    if mechanism.law == "truncated_geometric":
        text = decimal_text(mechanism.cost.units, 12)
        return {"kind": "pure", "epsilon": text, **told}
    return {**describe(mechanism.noise), **told}


@dataclass(slots=True)
class Spent:
    """What a list of descriptors adds up to, sorted by what is known of each.

    Attributes:
        gaussian: Σ μ²/2 of continuous Gaussian noise.
        concentrated: Σ ρ of mechanisms of which only ρ is known.
        laplace: Loss ε → number of Laplace mechanisms.
        geometric: (rate a, sensitivity m) → number of geometric mechanisms.
        pure: ε → number of mechanisms of which only ε is known.
        bounded: ε → number of mechanisms whose losses range over ε: exponential ones.
        delta: Σ δ of mechanisms that can fail.
    """

    gaussian: Fraction = Fraction(0)
    concentrated: Fraction = Fraction(0)
    laplace: Counter[Fraction] = field(default_factory=Counter)
    geometric: Counter[tuple[Fraction, int]] = field(default_factory=Counter)
    pure: Counter[Fraction] = field(default_factory=Counter)
    bounded: Counter[Fraction] = field(default_factory=Counter)
    delta: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction | None:
        """Σ ε of everything, when everything has one."""
        if self.gaussian or self.concentrated:
            return None
        total = Fraction(0)
        for kind in (self.laplace, self.pure, self.bounded):
            total += sum(loss * count for loss, count in kind.items())
        for (rate, steps), count in self.geometric.items():
            total += rate * steps * count
        return total

    @property
    def rho(self) -> Fraction:
        """Σ ρ of everything as zCDP, rounded up."""
        units = 0
        for loss, count in self.laplace.items():
            units += count * charge(Laplace(1, _above(loss)), "zcdp").units
        for loss, count in self.pure.items():
            units += count * charge(_above(loss), "zcdp").units
        for (rate, steps), count in self.geometric.items():
            noise = Geometric(steps, _above(rate * steps))
            units += count * charge(noise, "zcdp").units
        whole = self.gaussian + self.concentrated + self.bounded_rho
        return whole + Fraction(units, PICO)

    @property
    def bounded_rho(self) -> Fraction:
        """Σ ε²/8 of the exponential mechanisms (Cesar, Rogers 2021, Lemma 3.4)."""
        return sum((e * e * n / 8 for e, n in self.bounded.items()), Fraction(0))

    def readings(self) -> tuple[Spent, ...]:
        """Return the ways to count exponential mechanisms: by their ε, by their ρ."""
        if not self.bounded:
            return (self,)
        by_rho = self.concentrated + self.bounded_rho
        return (
            replace(self, pure=self.pure + self.bounded, bounded=Counter()),
            replace(self, concentrated=by_rho, bounded=Counter()),
        )


def read_descriptors(entries: Iterable[Mapping[str, object]]) -> Spent:
    """Add up descriptors.

    ==================================  ========================================
    ``laplace``                         ``sensitivity``, ``scale``
    ``geometric``                       ``sensitivity`` (an integer), ``scale``
    ``gaussian``                        ``squared_sensitivity``, ``variance``
    ``discrete_gaussian``               the same; only its ρ is used
    ``pure``, ``randomised_response``   ``epsilon``
    ``k_norm``                          ``epsilon``; as ``pure``
    ``permute_and_flip``                ``sensitivity``, ``rate``, ``monotone`` (1 if
                                        all scores move one way); as ``pure``
    ``exponential``                     the same; by its ε or by ε²/8, as is less
    ``zcdp``                            ``rho``
    ==================================  ========================================

    Each may have a ``count`` and a ``delta``; keys that begin with an underscore and
    other facts of the entry are ignored.

    Raises:
        DeclarationError: A kind is unknown, or a parameter missing or out of range.

    Examples:
        >>> spent = read_descriptors([describe(Laplace(250, "0.5"), count=2)])
        >>> spent.laplace
        Counter({Fraction(1, 2): 2})
    """
    spent = Spent()
    for entry in entries:
        _add(spent, entry)
    return spent


def _add(spent: Spent, entry: Mapping[str, object]) -> None:
    count = _number(entry, "count", Fraction(1))
    if count.denominator != 1:
        raise _wrong(entry, "count")
    times = int(count)
    spent.delta += times * _number(entry, "delta", Fraction(0))
    kind = entry.get("kind")
    match kind:
        case "laplace":
            loss = _number(entry, "sensitivity") / _number(entry, "scale")
            spent.laplace[loss] += times
        case "geometric":
            steps = _number(entry, "sensitivity")
            if steps.denominator != 1:
                raise _wrong(entry, "sensitivity")
            spent.geometric[1 / _number(entry, "scale"), int(steps)] += times
        case "gaussian":
            spent.gaussian += times * _gaussian(entry)
        case "discrete_gaussian":
            spent.concentrated += times * _gaussian(entry)
        case "pure" | "randomised_response" | "k_norm":
            spent.pure[_number(entry, "epsilon")] += times
        case "permute_and_flip" | "exponential":
            sides = 1 if entry.get("monotone") == 1 else 2
            loss = sides * _number(entry, "sensitivity") * _number(entry, "rate")
            exact = spent.bounded if kind == "exponential" else spent.pure
            exact[loss] += times
        case "zcdp":
            spent.concentrated += times * _number(entry, "rho")
        case _:
            raise _wrong(entry, "kind")


def _gaussian(entry: Mapping[str, object]) -> Fraction:
    return _number(entry, "squared_sensitivity") / (2 * _number(entry, "variance"))


def _number(
    entry: Mapping[str, object], name: str, default: Fraction | None = None
) -> Fraction:
    """Read a parameter: greater than 0, and at least 0 where there is a default."""
    if name not in entry and default is not None:
        return default
    number = exact(entry.get(name))
    if number is None or number < 0 or (not number and default is None):
        raise _wrong(entry, name)
    return number


def _wrong(entry: Mapping[str, object], name: str) -> DeclarationError:
    return DeclarationError(
        N_("the descriptor {entry} has no usable {name}"),
        hint=N_("the entry was written by another version, or was edited"),
        entry=repr(dict(entry))[:200],
        name=name,
    )


def _above(loss: Fraction) -> Epsilon:
    """Return a loss of whole units at or above the exact one."""
    return Epsilon.from_units(-(-loss.numerator * PICO // loss.denominator))
