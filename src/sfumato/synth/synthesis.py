"""A synthetic table that was made: rows, record, answers of its model, and its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, assert_never, final

import numpy as np

from sfumato.account import Budget, Gaussian, epsilon_at, told_delta
from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Integer, Real
from sfumato.errors import ArgumentError, DeclarationError, quoted
from sfumato.noise import FixedStream, Stream, default
from sfumato.plan.contingency import Coding, TablePlan, fraction, noise_of
from sfumato.release import Claim, Person, Receipt
from sfumato.release.record import Noise
from sfumato.release.synthetic import MadeColumn, NoisyTable, SyntheticRelease
from sfumato.synth.arguments import check_path, check_seed, check_where
from sfumato.synth.balance import balanced_bins
from sfumato.synth.depend import cells_by_source, met_by_source
from sfumato.synth.draw import Bins
from sfumato.synth.grids import Binning, Grid
from sfumato.synth.made import Made, Measured
from sfumato.synth.rules import Condition, selected
from sfumato.synth.table import SyntheticTable, surrogate
from sfumato.synth.values import Values, decode, fine_cells
from sfumato.words import N_

__all__ = ["Synthesis", "drawn_columns", "labels"]

_MOST_ROWS = 100_000_000


@final
class Synthesis:
    """The model of a synthetic table and its record. Public: nothing private is inside.

    Attributes:
        release: What was measured, at which cost, under which claim.
    """

    __slots__ = ("made", "release")

    def __init__(self, made: Made, release: SyntheticRelease) -> None:
        """Keep both; made by `Synthesizer.fit` and `load`."""
        self.made, self.release = made, release

    @classmethod
    def of(  # noqa: PLR0913  all but the first four are options
        cls,
        made: Made,
        plan: TablePlan,
        receipt: Receipt,
        budget: Budget,
        *,
        title: str,
        start: tuple[Claim, ...] = (),
        budgets: tuple[str, ...] = (),
    ) -> Synthesis:
        """Write the record of what was made."""
        private = made.secure and all(claim.private for claim in start)
        claim = _claim(plan, receipt, told_delta(budget), private=private)
        record = SyntheticRelease(
            title=title,
            method=made.options.method,
            claim=claim,
            columns=_columns(made),
            tables=tuple(_table(made, m) for m in made.measured[made.earlier :]),
            total=made.model.total,
            start=start,
            budgets=budgets or (receipt.dataset,),
        )
        return cls(made, record)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, surrogates first."""
        return (*self.made.options.surrogates, *self.made.names)

    def sample(
        self,
        rows: int | None = None,
        *,
        where: Mapping[str, Condition] | None = None,
        seed: int | None = None,
    ) -> SyntheticTable:
        """Draw rows; as often as you like, it costs nothing.

        Args:
            rows: How many; default the estimated number of rows of the private table.
            where: Only rows that meet these conditions: ``{"Outcome": 1}``; a value, a
                list of values, none for missing, or for numbers a pair (low, high),
                read to the nearest cell of the grid.
            seed: Draw the same rows again. This is no test seed: what was measured
                stays private whatever the rows are drawn with.

        Raises:
            ArgumentError: The number of rows is out of range, or the seed no whole number.
            DeclarationError: A condition does not fit, or the model holds no such rows.
        """
        about = min(round(self.made.model.total), _MOST_ROWS)
        count: Any = about if rows is None else rows
        if not _is_count(count):
            raise ArgumentError(
                N_("the number of rows must be a whole number, got {value}"),
                hint=N_("write sample(1000)"),
                value=quoted(rows),
            )
        check_seed(seed)
        stream = default() if seed is None else FixedStream(seed)
        model, binnings = self.made.model, list(self.made.binnings)
        check_where(where)
        if where:
            evidence = [self._evidence(binnings, *item) for item in where.items()]
            model = model.given(evidence)
        bins = balanced_bins(model, count, stream)
        columns = [surrogate(name, count) for name in self.made.options.surrogates]
        columns += drawn_columns(self.made, binnings, bins, stream)
        return SyntheticTable(tuple(columns), self.release.claim)

    def marginal(self, *columns: str) -> np.ndarray[Any, Any]:
        """Return the model's shares over the bins of these columns: no sampling noise.

        Raises:
            DeclarationError: No column, one twice, or one that is not made.
        """
        if not columns or len(set(map(str, columns))) < len(columns):
            raise DeclarationError(
                N_("shares are of columns, each named once, got {value}"),
                hint=N_('write marginal("Age", "Outcome")'),
                value=quoted(columns),
            )
        places = [self._place(c) for c in columns]
        axes = tuple(sorted(set(places)))
        found = self.made.model.marginal(axes)
        return np.transpose(found, [axes.index(p) for p in places])

    def save(self, path: str | Path) -> None:
        """Write the model and its record to one file, without pickle."""
        from sfumato.synth.files import save

        check_path(path)
        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Synthesis:
        """Read what `save` wrote.

        Raises:
            ArgumentError: The file is no saved synthesis.
        """
        from sfumato.synth.files import load

        check_path(path)
        return load(Path(path))

    def _place(self, column: str) -> int:
        names = [b.grid.name for b in self.made.binnings]
        _ = self.made.schema[column]
        if column not in names:
            raise DeclarationError(
                N_("column {name} is not made"),
                hint=N_("it has {names}"),
                name=repr(column),
                names=", ".join(map(repr, names)),
            )
        return names.index(column)

    def _evidence(
        self, binnings: list[Binning], column: str, condition: Condition
    ) -> tuple[int, Any]:
        """Return the bins that meet a condition; partly met bins keep those cells only."""
        told = next((d for d in self.made.dependents if d.name == column), None)
        place = self._place(told.source if told else column)
        chosen = (
            met_by_source(told, condition)
            if told
            else selected(binnings[place].grid, condition)
        )
        binnings[place] = binnings[place].restricted(chosen)
        bins = np.zeros(binnings[place].coding.count, bool)
        left = np.asarray(binnings[place].counts) > 0  # by earlier conditions too
        bins[np.asarray(binnings[place].places)[left]] = True
        return place, bins

    def __repr__(self) -> str:
        """Say what was made and what is promised."""
        return f"<Synthesis: {self.release}>"


def drawn_columns(
    made: Made, binnings: Sequence[Binning], bins: Bins, stream: Stream
) -> list[Values]:
    """Return the values of rows whose bins are known, in the order of the schema."""
    cells = {
        b.grid.name: fine_cells(b, x, stream)
        for b, x in zip(binnings, bins, strict=True)
    }
    found = {b.grid.name: decode(b.grid, cells[b.grid.name], stream) for b in binnings}
    for told in made.dependents:
        own = cells_by_source(told, cells[told.source])
        found[told.name] = decode(told.grid, own, stream)
    return [found[name] for name in made.names]


def _is_count(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and 0 <= value <= _MOST_ROWS


def _claim(plan: TablePlan, receipt: Receipt, delta: str, *, private: bool) -> Claim:
    implied = epsilon_at(plan.cost, delta)
    return Claim(
        measure=plan.measure,
        loss=str(plan.cost),
        epsilon=None if implied is None else str(implied),
        delta="0" if plan.measure == "epsilon" else format(Decimal(delta), "f"),
        unit=plan.schema.unit.name,
        neighbours=plan.schema.unit.neighbours,
        size=plan.schema.unit.size,
        receipt=receipt,
        private=private,
        bounds=Person.of(plan.schema.unit),
    )


def _table(made: Made, measured: Measured) -> NoisyTable:
    mechanism = noise_of(measured.share, made.schema.unit)
    law = "geometric"
    scale = str(mechanism.scale)
    if isinstance(mechanism, Gaussian):
        law = "gaussian" if mechanism.law == "whole" else "discrete_gaussian"
        scale = f"{float(mechanism.scale):.12g}"
    codings = made.codings(measured)
    return NoisyTable(
        columns=tuple(c.column for c in codings),
        shape=tuple(c.count for c in codings),
        fine=measured.fine,
        noise=Noise(law, scale, 1 / fraction(made.schema.unit), str(measured.share)),
        counts=measured.counts,
    )


def _columns(made: Made) -> tuple[MadeColumn, ...]:
    """Return what is told of each column, in the order of the schema."""
    held = {b.grid.name: (b.grid, b.coding) for b in made.binnings}
    held |= {d.name: (d.grid, d.grid.coding) for d in made.dependents}
    return tuple(
        MadeColumn(
            name=name,
            kind=type(grid.declared).__name__.lower(),
            cells=grid.coding.count,
            bins=coding.count,
            labels=tuple(labels(grid, coding)),
        )
        for name, (grid, coding) in ((n, held[n]) for n in made.names)
    )


def _value(column: Real | Integer, q: int) -> str:
    if isinstance(column, Date):
        return str(np.datetime64(q, "D"))
    return f"{q * column.step:g}"


def _key(column: Category | Boolean, value: object) -> str:
    """Return a key as the table writes it."""
    if isinstance(column, Boolean):
        return (column.true if value else column.false)[0]
    return str(value)


def labels(grid: Grid, coding: Coding) -> list[str]:
    """Return the bins of a column in words."""
    found: list[str]
    match grid.declared:
        case Real() | Integer() as column:
            ends = [*coding.edges[1:], column.last + 1]
            found = [
                f"{_value(column, e)}–{_value(column, f - 1)}"
                if f - e > 1
                else _value(column, e)
                for e, f in zip(coding.edges, ends, strict=True)
            ]
        case Category() | Boolean() as column:
            keys: dict[int, list[str]] = {}
            for value, bin_ in zip(column.values, coding.places, strict=True):
                keys.setdefault(bin_, []).append(_key(column, value))
            found = [
                names[0] if len(names) == 1 else f"{names[0]}, … ({len(names)})"
                for _, names in sorted(keys.items())
            ]
        case _:
            assert_never(grid.declared)
    return found if grid.complete else [*found, "–"]
