"""How much of a person should count: bounds tried on a public stand-in of the table.

Nothing here is private or paid for: the stand-in must be public or synthetic. Small
bounds cut rows of people, which biases figures; large ones cost noise. For each pair of
bounds both are known beforehand, the bias of the stand-in exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.declare.dataset import Dataset
from sfumato.declare.query import Query, people, people_cut
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine.load import open_engine
from sfumato.gate import rehearse
from sfumato.plan import expected_errors, make_plan
from sfumato.plan.shown import single
from sfumato.project.load import Asked, Project

__all__ = ["Bounding", "best", "try_bounds"]

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

_ROWS, _GROUPS = (1, 2, 3, 5, 10, 20, 50), (1, 2, 3, 5, 10)
_ALL = 1 << 15  # rows and groups of a person: what no stand-in reaches


@final
@dataclass(frozen=True, slots=True)
class Bounding:
    """One pair of bounds, tried for one release.

    Attributes:
        max_rows: Rows of a person that count fully in one group.
        max_groups: Groups of hers that count fully.
        cut: The share of the stand-in's people of whom not everything counts fully.
        bias: For each figure how far the bounds move it, on average over its groups.
        noise: For each figure the mean size of its noise.
    """

    max_rows: int
    max_groups: int
    cut: float
    bias: tuple[float, ...]
    noise: tuple[float, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        """Bias and noise of each figure together."""
        return tuple(b + n for b, n in zip(self.bias, self.noise, strict=True))


def best(tried: tuple[Bounding, ...]) -> Bounding:
    """Return the bounds whose worst figure is the least worse than its own best."""
    least = [min(column) or 1.0 for column in zip(*(t.errors for t in tried), strict=True)]  # fmt: skip

    def loss(one: Bounding) -> float:
        return max((e / b for e, b in zip(one.errors, least, strict=True)), default=1.0)

    return min(tried, key=loss)


def try_bounds(
    project: Project, asked: Asked, table: Dataset, *, rows: int
) -> tuple[Bounding, ...]:
    """Return what each pair of bounds would do to a release; none where it does not apply.

    Args:
        project: Its unit is a person.
        asked: A release with public keys.
        table: The public stand-in.
        rows: A public guess of the number of rows, on which the noise of means depends.

    Raises:
        SourceError: The stand-in cannot be read as the project declares its columns.
    """
    unit, query = project.dataset.schema.unit, _figures(asked.query)
    if not isinstance(unit, Unit) or asked.plan.threshold is not None:
        return ()
    if not query.statistics or query.base is not None:
        return ()
    whole = query.select(people_cut(), people())
    names, groups = len(query.statistics), len(asked.plan.groups)
    truths = _run(table, _bounded(table.schema, _ALL, _ALL), whole, asked)[:names]
    found: list[Bounding] = []
    for most, several in product(_ROWS, _GROUPS):
        if several > max(1, groups) or _is_enough(found, most, several):
            continue
        schema = _bounded(table.schema, most, several)
        *figures, cut, every = _run(table, schema, whole, asked)
        bias = np.abs(np.array(figures) - truths).mean(axis=1)
        plan = make_plan(query, schema, asked.loss, dataset=table.name)
        noise = [e.mean_absolute for e in expected_errors(plan, rows=rows)]
        share = float(cut.sum() / every.sum()) if every.any() else 0.0
        found.append(Bounding(most, several, share, tuple(bias.tolist()), tuple(noise)))
    return tuple(found)


def _is_enough(tried: Sequence[Bounding], rows: int, groups: int) -> bool:
    """Tell whether smaller bounds cut nobody: larger ones only cost noise."""
    return any(
        one.cut == 0 and one.max_rows <= rows and one.max_groups <= groups
        for one in tried
    )


def _figures(query: Query) -> Query:
    """Return the question about those of its figures that are one number per group."""
    told = tuple(s for s in query.statistics if single(s))
    return replace(query, statistics=told, shown=Query().shown)


def _bounded(schema: Schema, rows: int, groups: int) -> Schema:
    unit = schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  try_bounds looked
    bounded = Unit(unit.column, max_rows=rows, max_groups=groups, missing=unit.missing)
    return Schema(dict(schema.columns), bounded)


def _run(table: Dataset, schema: Schema, query: Query, asked: Asked) -> Floats:
    """Return the figures of the stand-in without noise, a row for each statistic."""
    plan = make_plan(query, schema, asked.loss, dataset=table.name)
    engine = open_engine(Dataset(table.source, schema=schema, name=table.name))
    truths = rehearse(plan, engine.run(plan), 0).truths
    return truths.reshape(len(query.statistics), -1)
