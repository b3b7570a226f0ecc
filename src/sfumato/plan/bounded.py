"""Two steps under one debit: find clipping bounds, then answer with them.

Theorem. The first step is private for its own loss and its result is public. Given any
result, the second step is a plan of its own loss for the schema with those bounds. So
the whole is private for the sum of both, by adaptive composition: for pure ε
(Dwork, McSherry, Nissim, Smith 2006) and for zCDP (Bun, Steinke 2016, lemma 1.7), with
losses that were fixed before any row was read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from operator import add
from typing import assert_never, final

from sfumato.account import GDP, ZCDP, Epsilon, Loss, describe
from sfumato.amount import Amount
from sfumato.declare.query import Mean, Query, Statistic, Std, Sum, Variance, histogram
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.errors import DeclarationError
from sfumato.plan.lower import make_plan
from sfumato.plan.record import Plan
from sfumato.words import N_

__all__ = ["BoundedPlan", "Bounds", "make_bounded", "octaves"]

Bounds = Mapping[str, tuple[float, float]]
_OCTAVES = 40
_CLIPPED = Sum | Mean | Variance | Std


@final
@dataclass(frozen=True, slots=True)
class BoundedPlan:
    """A question whose clipping bounds are found first.

    Attributes:
        first: Counts rows in ranges of doubling width, for each column.
        loss: What the second step may cost.
        query: The question.
        schema: The public facts, with the ends to search within as bounds.
        dataset: Whose budget pays.
    """

    first: Plan
    loss: Loss
    query: Query
    schema: Schema
    dataset: str

    @property
    def cost(self) -> Loss:
        """The whole charge."""
        both: Loss = add(self.first.cost, self.loss)
        return both

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose bounds are found."""
        return tuple(str(s.column) for s in self.first.query.statistics)

    @property
    def digest(self) -> str:
        """A hash of all that is fixed beforehand: what a receipt says it paid for."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @property
    def descriptor(self) -> dict[str, object]:
        """What the ledger keeps: of the second step only its loss is known beforehand."""
        first = self.first.descriptor
        known = first["mechanisms"]
        assert isinstance(known, list)  # noqa: S101  Plan makes it so
        return first | {"mechanisms": [*known, _only(self.loss)]}

    def second(self, bounds: Bounds) -> Plan:
        """Return the plan that answers with these bounds."""
        columns = {
            name: column.narrowed(*bounds[name])
            if name in bounds and isinstance(column, Real | Integer)
            else column
            for name, column in self.schema.columns
        }
        schema = Schema(columns, self.schema.unit)
        return make_plan(self.query, schema, self.loss, dataset=self.dataset)

    def widest(self) -> Plan:
        """Return the second plan as if the ends were the bounds: the most noise."""
        return make_plan(self.query, self.schema, self.loss, dataset=self.dataset)


def make_bounded(
    query: Query, schema: Schema, loss: Amount | Loss, *, dataset: str
) -> BoundedPlan | None:
    """Return the two steps of a question; none where no bounds must be found.

    The first step looks at all rows that pass the filter, whatever their group, so that
    all groups share the bounds.

    Raises:
        DeclarationError: As `make_plan`.
    """
    known = dict(schema.columns)
    wanted: dict[str, Fraction] = {}
    for statistic in query.statistics:
        if isinstance(statistic, _CLIPPED):
            private = getattr(known.get(statistic.column), "private", None)
            if private is not None:
                wanted[statistic.column] = private.share
    _check_derived(query)
    if not wanted or query.base is not None:  # `check_found` refuses these
        return None
    _check_alone(query, wanted)
    total = loss if isinstance(loss, ZCDP | GDP) else Epsilon(loss)
    if not isinstance(total, GDP) and total.delta_units:
        raise DeclarationError(
            N_("private bounds and unknown keys do not go into one question"),
            hint=N_("list the keys, or declare public bounds"),
        )
    share = max(wanted.values())
    part, rest = total.split([share, 1 - share])
    counts = [histogram(name, octaves(schema, name)) for name in wanted]
    ranges = Query(condition=query.condition, derived=query.derived).select(*counts)
    first = make_plan(ranges, schema, part, dataset=dataset)
    return BoundedPlan(first, rest, query, schema, dataset)


def _check_alone(query: Query, wanted: Collection[str]) -> None:
    """Refuse what narrower bounds would change: filters, keys, histograms, quantiles.

    Raises:
        DeclarationError: Nothing was spent.
    """
    others = [s for s in query.statistics if not isinstance(s, _CLIPPED)]
    counted = {name for s in others for name in _columns_in(s)}
    used = counted | set(query.keys) | set(_columns_of(query.condition))
    used |= {name for one in query.derived for name in _columns_of(one.value)}
    for name in wanted:
        if name in used:
            raise DeclarationError(
                N_(
                    "{name} has private bounds and is also filtered, grouped or counted"
                ),
                hint=N_("ask for its sum, mean or variance in a question of its own"),
                name=repr(name),
            )


def _check_derived(query: Query) -> None:
    for one in query.derived:
        if getattr(one.column, "private", None) is not None:
            raise DeclarationError(
                N_(
                    "{name} is computed, and private bounds are for columns of the table"
                ),
                hint=N_("declare it with public bounds"),
                name=repr(one.name),
            )


def _columns_in(statistic: Statistic) -> Iterator[str]:
    """Iterate over the columns of any statistic, of one or of several."""
    for field in fields(statistic):
        value = getattr(statistic, field.name)
        if field.name not in ("name", "key"):
            yield from (
                v
                for v in (value if isinstance(value, tuple) else (value,))
                if isinstance(v, str)
            )


def _columns_of(part: object) -> Iterator[str]:
    """Iterate over the columns that a filter names."""
    if isinstance(part, tuple | list):
        for one in part:
            yield from _columns_of(one)
    elif is_dataclass(part) and not isinstance(part, type):
        name = getattr(part, "column", None)
        if isinstance(name, str):
            yield name
        for field in fields(part):
            yield from _columns_of(getattr(part, field.name))


def octaves(schema: Schema, name: str) -> tuple[float, ...]:
    """Return public edges, each range twice as wide as the one nearer to 0.

    Examples:
        >>> octaves(Schema({"x": Integer(-4, 16)}), "x")
        (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
    """
    column = schema[name]
    assert isinstance(column, Real | Integer)  # noqa: S101  make_bounded chose it
    low, high = column.lower, column.upper
    edges = {low, high}
    edges |= {0.0} if low < 0 < high else set()
    for end in (low, high):
        marks = [end / 2**k for k in range(1, _OCTAVES)]
        edges |= {m for m in marks if low < m < high and abs(m) >= column.step}
    return tuple(sorted(edges))


def _only(loss: Loss) -> dict[str, str | int]:
    """Describe mechanisms of which nothing but their loss is known beforehand.

    Rounded Gaussians compose to one of their whole ρ, which is ``Δ²/2σ²``.
    """
    match loss:
        case Epsilon():
            return describe(loss)
        case ZCDP():
            return {"kind": "zcdp", "rho": str(loss)}
        case GDP():
            twice = 2 * Fraction(str(loss))
            return {
                "kind": "gaussian",
                "squared_sensitivity": str(twice),
                "variance": "1",
            }
        case _:
            assert_never(loss)
