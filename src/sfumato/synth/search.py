"""Which tables to measure: chosen privately, measured, fitted; round by round or at once.

Everything private goes through the purse, which knows what is left. A score is the L1
error of the model's table, less what noise alone would leave (McKenna, Mullins, Sheldon,
Miklau 2022, VLDB 15(11), AIM); the choice of many tables at once follows the noisy
errors of all (as in SWIFT, Google 2026).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod, sqrt
from typing import Any, final

import numpy as np

from sfumato.account import Epsilon, Loss
from sfumato.declare.unit import PrivacyUnit
from sfumato.engine.contingency import FARTHEST, FINE, Choose, Measure, Rate, Tables
from sfumato.gate import Purse
from sfumato.plan.contingency import fraction, noise_of
from sfumato.secret import Secret
from sfumato.synth.estimate import Noisy, fit, total_of
from sfumato.synth.model import Array, Model
from sfumato.synth.tree import Axes, cells_of

__all__ = ["Search", "candidates", "deviation", "in_rows", "split"]

_LARGEST = 10_000  # cells of a candidate
_ROUND_STEPS, _LAST_STEPS = 100, 500
_WEIGHTS = 1 << 10  # weights are whole numbers up to this
_LEAST = 2.0**-20  # rows of noise below which a table is as good as exact
_UNLIKE = 1 << 20  # no table gets less than another by more than that

Count = Callable[[Sequence[Axes]], Secret[Tables]]
Progress = Callable[[int, int], None]


@final
@dataclass(slots=True)
class Search:
    """A model that grows: what is known, what is left, and whom to ask.

    Attributes:
        sizes: Bins of each column.
        unit: The neighbour relation.
        purse: What is left of the charge.
        count: Counts tables over columns, sealed.
        noisy: All that was measured so far.
        base: Log-weights of forbidden combinations.
        weights: For a table, how much its error counts.
        room: The most cells of the junction tree.
        penalty: τ of the estimate.
        known_total: The public number of rows, if it is public.
        progress: Told of each round: which, of how many.
        bought: Tables that were measured, with the share that each cost.
    """

    sizes: tuple[int, ...]
    unit: PrivacyUnit
    purse: Purse
    count: Count
    noisy: list[Noisy]
    base: list[tuple[Axes, Array]]
    weights: Mapping[Axes, float]
    room: int
    penalty: float = 0.7
    known_total: int | None = None
    progress: Progress = lambda done, rounds: None  # noqa: ARG005
    bought: list[tuple[Axes, Loss, tuple[int, ...]]] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Estimated number of rows, or the public one."""
        return float(self.known_total or total_of(self.noisy))

    def fitted(
        self, warm: Mapping[Axes, Array] | None = None, steps: int = _ROUND_STEPS
    ) -> tuple[Model, dict[Axes, Array]]:
        """Fit the model to all that is known."""
        return fit(
            self.sizes, self.noisy, self.total, penalty=self.penalty, warm=warm,
            base=self.base, steps=steps,
        )  # fmt: skip

    def measure(
        self, sealed: Secret[Tables], asked: Sequence[tuple[int, Axes, Loss]]
    ) -> None:
        """Measure tables and keep what they tell."""
        places, shares = tuple(p for p, _, _ in asked), tuple(s for _, _, s in asked)
        found = self.purse.measure(sealed, Measure(places, shares))
        for (_, axes, share), counts in zip(asked, found, strict=True):
            sigma = deviation(share, self.unit)
            self.noisy.append(Noisy(axes, in_rows(counts, self.unit), sigma))
            self.bought.append((axes, share, tuple(counts)))

    def fixed(self, tables: Sequence[Axes], loss: Loss) -> None:
        """Measure the tables that were asked for by name."""
        shares = _shared(loss, [self.cells(t) ** (2 / 3) for t in tables])
        asked = [(i, t, s) for i, (t, s) in enumerate(zip(tables, shares, strict=True))]
        self.measure(self.count(tables), asked)

    def adaptive(
        self, tables: Sequence[Axes], rounds: int, choosing: Loss, measuring: Loss
    ) -> None:
        """Choose, measure and fit, round by round, each round knowing the last one."""
        sealed = self.count(tables)
        choices, shares = split(choosing, [1] * rounds), split(measuring, [1] * rounds)
        model, warm = self.fitted()
        for k in range(rounds):
            self.progress(k, rounds)
            fitting = self._fitting(tables, self.room * (k + 1) // rounds)
            if not fitting:
                break
            noise = noise_of(shares[k], self.unit).mean_absolute_error / fraction(
                self.unit
            )
            asked = self._choose(tables, fitting, model, noise, choices[k])
            place = fitting[self.purse.choose(sealed, asked)]
            self.measure(sealed, [(place, tables[place], shares[k])])
            model, warm = self.fitted(warm)

    def at_once(
        self, tables: Sequence[Axes], most: int, choosing: Loss, measuring: Loss
    ) -> None:
        """Choose all tables first, then measure them with the best shares, once."""
        sealed = self.count(tables)
        model, _ = self.fitted()
        if isinstance(choosing, Epsilon):
            chosen = self._peel(sealed, tables, model, most, choosing)
        else:
            chosen = self._rated(sealed, tables, model, choosing, measuring)
        if not chosen:
            return
        power = 1 / 2 if isinstance(measuring, Epsilon) else 2 / 3
        worth = [
            (self._weight(tables[i]) * self.cells(tables[i])) ** power for i in chosen
        ]
        shares = _shared(measuring, worth)
        self.measure(
            sealed, [(i, tables[i], s) for i, s in zip(chosen, shares, strict=True)]
        )

    def cells(self, axes: Axes) -> int:
        """Return the cells of a table."""
        return prod(self.sizes[x] for x in axes)

    def _weight(self, axes: Axes) -> float:
        return float(self.weights.get(axes, 1.0))

    def _fitting(
        self, tables: Sequence[Axes], room: int, taken: Sequence[Axes] = ()
    ) -> list[int]:
        """Return the tables that the junction tree has room for, beside those taken."""
        measured = [*(m.axes for m in self.noisy), *(a for a, _ in self.base), *taken]
        inside = {frozenset(a) for a in measured}
        return [
            i
            for i, axes in enumerate(tables)
            if frozenset(axes) in inside
            or cells_of(self.sizes, [*measured, axes]) <= room
        ]

    def _choose(
        self,
        tables: Sequence[Axes],
        fitting: Sequence[int],
        model: Model,
        noise: float,
        share: Loss,
    ) -> Choose:
        total = self.total
        top = max(self._weight(tables[i]) for i in fitting)
        weights = tuple(
            max(1, round(_WEIGHTS * self._weight(tables[i]) / top)) for i in fitting
        )
        if len(set(weights)) == 1:
            weights = (1,) * len(fitting)
        return Choose(
            tuple(fitting),
            tuple(self._predicted(model, tables[i], total) for i in fitting),
            weights,
            tuple(
                round(w * noise * self.cells(tables[i]) * FINE)
                for w, i in zip(weights, fitting, strict=True)
            ),
            share,
        )

    def _predicted(self, model: Model, axes: Axes, total: float) -> Any:
        counts = np.rint(model.marginal(axes).ravel() * (total * FINE))
        return np.minimum(counts, FARTHEST).astype(np.int64)

    def _peel(
        self,
        sealed: Secret[Tables],
        tables: Sequence[Axes],
        model: Model,
        most: int,
        choosing: Loss,
    ) -> list[int]:
        """Choose one by one without fitting between: permute-and-flip, repeated."""
        chosen: list[int] = []
        for share in split(choosing, [1] * most):
            taken = [tables[j] for j in chosen]
            room = [
                i for i in self._fitting([*tables], self.room, taken) if i not in chosen
            ]
            if not room:
                break
            asked = self._choose(tables, room, model, 0.0, share)
            chosen.append(room[self.purse.choose(sealed, asked)])
        return chosen

    def _rated(
        self,
        sealed: Secret[Tables],
        tables: Sequence[Axes],
        model: Model,
        choosing: Loss,
        measuring: Loss,
    ) -> list[int]:
        """Rate all tables at once and keep the set that gains most over its noise.

        With errors e and noise, a set S gains Σ w·e - (Σ y)^(3/2) · σ(1), where
        y = (w · cells · √(2/π))^(2/3): the least noise its tables can have for the price.
        """
        total = self.total
        asked = Rate(
            tuple(range(len(tables))),
            tuple(self._predicted(model, t, total) for t in tables),
            choosing,
        )
        errors = [e / FINE for e in self.purse.rate(sealed, asked)]
        unit = float(noise_of(measuring, self.unit).scale) / fraction(self.unit)
        worth = [self._weight(t) * e for t, e in zip(tables, errors, strict=True)]
        price = [
            (self._weight(t) * self.cells(t) * sqrt(2 / np.pi)) ** (2 / 3)
            for t in tables
        ]
        order = sorted(range(len(tables)), key=lambda i: -worth[i] / price[i])
        chosen: list[int] = []
        gain, paid, best = 0.0, 0.0, 0.0
        held = [m.axes for m in self.noisy] + [a for a, _ in self.base]
        for i in order:
            value = gain + worth[i] - (paid + price[i]) ** 1.5 * unit
            if worth[i] <= 0 or value <= best:
                break
            trial = [*held, *(tables[j] for j in chosen), tables[i]]
            if cells_of(self.sizes, trial) > self.room:
                continue
            best, gain, paid = value, gain + worth[i], paid + price[i]
            chosen.append(i)
        return chosen


def deviation(share: Loss, unit: PrivacyUnit) -> float:
    """Return the standard deviation, in rows, of the noise that a share buys.

    Never 0, whatever was spent: tables are weighed by its inverse.
    """
    return max(_LEAST, sqrt(float(noise_of(share, unit).variance)) / fraction(unit))


def in_rows(counts: Sequence[int], unit: PrivacyUnit) -> Array:
    """Return the counts of a table in rows; of people, of weighed rows."""
    found: Array = np.array(counts, np.float64) / fraction(unit)
    return found


def split(loss: Loss, weights: Iterable[float]) -> tuple[Loss, ...]:
    """Split a loss in proportion to weights, in whole units that sum to it exactly."""
    whole = [max(1, round(w * 2**20)) for w in weights]
    found: tuple[Loss, ...] = loss.split(whole)
    return found


def _shared(loss: Loss, worth: Sequence[float]) -> tuple[Loss, ...]:
    """Split a loss among tables so that none gets nothing: it is paid already."""
    unlike = max(1, min(_UNLIKE, loss.units // (4 * len(worth))))
    least = max(worth) / unlike
    return split(loss, [max(w / least, 1.0) for w in worth])


def candidates(
    sizes: Sequence[int], ways: int, largest: int = _LARGEST
) -> tuple[Axes, ...]:
    """Return the tables over 2 (to `ways`) columns that are small enough to choose.

    Examples:
        >>> candidates([2, 3, 1, 4], 2)
        ((0, 1), (0, 3), (1, 3))
    """
    real = [x for x, n in enumerate(sizes) if n > 1]
    return tuple(
        axes
        for k in range(2, ways + 1)
        for axes in combinations(real, k)
        if prod(sizes[x] for x in axes) <= largest
    )
