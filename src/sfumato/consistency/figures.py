"""Figures of releases → a vector, the variances of its noise, and places of members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import exp, expm1
from typing import Any, final

import numpy as np

from sfumato.consistency.constraint import Constraint, Members, Parts
from sfumato.consistency.system import Floats, Placed, Places
from sfumato.errors import ArgumentError, nearest, quoted
from sfumato.release import Figure, Noise, Release
from sfumato.words import N_

__all__ = ["Named", "Numbered", "variance"]

_ADDITIVE = ("count", "people", "sum", "histogram", "crosstab")


def variance(figure: Figure) -> float:
    """Return the variance of a figure's noise, in its squared unit.

    Raises:
        ArgumentError: The figure is no sum: its noise has no one variance.
    """
    if figure.kind not in _ADDITIVE or len(figure.noise) > 1:
        raise ArgumentError(
            N_("{name} is no count or sum with noise of its own, but a {kind}"),
            hint=N_(
                "adjust counts, histograms, tables and sums, in a release of their own; "
                "means follow from them"
            ),
            name=repr(figure.name),
            kind=figure.kind,
        )
    return sum(_law_variance(noise) * noise.step**2 for noise in figure.noise)


def _law_variance(noise: Noise) -> float:
    scale = float(Fraction(noise.scale))
    match noise.law:
        case "geometric" | "truncated_geometric":  # cut off, it varies less
            return 2 * exp(-1 / scale) / expm1(-1 / scale) ** 2
        case "k_norm":  # uniform in a box of size Gamma(joint + 1)
            return scale**2 * (noise.joint + 1) * (noise.joint + 2) / 3
        case _:
            return scale**2


@final
class Numbered:
    """The members of an array are places."""

    private = True  # as far as anybody said

    def __init__(self, size: int) -> None:
        """Remember the length."""
        self._size = size

    def place(self, constraint: Constraint) -> list[Placed]:
        """Return the constraint on places.

        Raises:
            ArgumentError: A place is no whole number within the array.
        """
        if isinstance(constraint, Parts):
            whole = self._places(constraint.whole)
            if len(whole) != 1:
                raise _one_whole()
            return [Placed(constraint, self._places(constraint.parts), int(whole[0]))]
        return [Placed(constraint, self._places(constraint.members))]

    def _places(self, members: Members) -> Places:
        if members is None:
            return np.arange(self._size)
        try:
            places = np.atleast_1d(np.asarray(members))
        except (TypeError, ValueError):
            places = np.array([""])
        whole = places.dtype.kind in "iu" or not places.size
        inside = whole and ((places >= 0) & (places < self._size)).all()
        if places.ndim != 1 or not inside:
            raise ArgumentError(
                N_("members of an array are places from 0 to {last}"),
                hint=N_("write, for example, Total(768, members=[0, 1, 2])"),
                last=self._size - 1,
            )
        return places.astype(np.int64)


@final
class Named:
    """The members of releases are their figures, or names of figures."""

    def __init__(self, releases: Sequence[Release]) -> None:
        """Number all figures, in order.

        Raises:
            ArgumentError: A measurement is given twice: its copies have one noise, and
                would be weighed as if each had its own.
        """
        _check_once(releases)
        self.figures: tuple[Figure, ...] = tuple(f for r in releases for f in r.figures)
        self.private = all(r.claim.private for r in releases)
        self._places = {id(f): i for i, f in enumerate(self.figures)}
        self._names: dict[str, list[int]] = {}
        for i, figure in enumerate(self.figures):
            self._names.setdefault(figure.name, []).append(i)

    def values(self) -> Floats:
        """Return the estimates."""
        return np.array([f.estimate for f in self.figures], dtype=np.float64)

    def variances(self) -> Floats:
        """Return the variances of the noise."""
        return np.array([variance(f) for f in self.figures], dtype=np.float64)

    def place(self, constraint: Constraint) -> list[Placed]:
        """Return the constraint on places: one for each whole that it names.

        Raises:
            ArgumentError: A member is no figure of the releases, or a whole has no part.
        """
        if not isinstance(constraint, Parts):
            return [Placed(constraint, self._find(constraint.members))]
        wholes, parts = self._find(constraint.whole), self._find(constraint.parts)
        if len(wholes) == 1:
            parts = parts[parts != wholes[0]]
            return [self._whole(constraint, int(wholes[0]), parts)]
        return [self._whole(constraint, int(w), self._within(w, parts)) for w in wholes]

    def _whole(self, constraint: Parts, whole: int, parts: Places) -> Placed:
        if not len(parts):
            raise ArgumentError(
                N_("{constraint} finds no part of {name} in its group"),
                hint=N_("name figures whose groups lie within the group of the sum"),
                constraint=str(constraint),
                name=repr(self.figures[whole].name),
            )
        return Placed(constraint, parts, whole)

    def _within(self, whole: int, parts: Places) -> Places:
        group = self.figures[whole].group.items()
        inside = [p for p in parts if group <= self.figures[p].group.items()]
        return np.array([p for p in inside if p != whole], dtype=np.int64)

    def _find(self, members: Members) -> Places:
        if members is None:
            return np.arange(len(self.figures))
        return np.array(list(self._each(members)), dtype=np.int64)

    def _each(self, members: Any) -> Iterable[int]:
        if isinstance(members, str):
            if members not in self._names:
                raise ArgumentError(
                    N_("there is no figure named {name}"),
                    hint=N_("the names are {names}"),
                    name=repr(members),
                    names=nearest(members, self._names),
                )
            yield from self._names[members]
        elif isinstance(members, Figure):
            if id(members) not in self._places:
                raise ArgumentError(
                    N_("{name} is a figure of another release"),
                    hint=N_("give consistent() every release that has a part in it"),
                    name=repr(members.name),
                )
            yield self._places[id(members)]
        elif isinstance(members, Iterable):
            for one in members:
                yield from self._each(one)
        else:
            raise ArgumentError(
                N_("members of a release are figures or their names, got {value}"),
                hint=N_('write, for example, Parts("count", "histogram_Age")'),
                value=quoted(members),
            )


def _check_once(releases: Sequence[Release]) -> None:
    """Refuse copies: they are no independent measurements, as every variance needs."""
    for i, release in enumerate(releases):
        if any(r.claim.receipt == release.claim.receipt for r in releases[:i]):
            raise ArgumentError(
                N_("the release {title} is given twice"),
                hint=N_(
                    "give it once: a copy has the same noise and tells nothing more"
                ),
                title=repr(release.title),
            )
        told: dict[object, str] = {}
        for name, asked in _asked(release).items():
            if asked in told:
                raise ArgumentError(
                    N_("{name} and {other} are one measurement under two names"),
                    hint=N_("ask for it once: a copy tells nothing more"),
                    name=repr(told[asked]),
                    other=repr(name),
                )
            told[asked] = name


def _asked(release: Release) -> dict[str, object]:
    """Return by name what was measured: equal where one measurement gave both.

    Only of counts and sums, as all others are refused for what they are: two quantiles of
    a column differ in their names alone.
    """
    found: dict[str, list[object]] = {}
    for f in release.figures:
        if f.kind not in _ADDITIVE:
            continue
        place = tuple(f.group.items()), f.bin, f.other_bin
        one = f.kind, f.column, f.other, f.noise, place
        found.setdefault(f.name, []).append(one)
    return {name: tuple(told) for name, told in found.items()}


def _one_whole() -> ArgumentError:
    return ArgumentError(
        N_("the whole of Parts must be one figure"),
        hint=N_("write one Parts for each sum"),
    )
