"""A plan: everything known before any row is read; it may be shown, stored, signed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TypeAlias, final

from sfumato.account import (
    GDP,
    ZCDP,
    Coordinate,
    Epsilon,
    Gaussian,
    Geometric,
    KNorm,
    Loss,
    Measure,
    Selection,
    Threshold,
    charge,
    describe,
)
from sfumato.declare.query import Query, Statistic
from sfumato.declare.schema import Schema
from sfumato.declare.unit import bounds_of
from sfumato.plan.aggregate import Aggregate, Level
from sfumato.plan.grouping import Group, Grouping

__all__ = [
    "ByChoice",
    "ByCount",
    "ByMatrix",
    "ByProduct",
    "ByQuotient",
    "ByRank",
    "ByRatio",
    "BySquares",
    "Direct",
    "Group",
    "Noise",
    "Part",
    "Plan",
    "PublicSize",
    "Recipe",
    "Step",
]

_NOTHING: dict[Measure, Loss] = {
    kind.measure: kind.from_units(0) for kind in (Epsilon, ZCDP, GDP)
}


@final
@dataclass(frozen=True, slots=True)
class Part:
    """One vector of exact integers that the engine computes.

    Attributes:
        aggregate: What is computed.
        cells: Length of the vector: groups, times bins for a histogram or a level of a tree.
        bits: The integers count ``2^-bits`` of a row's term; 0 where rows are units.
    """

    aggregate: Aggregate
    cells: int
    bits: int = 0

    @property
    def size(self) -> float:
        """How much of a row's term one integer stands for."""
        return 2.0**-self.bits


@final
@dataclass(frozen=True, slots=True)
class Step:
    """Parts that are protected together, and the mechanism that does it.

    Attributes:
        parts: Places in ``plan.parts``. One part has geometric or Gaussian noise, or is
            chosen from; several share joint noise, drawn afresh for each group.
        mechanism: Noise and charge, for all parts and cells jointly.
    """

    parts: tuple[int, ...]
    mechanism: Geometric | KNorm | Gaussian | Selection | Threshold


@final
@dataclass(frozen=True, slots=True)
class Direct:
    """The figure is one part's integer times `step_size` (1 for counts)."""

    part: int
    step_size: float = 1.0


@final
@dataclass(frozen=True, slots=True)
class ByRatio:
    """A mean or share: middle + half steps / count; `count` none is the public size."""

    total: int
    count: int | None


@final
@dataclass(frozen=True, slots=True)
class BySquares:
    """The variance: mean square - squared mean, about the middle; or its root.

    `squares` none: a column of two values, whose squares are all one; `count` as in
    `ByRatio`.
    """

    total: int
    squares: int | None
    count: int | None
    root: bool


@final
@dataclass(frozen=True, slots=True)
class ByRank:
    """The quantile at `level` of a tree of counts; `levels` are its parts, finest first."""

    levels: tuple[int, ...]
    level: Fraction


@final
@dataclass(frozen=True, slots=True)
class ByCount:
    """The sum from a shared pair: middle · count + half steps."""

    total: int
    count: int | None


@final
@dataclass(frozen=True, slots=True)
class ByQuotient:
    """A sum over another; the second one has the sign of its column's bounds."""

    numerator: Direct | ByCount
    denominator: Direct | ByCount


@final
@dataclass(frozen=True, slots=True)
class ByProduct:
    """A covariance: mean product - product of means, about the middles of both columns.

    With `squares` it is divided by both deviations: a correlation. Places in them that
    are none, and `count`, as in `BySquares`.
    """

    totals: tuple[int, int]
    product: int
    count: int | None
    squares: tuple[int | None, int | None] | None = None


@final
@dataclass(frozen=True, slots=True)
class ByMatrix:
    """Figures of pairs of `size` columns, row by row of the upper triangle.

    With `size` 0 they are no matrix. Those of a correlation lack the diagonal of ones.
    """

    entries: tuple[ByProduct | BySquares, ...]
    size: int
    correlation: bool


@final
@dataclass(frozen=True, slots=True)
class ByChoice:
    """The place of the bin that was chosen, one per group."""

    part: int


@final
@dataclass(frozen=True, slots=True)
class PublicSize:
    """The figure is the declared, public number of rows: exact and free."""


@final
@dataclass(frozen=True, slots=True)
class Noise:
    """The noise on each integer of a part, in terms of a row.

    Attributes:
        law: Of the noise, in integers.
        size: How much of a term one integer stands for.
    """

    law: Geometric | Coordinate | Gaussian | Threshold
    size: float

    @property
    def variance(self) -> float:
        """The variance."""
        return float(self.law.variance) * self.size**2

    @property
    def mean_absolute_error(self) -> float:
        """E|noise|."""
        return float(self.law.mean_absolute_error) * self.size

    def error(self, confidence: float) -> float:
        """Return t with ``P(|noise| <= t) >= confidence``."""
        return float(self.law.error(confidence)) * self.size


Recipe: TypeAlias = (
    Direct
    | ByRatio
    | BySquares
    | ByRank
    | ByCount
    | ByQuotient
    | ByMatrix
    | ByChoice
    | PublicSize
)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What will be measured, with which noise, at which cost.

    Attributes:
        dataset: Name of the dataset: whose budget pays.
        schema: Public facts of the table, with the derived columns of the query.
        query: The question.
        parts: The exact integers to compute, each measured once.
        steps: The measurements: every part belongs to exactly one.
        recipes: For each statistic of the query, how it follows from the parts.
        groups: The group cells, in the declared order; ``((),)`` without grouping. The
            cell of all other rows, where it is asked for, is the last.
        measure: The currency of the charges.
        selecting: Where keys are unknown, the part that counts the rows of each, which
            decides whether it is shown. `groups` is then empty, and `cells` are those of
            one group.
        main: The public facts of the dataset's own table, where the question is about
            rows made of it and of others (`sfumato.declare.relation`).
    """

    dataset: str
    schema: Schema
    query: Query
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    recipes: tuple[Recipe, ...]
    groups: tuple[Group, ...]
    measure: Measure = "epsilon"
    selecting: int | None = None
    main: Schema | None = None

    @property
    def threshold(self) -> Threshold | None:
        """What decides which unknown keys are shown; none where all keys are public."""
        if self.selecting is None:
            return None
        mechanism = self.step_of(self.selecting).mechanism
        assert isinstance(mechanism, Threshold)  # noqa: S101  allocate.py makes it so
        return mechanism

    def shown(self, groups: tuple[Group, ...]) -> Plan:
        """Return the plan with the groups that passed the threshold in place."""
        parts = tuple(replace(p, cells=p.cells * len(groups)) for p in self.parts)
        return replace(self, groups=groups, parts=parts)

    def regrouped(self, groups: tuple[Group, ...]) -> Plan:
        """Return the plan as if it were about these of its groups alone; for its owner."""
        have = max(1, len(self.groups))
        one = tuple(replace(p, cells=p.cells // have) for p in self.parts)
        return replace(self, parts=one).shown(groups)

    @property
    def salt(self) -> str:
        """What the choice of a person's groups is salted with; public, and of the question.

        The choice is private by its bound alone. The salt lets no key be favoured in
        all questions.
        """
        asked = f"{self.dataset}|{self.query}"
        return hashlib.sha256(asked.encode()).hexdigest()[:16]

    @property
    def grouping(self) -> Grouping:
        """The grouping columns and their keys."""
        return Grouping.of(self.query, self.schema)

    @property
    def table(self) -> Schema:
        """The public facts of the table itself, without derived columns."""
        if self.main is not None:
            return self.main
        if not self.query.derived:
            return self.schema
        derived = {one.name for one in self.query.derived}
        own = {n: c for n, c in self.schema.columns if n not in derived}
        return Schema(own, self.schema.unit)

    @property
    def cost(self) -> Loss:
        """Total charge: derived from the steps, never stored beside them."""
        return reduce(add, (self.charge(s) for s in self.steps), _NOTHING[self.measure])

    def charge(self, step: Step) -> Loss:
        """Return what a step costs in the plan's currency."""
        return charge(step.mechanism, self.measure)

    def step_of(self, part: int) -> Step:
        """Return the step that measures a part."""
        return next(s for s in self.steps if part in s.parts)

    def noise_of(self, part: int) -> Noise:
        """Return the law of the noise on a part, in terms of a row."""
        step, size = self.step_of(part), self.parts[part].size
        assert not isinstance(step.mechanism, Selection)  # noqa: S101  a choice has none
        if not isinstance(step.mechanism, KNorm):
            return Noise(step.mechanism, size)
        return Noise(step.mechanism.coordinate(step.parts.index(part)), size)

    def finest(self, level: Level) -> Part:
        """Return the leaves of the tree that a level belongs to."""
        return min(
            (
                part
                for part in self.parts
                if isinstance(part.aggregate, Level)
                and part.aggregate.column == level.column
            ),
            key=lambda part: getattr(part.aggregate, "bits", 0),
        )

    @property
    def digest(self) -> str:
        """A hash of everything above: what a receipt says it paid for."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @property
    def descriptor(self) -> dict[str, object]:
        """What the ledger keeps for later reports: the mechanisms, exactly."""
        unit = self.schema.unit
        return {
            "version": 1,
            "unit": unit.name,
            "neighbours": unit.neighbours,
            **bounds_of(unit),
            "mechanisms": [describe(step.mechanism) for step in self.steps],
        }

    @property
    def answers(self) -> tuple[tuple[Statistic, Recipe], ...]:
        """Each statistic with its recipe, in the order asked."""
        return tuple(zip(self.query.statistics, self.recipes, strict=True))
