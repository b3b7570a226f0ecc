"""A plan: everything known before any row is read; it may be shown, stored, signed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias, final

from sfumato.account import Coordinate, Epsilon, Geometric, KNorm
from sfumato.declare.query import Query, Statistic
from sfumato.declare.schema import Key, Schema
from sfumato.plan.aggregate import Aggregate

__all__ = [
    "ByCount",
    "ByRatio",
    "Direct",
    "Group",
    "Part",
    "Plan",
    "PublicSize",
    "Recipe",
    "Step",
]

Group: TypeAlias = "tuple[Key, ...]"


@final
@dataclass(frozen=True, slots=True)
class Part:
    """One vector of exact integers that the engine computes.

    Attributes:
        aggregate: What is computed.
        cells: Length of the vector: groups, times bins for a histogram.
    """

    aggregate: Aggregate
    cells: int


@final
@dataclass(frozen=True, slots=True)
class Step:
    """Parts that are protected together, and the mechanism that does it.

    Attributes:
        parts: Places in ``plan.parts``. One part has geometric noise; several share
            the joint noise of one mechanism, drawn afresh for each group.
        mechanism: Noise and charge, for all parts and cells jointly.
    """

    parts: tuple[int, ...]
    mechanism: Geometric | KNorm


@final
@dataclass(frozen=True, slots=True)
class Direct:
    """The figure is one part's integer times `step_size` (1 for counts)."""

    part: int
    step_size: float = 1.0


@final
@dataclass(frozen=True, slots=True)
class ByRatio:
    """The mean: middle + half steps / count; `count` none means the public size."""

    total: int
    count: int | None


@final
@dataclass(frozen=True, slots=True)
class ByCount:
    """The sum from a shared pair: middle · count + half steps."""

    total: int
    count: int | None


@final
@dataclass(frozen=True, slots=True)
class PublicSize:
    """The figure is the declared, public number of rows: exact and free."""


Recipe: TypeAlias = Direct | ByRatio | ByCount | PublicSize


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What will be measured, with which noise, at which cost.

    Attributes:
        dataset: Name of the dataset: whose budget pays.
        schema: Public facts of the table.
        query: The question.
        parts: The exact integers to compute, each measured once.
        steps: The measurements: every part belongs to exactly one.
        recipes: For each statistic of the query, how it follows from the parts.
        groups: The group cells, in the declared order; ``((),)`` without grouping.
    """

    dataset: str
    schema: Schema
    query: Query
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    recipes: tuple[Recipe, ...]
    groups: tuple[Group, ...]

    @property
    def cost(self) -> Epsilon:
        """Total charge: derived from the steps, never stored beside them."""
        return reduce(
            add, (s.mechanism.cost for s in self.steps), Epsilon.from_units(0)
        )

    def step_of(self, part: int) -> Step:
        """Return the step that measures a part."""
        return next(s for s in self.steps if part in s.parts)

    def noise_of(self, part: int) -> Geometric | Coordinate:
        """Return the law of the noise on each integer of a part."""
        step = self.step_of(part)
        if isinstance(step.mechanism, Geometric):
            return step.mechanism
        return step.mechanism.coordinate(step.parts.index(part))

    @property
    def digest(self) -> str:
        """A hash of everything above: what a receipt says it paid for."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @property
    def answers(self) -> tuple[tuple[Statistic, Recipe], ...]:
        """Each statistic with its recipe, in the order asked."""
        return tuple(zip(self.query.statistics, self.recipes, strict=True))
