"""Query → steps: which integers to measure once, so that many figures follow."""

from __future__ import annotations

from typing import assert_never

from sfumato.account import GDP, ZCDP, Epsilon, Loss
from sfumato.amount import Amount
from sfumato.declare.query import (
    Correlation,
    Count,
    Covariance,
    Crosstab,
    Histogram,
    Mean,
    Median,
    Mode,
    People,
    Proportion,
    Quantile,
    Query,
    Ratio,
    Statistic,
    Std,
    Sum,
    Variance,
)
from sfumato.declare.schema import (
    Boolean,
    Category,
    Integer,
    Key,
    Number,
    Real,
    Schema,
    Text,
    token,
)
from sfumato.declare.unit import Rows, Unit
from sfumato.errors import DeclarationError
from sfumato.plan.aggregate import (
    Aggregate,
    Binned,
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Scale,
    SumValues,
    grid,
    tree,
)
from sfumato.plan.allocate import arrange, with_threshold
from sfumato.plan.check import check_query
from sfumato.plan.grouping import Grouping
from sfumato.plan.record import (
    ByChoice,
    ByCount,
    ByMatrix,
    ByProduct,
    ByQuotient,
    ByRank,
    ByRatio,
    BySquares,
    Direct,
    Part,
    Plan,
    PublicSize,
    Recipe,
)
from sfumato.plan.relate import keeps_all
from sfumato.plan.term import fraction_bits
from sfumato.words import N_

__all__ = ["make_plan"]

_MOST_CELLS = 1_000_000
_UNKNOWN = 2  # times a unit's groups: so many that two units need not share one


def make_plan(
    query: Query, schema: Schema, loss: Amount | Loss, *, dataset: str = "table"
) -> Plan:
    """Check a question against a table and decide what to measure at which cost.

    Pure: reads no rows and draws no noise. The cost is exactly `loss`, or zero when
    every figure is the public number of rows. (A mode that a large ρ pays for may cost
    1e-12 less.)

    Args:
        query: The question.
        schema: The public facts.
        loss: What to spend: a pure ε (a number counts as one), or a ρ, which buys
            Gaussian noise.
        dataset: Whose budget pays.

    Raises:
        DeclarationError: The question does not fit the schema, or the loss is not
            usable. Nothing was spent.
    """
    total = loss if isinstance(loss, ZCDP | GDP) else Epsilon(loss)
    main = None if query.base is None else schema
    schema = check_query(query, schema)
    grouping = Grouping.of(query, schema)
    if grouping.unknown and query.other is not None and isinstance(schema.unit, Unit):
        # Several hidden groups of one person would meet in that one group.
        raise DeclarationError(
            N_("with unknown keys of people there is no group of all other rows"),
            hint=N_("leave other= out, or list public keys: group_by(…, keys=[…])"),
        )
    _check_delta(total, grouping)
    needs = _Needs(query, schema)
    recipes = tuple(needs.recipe(s) for s in query.statistics)
    selecting = needs.selecting() if grouping.unknown else None
    size = grouping.size
    cells = tuple(
        size * (a.count if isinstance(a, Binned) else 1) for a in needs.aggregates
    )
    scanned = [size * getattr(a, "count", 1) for a in needs.aggregates]
    if max(scanned, default=0) > _MOST_CELLS:
        raise DeclarationError(
            N_("the question has {cells} cells; at most {most} are allowed"),
            hint=N_("group by fewer columns or use fewer bins"),
            cells=max(scanned),
            most=_MOST_CELLS,
        )
    groups = tuple(grouping.groups())
    steps = arrange(
        type(total).from_units(total.units),
        needs.aggregates,
        recipes,
        query,
        schema.unit,
        _UNKNOWN * schema.unit.max_groups if grouping.unknown else len(groups),
        selecting,
    )
    if selecting is not None and not isinstance(total, GDP):
        steps = with_threshold(steps, selecting, total.delta_units, schema.unit)
    bits = [fraction_bits(a, schema.unit) for a in needs.aggregates]
    if selecting is not None:
        bits[selecting] = 0  # rows or people, whole ones: no weight is a part of one
    parts = tuple(map(Part, needs.aggregates, cells, bits))
    return Plan(
        dataset, schema, query, parts, steps, recipes, groups, total.measure, selecting,
        main,
    )  # fmt: skip


def _check_delta(loss: Loss, grouping: Grouping) -> None:
    """Refuse unknown keys without a δ, and a δ without unknown keys."""
    delta = 0 if isinstance(loss, GDP) else loss.delta_units
    if delta and not grouping.unknown:
        raise DeclarationError(
            N_("nothing in the question costs a delta: it has no unknown keys"),
            hint=N_("leave delta out"),
        )
    if grouping.unknown and not delta:
        names = [n for n, column in grouping.columns if isinstance(column, Text)]
        raise DeclarationError(
            N_("the keys of {names} are unknown; to show some of them costs a delta"),
            hint=N_(
                'say how much, such as delta="1e-7", from a budget that holds one: '
                'Epsilon("1", "1e-6"), ZCDP("0.1", "1e-6") or ApproxDP("1", "2e-6", '
                'threshold_delta="1e-6"); or list public keys: group_by(…, keys=[…])'
            ),
            names=", ".join(map(repr, names)),
        )


class _Needs:
    """Collects the aggregates that the figures share: measure once, derive many."""

    def __init__(self, query: Query, schema: Schema) -> None:
        self.aggregates: list[Aggregate] = []
        self._query, self._schema = query, schema
        self._centred = {
            s.column for s in query.statistics if isinstance(s, Mean | Variance | Std)
        }
        self._everyone = not query.keys and keeps_all(query.rows)

    def selecting(self) -> int:
        """Return the part that counts the rows, or the people, of each unknown key.

        Where other rows have a group too, it is a part of its own: the rows of hidden
        keys, which it counted, are counted once more among the others.
        """
        if isinstance(self._schema.unit, Unit):
            return self._place(CountPeople())
        if self._query.other is None:
            return self._place(CountRows())
        self.aggregates.append(CountRows())
        return len(self.aggregates) - 1

    def recipe(self, statistic: Statistic) -> Recipe:  # noqa: C901, PLR0911, PLR0912  one for each
        """Return how the figure follows from parts, adding those it lacks."""
        match statistic:
            case Count(beyond=True):
                return Direct(self._place(CountRows(beyond=True)))
            case People(beyond=True):
                return Direct(self._place(CountPeople(beyond=True)))
            case Count(column):
                place = self._count(column)
                return PublicSize() if place is None else Direct(place)
            case People():
                place = self._people()
                return PublicSize() if place is None else Direct(place)
            case Sum(column):
                return self._sum(column)
            case Ratio(column, other):
                return ByQuotient(self._sum(column), self._sum(other))
            case Mean(column):
                return ByRatio(self._centred_sum(column), self._count(column))
            case Proportion(column, key):
                return ByRatio(self._share(column, key), self._count(column))
            case Variance(column) | Std(column):
                return self._squares(column, root=isinstance(statistic, Std))
            case Quantile(column) | Median(column):
                levels = tree(column, *grid(self._number(column)))
                return ByRank(tuple(map(self._place, levels)), statistic.level)
            case Histogram(column, edges):
                return Direct(self._place(self._bins(column, edges)))
            case Mode(column, edges):
                return ByChoice(self._place(Choice(self._bins(column, edges))))
            case Covariance() | Correlation():
                return self._matrix(statistic)
            case Crosstab(column, other, edges, other_edges):
                pair = self._bins(column, edges), self._bins(other, other_edges)
                return Direct(self._place(Crossed(*pair)))
            case _:
                assert_never(statistic)

    def _sum(self, column: str) -> Direct | ByCount:
        if column in self._centred or self._counts_all(column):
            return ByCount(self._centred_sum(column), self._count(column))
        declared = self._number(column)
        step = 1.0 if isinstance(declared, Boolean) else declared.step
        first, last = grid(declared)
        fill = (first + last) // 2 if self._is_complete(column) else 0
        return Direct(self._place(SumValues(column, first, last, fill)), step)

    def _bins(self, column: str, edges: tuple[float, ...]) -> Bins:
        count = len(edges) - 1 if edges else len(_keys(self._schema, column))
        return Bins(column, edges, count)

    def _count(self, column: str | None) -> int | None:
        """Return the part that counts rows or values; none when that is public."""
        if self._counts_all(column):
            return None
        if column is None or self._is_complete(column):
            return self._place(CountRows())
        return self._place(CountValues(column))

    def _people(self) -> int | None:
        """Return the part that counts people; none when their number is public."""
        unit = self._schema.unit
        if self._everyone and unit.size is not None:
            return None
        return self._place(CountRows() if isinstance(unit, Rows) else CountPeople())

    def _counts_all(self, column: str | None) -> bool:
        """Tell whether the count of rows or values is the declared, public size."""
        public = self._everyone and self._schema.unit.rows is not None
        return public and (column is None or self._is_complete(column))

    def _centred_sum(self, column: str, among: tuple[str, ...] = ()) -> int:
        return self._place(CentredSum(column, *grid(self._number(column)), among))

    def _share(self, column: str, key: Key | None) -> int:
        declared = self._schema[column]
        if isinstance(declared, Boolean) and key is not False:
            return self._centred_sum(column)
        keys = [token(k) for k in _keys(self._schema, column)]
        return self._place(CentredKey(column, keys.index(token(key)), len(keys)))

    def _squares(self, column: str, *, root: bool) -> BySquares:
        squares = self._squares_among(column, ())
        total = self._centred_sum(column)
        return BySquares(total, squares, self._count(column), root)

    def _matrix(self, statistic: Covariance | Correlation) -> ByMatrix:
        """Lower every pair, over the rows that have all columns of the statistic."""
        names = statistic.columns
        needs = tuple(sorted(c for c in names if not self._is_complete(c)))
        count = self._count(None) if not needs else self._count_of(needs)
        related = isinstance(statistic, Correlation)
        squares = {}
        if related or len(names) > 2:  # noqa: PLR2004  a matrix has a diagonal
            squares = {c: self._squares_among(c, needs) for c in names}
        entries: list[ByProduct | BySquares] = []
        for pair in statistic.pairs:
            one, two = sorted(pair)
            total, other = (self._centred_sum(c, _less(needs, c)) for c in (one, two))
            if one == two:
                entries.append(BySquares(total, squares[one], count, root=False))
                continue
            first, second = (Scale(c, *grid(self._number(c))) for c in (one, two))
            product = CentredProduct(first, second, _less(needs, one, two))
            entries.append(
                ByProduct(
                    (total, other),
                    self._place(product),
                    count,
                    (squares[one], squares[two]) if related else None,
                )
            )
        size = len(names) if len(names) > 2 else 0  # noqa: PLR2004
        return ByMatrix(tuple(entries), size, related)

    def _count_of(self, needs: tuple[str, ...]) -> int | None:
        """Return the part that counts the rows that have all of these cells."""
        if len(needs) == 1:
            return self._count(needs[0])
        return self._place(CountValues(needs[0], needs[1:]))

    def _squares_among(self, column: str, needs: tuple[str, ...]) -> int | None:
        first, last = grid(self._number(column))
        complete, among = self._is_complete(column), _less(needs, column)
        square = CentredSquare(column, first, last, complete, among)
        return self._place(square) if square.reach else None

    def _place(self, aggregate: Aggregate) -> int:
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return self.aggregates.index(aggregate)

    def _number(self, column: str) -> Number | Boolean:
        declared = self._schema[column]
        assert isinstance(declared, Real | Integer | Boolean)  # noqa: S101  checked before
        return declared

    def _is_complete(self, column: str) -> bool:
        declared = self._schema[column]
        return isinstance(declared, Real | Integer) and declared.complete


def _less(names: tuple[str, ...], *without: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in without)


def _keys(schema: Schema, column: str) -> tuple[Key, ...]:
    declared = schema[column]
    assert isinstance(declared, Category | Boolean)  # noqa: S101  checked before
    return declared.values
