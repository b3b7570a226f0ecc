"""Simulate a project on a public table: errors against loss, clipping and grouping.

Nothing here is private or paid for. The table must be public or synthetic; for the
private one only its owner may look, and must say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.account import Loss
from sfumato.declare.dataset import Dataset
from sfumato.declare.query import Histogram, Query, quantile
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.engine import Engine
from sfumato.engine.load import open_engine
from sfumato.errors import DeclarationError, ProjectError
from sfumato.gate import rehearse
from sfumato.plan import Plan, make_plan
from sfumato.project.advise import Amount
from sfumato.project.load import Asked, Project
from sfumato.release import OwnerRehearsal
from sfumato.words import N_

__all__ = ["Setting", "Stand", "Trial", "frontier", "settings"]

_FREE = 1  # an ε that is never spent: plans without noise need some loss


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """One way to ask one release.

    Attributes:
        release: Its place in the project.
        groups: The columns that it is grouped by.
        clip: Share of the public values kept on each side: 0.99 clips to the 1 % and
            99 % quantiles of the public table; None keeps the declared bounds.
        amount: What it may cost.
    """

    release: int
    groups: tuple[str, ...]
    clip: Fraction | None
    amount: Amount


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a setting.

    Attributes:
        setting: The setting.
        name: Name of a statistic; the error is over all of its groups and bins.
        error: Root mean squared error against the unclipped truth, in its unit.
        bias: Mean error, of which clipping is the cause.
        bounds: The clipping bounds that were used; none for counts.
    """

    setting: Setting
    name: str
    error: float
    bias: float
    bounds: tuple[float, float] | None


def settings(
    project: Project,
    grid: Sequence[Amount],
    clips: Sequence[Fraction | None],
    *,
    coarser: bool,
) -> tuple[Setting, ...]:
    """Return all settings, those that share exact integers beside each other.

    Args:
        project: What is asked.
        grid: Losses to try.
        clips: Clipping quantiles to try.
        coarser: Try each release also with one grouping column left out.
    """
    return tuple(
        Setting(place, groups, clip, amount)
        for place, asked in enumerate(project.releases)
        for groups in _groupings(asked.query, coarser=coarser)
        for clip in (
            clips if _columns(asked.query, project.dataset.schema) else (None,)
        )
        for amount in grid
    )


@final
class Stand:
    """The public table, open, with exact integers kept from setting to setting."""

    def __init__(self, project: Project, table: Dataset) -> None:
        """Open the table.

        Raises:
            SourceError: It cannot be opened as the project declares its columns.
        """
        self._project, self._table = project, table
        self._engines: dict[Schema, Engine] = {table.schema: open_engine(table)}
        self._bounds: dict[tuple[str, Fraction], tuple[float, float]] = {}

    def try_out(self, setting: Setting, runs: int) -> Iterator[Trial]:
        """Simulate a setting; iterate over its statistics.

        Raises:
            ProjectError: The loss is too small to be split.
        """
        asked = self._project.releases[setting.release]
        query = _grouped(asked.query, setting.groups)
        schema, bounds = self._clipped(asked, setting.clip)
        plan = self._plan(query, schema, setting.amount.loss, asked)
        with_noise = self._rehearse(plan, runs)
        full = self._plan(query, self._table.schema, setting.amount.loss, asked)
        truths = self._rehearse(full, 0).truths
        ends = np.cumsum([_cells(plan.groups, s) for s in query.statistics])
        errors = np.split(with_noise.estimates - truths, ends[:-1], axis=1)
        for statistic, found in zip(query.statistics, errors, strict=True):
            yield Trial(
                setting,
                statistic.name,
                float(np.sqrt((found**2).mean())),
                float(found.mean()),
                bounds.get(statistic.column or ""),
            )

    def _rehearse(self, plan: Plan, runs: int) -> OwnerRehearsal:
        """Run a plan on the table as its schema declares it; an engine has one schema."""
        if plan.table not in self._engines:
            table = Dataset(
                self._table.source,
                schema=plan.table,
                name=self._table.name,
                tables=self._table.tables,
            )
            self._engines[plan.table] = open_engine(table)
        return rehearse(plan, self._engines[plan.table].run(plan), runs)

    def _plan(self, query: Query, schema: Schema, loss: Loss, asked: Asked) -> Plan:
        try:
            return make_plan(query, schema, loss, dataset=self._table.name)
        except DeclarationError as error:
            raise ProjectError(
                N_("release {name} cannot be simulated at {loss}: {reason}"),
                hint=N_("leave that loss out of --amounts"),
                name=repr(asked.name),
                loss=loss,
                reason=error.fact,
            ) from None

    def _clipped(
        self, asked: Asked, clip: Fraction | None
    ) -> tuple[Schema, dict[str, tuple[float, float]]]:
        """Return the schema with the clipping bounds of the public table."""
        schema = self._table.schema
        names = _columns(asked.query, schema)
        if clip is None:
            return schema, {n: _ends(schema, n) for n in names}
        found = {name: self._quantiles(name, clip) for name in names}
        columns = {
            name: _narrowed(column, *found[name]) if name in found else column
            for name, column in schema.columns
        }
        return Schema(columns, schema.unit), found

    def _quantiles(self, name: str, clip: Fraction) -> tuple[float, float]:
        if (name, clip) not in self._bounds:
            levels = (quantile(name, 1 - clip), quantile(name, clip))
            plan = make_plan(Query().select(*levels), self._table.schema, _FREE)
            low, high = self._rehearse(plan, 0).truths
            column = self._table.schema[name]
            step = float(getattr(column, "step", 1.0))
            top = _ends(self._table.schema, name)[1]
            upper = min(top, max(float(high), low + step))
            # Where all values lie at the upper end, the bounds begin a step below it.
            self._bounds[name, clip] = min(float(low), upper - step), upper
        return self._bounds[name, clip]


def frontier(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return for each figure, grouping and loss the trial of least error, in order."""
    best: dict[tuple[object, ...], Trial] = {}
    for trial in trials:
        one = trial.setting
        key = one.release, one.groups, trial.name, one.amount.text
        if key not in best or trial.error < best[key].error:
            best[key] = trial
    return tuple(best.values())


def _groupings(query: Query, *, coarser: bool) -> tuple[tuple[str, ...], ...]:
    if not coarser or query.listed:
        return (query.keys,)
    left = [tuple(k for k in query.keys if k != out) for out in query.keys]
    return tuple(dict.fromkeys([query.keys, *left]))


def _grouped(query: Query, groups: tuple[str, ...]) -> Query:
    other = query.other if groups else None
    return query if groups == query.keys else replace(query, keys=groups, other=other)


def _columns(query: Query, schema: Schema) -> tuple[str, ...]:
    """Return the columns of numbers of the table itself whose bounds matter."""
    if query.base is not None:  # whose columns are those of other rows
        return ()
    known = dict(schema.columns)
    names = [s.column for s in query.statistics if not isinstance(s, Histogram)]
    return tuple(
        dict.fromkeys(
            n
            for n in names
            if n is not None and isinstance(known.get(n), Real | Integer)
        )
    )


def _ends(schema: Schema, name: str) -> tuple[float, float]:
    column = schema[name]
    assert isinstance(column, Real | Integer)  # noqa: S101  _columns chose it
    return column.lower, column.upper


def _narrowed(column: object, low: float, high: float) -> Real | Integer:
    assert isinstance(column, Real | Integer)  # noqa: S101  _columns chose it
    about = {
        "missing": column.missing,
        "complete": column.complete,
        "unit": column.unit,
    }
    if isinstance(column, Integer):
        return Integer(int(low), int(high), **about)  # type: ignore[arg-type]
    return Real(low, high, step=column.step, **about)  # type: ignore[arg-type]


def _cells(groups: Sequence[object], statistic: object) -> int:
    bins = 1
    if isinstance(statistic, Histogram):
        bins = max(1, len(statistic.edges) - 1)
    return len(groups) * bins
