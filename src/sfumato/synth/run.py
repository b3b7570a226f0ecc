"""Carry out a paid plan: count, add noise, choose, fit. The order is the guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from sfumato.account import Epsilon, Loss
from sfumato.engine.contingency import Counter, Measure, Tables, count_tables
from sfumato.errors import SfumatoError
from sfumato.gate import Purse
from sfumato.plan.contingency import Coding, TablePlan, TableQuery
from sfumato.release import Receipt
from sfumato.secret import Quiet, Secret
from sfumato.synth.coded import Columns
from sfumato.synth.depend import Dependent, told_by
from sfumato.synth.estimate import Noisy, total_of
from sfumato.synth.grids import Binning, Grid, merge
from sfumato.synth.made import Made, Measured
from sfumato.synth.model import Array
from sfumato.synth.options import Options
from sfumato.synth.prior import public_weights
from sfumato.synth.rules import masks
from sfumato.synth.search import Search, candidates, deviation, in_rows, split
from sfumato.synth.tree import Axes, cells_of

__all__ = ["MOST_KEYS", "Layout", "make", "shares_of"]

MOST_KEYS = 64  # bins of a column of keys
_THIN = 0.1  # error of single columns, from noise alone, that asks for more of them
_PENALTY = {False: 0.5, True: 1.0}  # the rule is public: thin by noisy counts
_TOLD = 0.1  # share of what tells dependent columns
_AT_ONCE = 2  # tables per column that pure ε chooses at once


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """What was decided before a row is read.

    Attributes:
        plan: What was paid for.
        options: The settings.
        grids: The fine cells of each column.
        room: The most cells of the junction tree.
        dependents: The columns that others determine.
        start: What an earlier release of the same table left behind.
        public: Rows of a public table, by their columns.
    """

    plan: TablePlan
    options: Options
    grids: tuple[Grid, ...]
    room: int
    dependents: tuple[Dependent, ...] = ()
    start: Made | None = None
    public: Columns | None = None

    @property
    def learned(self) -> tuple[Dependent, ...]:
        """The dependent columns whose table must be measured."""
        return tuple(d for d in self.dependents if d.places is None)


def shares_of(options: Options, loss: Loss) -> tuple[float, float, float]:
    """Return the shares of single columns, of choosing, and of measuring tables.

    Under ρ the first is what is spent at once; it is topped up where rows are few.
    Under pure ε noise does not average out so well, so it is spent in one go.
    """
    if options.method == "independent":
        return 1.0, 0.0, 0.0
    first = 0.4 if isinstance(loss, Epsilon) else 0.2
    return first, 0.1, 0.9 - first


def make(
    layout: Layout,
    engine: Counter,
    receipt: Receipt,
    progress: Callable[[int, int], None],
) -> Made:
    """Measure and fit.

    Raises:
        EngineError: Something failed; one fixed text. The debit stands.
    """
    with Quiet(SfumatoError) as work:  # after the debit no text may carry a cell
        return _make(layout, engine, receipt, progress)
    raise work.stop


def _make(
    layout: Layout,
    engine: Counter,
    receipt: Receipt,
    progress: Callable[[int, int], None],
) -> Made:
    plan, options = layout.plan, layout.options
    purse, loss = Purse(plan, receipt), plan.cost
    dependents, told = layout.dependents, list[Measured]()
    if layout.learned:
        share, loss = split(loss, [_TOLD, 1 - _TOLD])
        dependents, told = _learn(layout, engine, purse, share)
    one, choosing, measuring = shares_of(options, loss)
    fine = TableQuery(
        plan.schema,
        tuple(g.coding for g in layout.grids),
        tuple((i,) for i in range(len(layout.grids))),
    )
    sealed = count_tables(engine, fine)
    singles = _Singles(layout, purse, sealed)
    rest: tuple[Loss, ...]
    if layout.start is not None and choosing:  # they are known already
        rest = split(loss, [choosing, 1 - choosing])
    else:
        parts = split(loss, [one, choosing, measuring]) if choosing else (loss,)
        singles.measure(parts[0])
        rest = parts[1:]
    thin = singles.error > _THIN
    if rest and thin and not isinstance(plan.cost, Epsilon):
        more, left = split(rest[1], [0.3, measuring - 0.3])
        singles.measure(more)
        rest = (rest[0], left)
    binnings = singles.binnings()
    search = _search(layout, engine, purse, binnings, progress)
    search.penalty = _PENALTY[thin]
    if layout.start is not None:
        search.noisy += tables_of(layout.start)
    if layout.public is not None:
        _lean(search, layout, public_weights(binnings, layout.public))
    if rest:
        _grow(search, layout, rest[0], rest[1])
    if purse.left.units:  # whatever no table was worth
        search.fixed([(i,) for i in range(len(binnings))], purse.left)
    model, _ = search.fitted(steps=500)
    progress(1, 1)
    return Made(
        schema=plan.schema,
        options=options,
        binnings=tuple(binnings),
        model=model,
        measured=(
            *(layout.start.measured if layout.start else ()),
            *told,
            *singles.bought,
            *(Measured(a, s, c) for a, s, c in search.bought),
        ),
        secure=purse.secure,
        dependents=dependents,
        earlier=len(layout.start.measured) if layout.start else 0,
    )


def _lean(search: Search, layout: Layout, base: Sequence[tuple[Axes, Array]]) -> None:
    """Begin with what public rows tell, as far as the junction tree has room."""
    names = [g.name for g in layout.grids]
    held = [tuple(sorted(names.index(c) for c in t)) for t in layout.options.tables]
    held += [m.axes for m in search.noisy] + [axes for axes, _ in search.base]
    for axes, weights in base:
        if len(axes) == 1 or cells_of(search.sizes, [*held, axes]) <= search.room:
            held.append(axes)
            search.base.append((axes, weights))


def tables_of(made: Made) -> list[Noisy]:
    """Return the tables of two and more columns that an earlier release measured."""
    unit = made.schema.unit
    return [
        Noisy(m.axes, in_rows(m.counts, unit), deviation(m.share, unit))
        for m in made.measured
        if not m.fine
    ]


def _learn(
    layout: Layout, engine: Counter, purse: Purse, loss: Loss
) -> tuple[tuple[Dependent, ...], list[Measured]]:
    """Measure what each source tells of its dependent columns."""
    grids_ = {g.name: g for g in layout.grids} | {
        d.name: d.grid for d in layout.learned
    }
    names = list(grids_)
    codings = tuple(g.coding for g in grids_.values())
    sets = tuple((names.index(d.source), names.index(d.name)) for d in layout.learned)
    sealed = count_tables(engine, TableQuery(layout.plan.schema, codings, sets))
    shares = split(loss, [1] * len(sets))
    found = purse.measure(sealed, Measure(tuple(range(len(sets))), shares))
    unit, places, bought = layout.plan.schema.unit, {}, []
    for told, share, counts in zip(layout.learned, shares, found, strict=True):
        places[told.name] = told_by(told, grids_[told.source], in_rows(counts, unit))
        bought.append(
            Measured((), share, tuple(counts), fine=True, dependent=told.name)
        )
    learned = tuple(
        replace(d, places=places.get(d.name, d.places)) for d in layout.dependents
    )
    return learned, bought


@final
class _Singles:
    """The single columns, measured on their fine cells once or twice."""

    def __init__(self, layout: Layout, purse: Purse, sealed: Secret[Tables]) -> None:
        self._layout, self._purse, self._sealed = layout, purse, sealed
        self.bought: list[Measured] = []
        self._known: tuple[Measured, ...] = ()
        if layout.start is not None:
            measured = layout.start.measured
            self._known = tuple(m for m in measured if m.fine and not m.dependent)

    def measure(self, loss: Loss) -> None:
        places = tuple(range(len(self._layout.grids)))
        shares = split(loss, [1] * len(places))
        found = self._purse.measure(self._sealed, Measure(places, shares))
        self.bought += [
            Measured((i,), share, tuple(counts), fine=True)
            for i, share, counts in zip(places, shares, found, strict=True)
        ]

    @property
    def _noisy(self) -> list[Noisy]:
        unit = self._layout.plan.schema.unit
        return [
            Noisy(m.axes, in_rows(m.counts, unit), deviation(m.share, unit))
            for m in (*self._known, *self.bought)
        ]

    @property
    def total(self) -> float:
        return float(self._layout.plan.schema.unit.rows or total_of(self._noisy))

    @property
    def error(self) -> float:
        """Half the L1 error that noise makes in a column, in shares of the rows."""
        noisy, bins = self._noisy, self._layout.options.bins
        cells = [min(len(m.counts), MOST_KEYS if g.coding.places else bins)
                 for m, g in zip(noisy, self._layout.grids, strict=False)]  # fmt: skip
        sigma = float(np.mean([m.deviation for m in noisy]))
        return 0.4 * sigma * float(np.mean(cells)) / self.total

    def binnings(self) -> list[Binning]:
        """Merge the fine cells, by all that was measured."""
        total, options = self.total, self._layout.options
        found = []
        for i, grid in enumerate(self._layout.grids):
            own = [m for m in self._noisy if m.axes == (i,)]
            weights = np.array([1 / float(m.deviation) ** 2 for m in own])
            counts = (
                sum(w * m.counts for w, m in zip(weights, own, strict=True))
                / weights.sum()
            )
            sigma = float(weights.sum() ** -0.5)
            start = self._layout.start
            if start is not None:  # its tables are told in its bins
                held = tuple(map(float, counts))
                found.append(replace(start.binnings[i], counts=held, deviation=sigma))
                continue
            found.append(
                merge(grid, counts, sigma, total, bins=options.bins, most=MOST_KEYS)
            )
        return found


def _search(
    layout: Layout,
    engine: Counter,
    purse: Purse,
    binnings: Sequence[Binning],
    progress: Callable[[int, int], None],
) -> Search:
    schema = layout.plan.schema
    codings: tuple[Coding, ...] = tuple(b.coding for b in binnings)

    def count(sets: Sequence[Axes]) -> Secret[Tables]:
        return count_tables(engine, TableQuery(schema, codings, tuple(sets)))

    names = [g.name for g in layout.grids]
    return Search(
        sizes=tuple(c.count for c in codings),
        unit=schema.unit,
        purse=purse,
        count=count,
        noisy=[Noisy((i,), b.gathered, b.deviations) for i, b in enumerate(binnings)],
        base=masks(binnings, layout.options.forbid),
        weights=_Weights(layout.options.weights, names),
        room=layout.room,
        known_total=schema.unit.rows,
        progress=progress,
    )


@final
class _Weights(dict[Axes, float]):
    """The weight of a table: its own, or the largest of its columns'."""

    def __init__(
        self, given: Sequence[tuple[tuple[str, ...], float]], names: Sequence[str]
    ) -> None:
        super().__init__()
        for columns, weight in given:
            axes = tuple(sorted(names.index(c) for c in columns if c in names))
            self[axes] = weight

    def get(self, key: Axes, default: Any = 1.0) -> Any:
        if key in self:
            return self[key]
        return max((self[x,] for x in key if (x,) in self), default=default)


def _grow(search: Search, layout: Layout, choosing: Loss, measuring: Loss) -> None:
    options = layout.options
    names = [g.name for g in layout.grids]
    if options.tables:
        wanted = [tuple(sorted(names.index(c) for c in t)) for t in options.tables]
        share, measuring = split(measuring, [0.5, 0.5])
        search.fixed(wanted, share)
    tables = candidates(search.sizes, options.ways)
    if not tables:
        return
    columns = sum(n > 1 for n in search.sizes)
    if options.method == "oneshot":
        most = options.rounds or min(len(tables), _AT_ONCE * columns)
        search.at_once(tables, most, choosing, measuring)
        return
    rounds = options.rounds or _rounds(search, columns)
    search.adaptive(tables, min(rounds, 2 * len(tables)), choosing, measuring)


def _rounds(search: Search, columns: int) -> int:
    """Return the public rule for the number of rounds: more where noise is small."""
    error = np.mean([np.mean(m.deviation) * m.counts.size for m in search.noisy])
    clear = 0.4 * float(error) / search.total
    return max(1, columns - 1) if clear > _THIN / 2 else max(columns - 1, 20)
