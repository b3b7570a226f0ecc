"""The executable specification: slow, obvious, standard library only.

Every other engine must return the integers that this one returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import assert_never, final

from sfumato.declare.schema import Integer, Key, Real, Schema, Text
from sfumato.declare.unit import Unit
from sfumato.engine import Exact, Integers, Keyed
from sfumato.engine.cell import clamped, grid_number, identity
from sfumato.engine.draw import order
from sfumato.engine.evaluate import Cell, Row, cell, truth, widened_row
from sfumato.engine.rows import Tables, related_rows
from sfumato.plan import (
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
    Group,
    Level,
    Part,
    Plan,
    SumValues,
    term,
)
from sfumato.plan.grouping import Grouping
from sfumato.secret import Secret

__all__ = ["ReferenceEngine"]


@final
class ReferenceEngine:
    """Runs plans on a list of mappings from column name to cell.

    Examples:
        >>> from sfumato.declare.query import Query, sum
        >>> from sfumato.declare.schema import Integer
        >>> from sfumato.plan import make_plan
        >>> schema = Schema({"Age": Integer(0, 120)})
        >>> plan = make_plan(Query().select(sum("Age")), schema, 1)
        >>> ReferenceEngine([{"Age": 30}, {"Age": "n/a"}, {"Age": 1e300}]).run(plan)
        <Secret>
    """

    __slots__ = ("_others", "_rows")

    def __init__(self, rows: Sequence[Row], others: Tables | None = None) -> None:
        """Keep the rows, and those of the dataset's other private tables."""
        self._rows, self._others = rows, others or {}

    def run(self, plan: Plan) -> Secret[Exact]:
        """Return the plan's integers."""
        schema, query = plan.schema, plan.query
        found = self._rows
        if query.base is not None:
            found = related_rows(query.base, plan.table, found, self._others)
        rows = [widened_row(query, row, schema) for row in found]
        kept = [
            row
            for row in rows
            if query.condition is None or truth(query.condition, row, schema) is True
        ]
        grouping = plan.grouping
        placed = [(row, _group(row, schema, grouping)) for row in kept]
        keys = plan.groups[: len(plan.groups) - (query.other is not None)]
        if grouping.unknown:
            keys = grouping.arranged({g for _, g in placed if g is not None})
        places: list[Group | None] = [*keys, *([None] if query.other else [])]
        groups = [[row for row, group in placed if group == place] for place in places]
        if isinstance(schema.unit, Unit):
            return Secret(_of_people(plan, schema.unit, keys, groups))
        integers = tuple(
            tuple(
                integer
                for rows in groups
                for integer in _integers(part.aggregate, rows, schema)
            )
            for part in plan.parts
        )
        return Secret(Keyed(keys, integers) if grouping.unknown else integers)


def _of_people(
    plan: Plan, unit: Unit, keys: tuple[Group, ...], groups: list[list[Row]]
) -> Exact:
    """Return the sums over people of what each adds to each group, weighed down.

    It is ``s * min(m, R)/m * min(k, G)/k`` of the sum s of her m rows' terms, where she
    has rows in k groups; both quotients are cut towards zero. Where keys are unknown,
    G of her groups are kept (`draw`), and the others are as if she had no rows there.
    """
    theirs = _persons(unit, groups)
    if not plan.grouping.unknown:
        return _sums(plan, unit, theirs)
    for person in {person for held in theirs for person in held}:
        own = [i for i, held in enumerate(theirs) if person in held]
        own.sort(key=lambda i, who=person: order(plan, who, keys[i]))  # type: ignore[misc]
        for i in own[unit.max_groups :]:
            del theirs[i][person]
    kept = [(key, held) for key, held in zip(keys, theirs, strict=True) if held]
    integers = _sums(plan, unit, [held for _, held in kept])
    return Keyed(tuple(key for key, _ in kept), integers)


def _persons(unit: Unit, groups: list[list[Row]]) -> list[dict[str, list[Row]]]:
    """Return, for each group, the rows of each person in it; nobody's are left out."""
    theirs: list[dict[str, list[Row]]] = [{} for _ in groups]
    for held, rows in zip(theirs, groups, strict=True):
        for row in rows:
            person = identity(row.get(unit.column), unit.identifier)
            if person is not None:
                held.setdefault(person, []).append(row)
    return theirs


def _sums(plan: Plan, unit: Unit, theirs: list[dict[str, list[Row]]]) -> Integers:
    met = Counter(person for held in theirs for person in held)
    found = []
    for part in plan.parts:
        cells = part.cells // max(1, len(plan.groups))
        integers = []
        for held in theirs:
            added = [0] * cells
            for person, rows in held.items():
                weight = min(met[person], unit.max_groups), met[person]
                sizes = _of_person(plan, part, rows, unit.max_rows)
                if getattr(part.aggregate, "beyond", False):
                    is_cut = len(rows) > unit.max_rows or weight[1] > unit.max_groups
                    sizes = [_beyond(part, len(rows), unit.max_rows, is_cut=is_cut)]
                for i, size in enumerate(sizes):
                    added[i] += _times(size, *weight)
            integers += added
        found.append(tuple(integers))
    return tuple(found)


def _of_person(plan: Plan, part: Part, rows: list[Row], most: int) -> list[int]:
    """Return what one person's rows of one group add to its cells."""
    aggregate, schema = part.aggregate, plan.schema
    if isinstance(aggregate, Level) and (leaves := plan.finest(aggregate)) != part:
        found = [0] * aggregate.count  # the leaves are weighed, and then added up
        for leaf, size in enumerate(_of_person(plan, leaves, rows, most)):
            found[leaf >> aggregate.bits - leaves.aggregate.bits] += size  # type: ignore[union-attr]
        return found
    if term(aggregate).once:
        return [1 << part.bits]
    terms = [list(_integers(aggregate, [row], schema)) for row in rows]
    if term(aggregate).apart:
        having = [t for t in terms if any(t)]
    else:
        needs = term(aggregate).needs
        having = [
            t
            for t, row in zip(terms, rows, strict=True)
            if all(cell(row, schema, name) is not None for name in needs)
        ]
    sums = [sum(_cut(t, part.bits) for t in one) for one in zip(*having, strict=True)]
    return [_times(s, min(len(having), most), len(having)) for s in sums] or [0] * len(
        terms[0]
    )


def _beyond(part: Part, rows: int, most: int, *, is_cut: bool) -> int:
    """Return what a person adds to a count of what the bounds cut."""
    if term(part.aggregate).once:
        return int(is_cut) << part.bits
    return min(max(rows - most, 0), most) << part.bits


def _cut(size: int, bits: int) -> int:
    """Return a term in units of ``2^-bits``, cut towards zero where they are coarser."""
    return size << bits if bits >= 0 else _times(size, 1, 1 << -bits)


def _times(size: int, above: int, below: int) -> int:
    """Return ``size * above / below``, cut towards zero."""
    return abs(size) * above // below * (1 if size >= 0 else -1)


def _group(row: Row, schema: Schema, grouping: Grouping) -> Group | None:
    """Return the keys of one row; none when it is in no group."""
    keys: list[Key | None] = []
    for name, column in grouping.columns:
        value = cell(row, schema, name)
        if value is None or isinstance(schema[name], Text) or isinstance(column, Text):
            keys.append(None if value is None else str(value))
        else:
            keys.append(column.values[int(value)])
    return tuple(keys) if grouping.holds(keys) else None  # type: ignore[arg-type]


def _grid(row: Row, schema: Schema, name: str) -> int | None:
    """Return the grid number of a cell; a Boolean is 0 or 1."""
    column, value = schema[name], cell(row, schema, name)
    if value is None:
        return None
    if isinstance(column, Real | Integer):
        return grid_number(float(value), column)
    return int(value)


def _integers(  # noqa: PLR0911  one for each aggregate
    aggregate: Aggregate, rows: list[Row], schema: Schema
) -> Iterable[int]:
    """Return the aggregate's integers for the rows of one group."""
    for other in getattr(aggregate, "among", ()):
        rows = [row for row in rows if cell(row, schema, other) is not None]
    match aggregate:
        case CountRows() | CountPeople():  # here each row is a person of its own
            return [len(rows)]
        case CountValues(name):
            return [sum(cell(row, schema, name) is not None for row in rows)]
        case SumValues(name, _, _, fill):
            grid = [_grid(row, schema, name) for row in rows]
            return [sum(fill if q is None else q for q in grid)]
        case CentredSum(name, first, last):
            grid = [_grid(row, schema, name) for row in rows]
            return [sum(2 * q - (first + last) for q in grid if q is not None)]
        case CentredKey(name, place):
            keys = [cell(row, schema, name) for row in rows]
            return [sum(1 if k == place else -1 for k in keys if k is not None)]
        case CentredSquare(name):
            return [_squares(aggregate, [_grid(row, schema, name) for row in rows])]
        case CentredProduct(one, two):
            pairs = [[_grid(row, schema, s.column) for s in (one, two)] for row in rows]
            return [_products(aggregate, pairs)]
        case Bins() | Crossed() | Choice() | Level():
            return _counts(aggregate, rows, schema)
        case _:
            assert_never(aggregate)


def _squares(aggregate: CentredSquare, grid: list[int | None]) -> int:
    middle, both = aggregate.least + aggregate.most, aggregate.first + aggregate.last
    terms = [2 * aggregate.square(2 * q - both) - middle for q in grid if q is not None]
    empty = grid.count(None) if aggregate.complete else 0
    return sum(terms) - aggregate.reach * empty


def _products(aggregate: CentredProduct, pairs: list[list[int | None]]) -> int:
    return sum(
        2 * aggregate.product(q, other) - aggregate.reach
        for q, other in pairs
        if q is not None and other is not None
    )


def _counts(aggregate: Binned, rows: list[Row], schema: Schema) -> list[int]:
    """Return the rows in each place."""
    match aggregate:
        case Level(name, first, _, bits):
            grid = [_grid(row, schema, name) for row in rows]
            runs = [(q - first) >> bits for q in grid if q is not None]
            return [runs.count(i) for i in range(aggregate.count)]
        case Choice(bins):
            return _counts(bins, rows, schema)
        case Bins(name, edges, count):
            places = [_bin(row, schema, name, edges) for row in rows]
            return [places.count(i) for i in range(count)]
        case Crossed(first, second):
            both = [
                tuple(_bin(row, schema, b.column, b.edges) for b in (first, second))
                for row in rows
            ]
            pairs = product(range(first.count), range(second.count))
            return [both.count(pair) for pair in pairs]
        case _:
            assert_never(aggregate)


def _bin(row: Row, schema: Schema, name: str, edges: tuple[float, ...]) -> Cell:
    """Return the place of a cell among the bins: ``[a, b)``, the last one closed."""
    column, value = schema[name], cell(row, schema, name)
    if value is None or not isinstance(column, Real | Integer):
        return value
    x = clamped(float(value), column)
    if x == edges[-1]:
        return len(edges) - 2
    inside = (i for i, (a, b) in enumerate(pairwise(edges)) if a <= x < b)
    return next(inside, None)
