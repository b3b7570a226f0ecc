"""From the schema of a dataset's table to that of the rows a question is about.

Theorem. Call a map from the tables of a dataset to one table *unit-local* if the rows of
a unit u in the result are a function of u's rows in the tables and of public facts, and
the result is the union of these over all units. Then removing u from all tables removes
the rows of u from the result and changes no others. So a sum over units of a bounded
function of the unit's rows in the result is such a sum over units of the tables, with the
same bound, and the sensitivity that `sfumato.plan.term` states holds for all tables
together.

Proof. Unit-local maps compose, because the rows of u at each node follow from the rows of
u below it. A filter and a computed column act on each row; a public table with unique
keys adds to a row a function of it; pairs of rows of one unit, the rows of a unit in
several tables, and figures about a unit's rows are functions of u's rows by definition.
(This is stability 1 in the sense of McSherry, PINQ, SIGMOD 2009, section 3.3, for units in
place of records.)

Under replace-one (the number of people is public) neighbours differ in the rows of one
person, who has some in both. All rows of the others stay as they are, so the sum changes
by f(T(u)) - f(T(u')), of which either may be of no rows: a join or a filter can leave none.
That is the change which the bounds of `sfumato.plan.term` are for, where a filter makes a
replaced unit come or go. How many people the result has is not known any more
(`keeps_all`), so their count is measured. Of rows that are units of their own two united
tables would need another bound, and are refused.

Where each row is a unit of its own and several tables are united, one person may have a
row in each: she moves the result by as many rows as there are tables. Their stabilities
add (`stability`).
"""

from __future__ import annotations

from typing import assert_never

from sfumato.declare.calendar import Date
from sfumato.declare.feature import Feature
from sfumato.declare.merged import OneInEach, OnePerPerson
from sfumato.declare.query import Mean, Statistic, Std, Sum, Variance
from sfumato.declare.relation import (
    Base,
    Joined,
    Looked,
    Other,
    Part,
    PerPerson,
    United,
    parts_of,
)
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Known,
    Real,
    Schema,
    Text,
)
from sfumato.declare.unit import Rows, Unit
from sfumato.errors import DeclarationError
from sfumato.plan.kinds import check_condition
from sfumato.plan.matched import matched
from sfumato.plan.widen import widened
from sfumato.words import N_

__all__ = ["MOST_PAIRS", "check_found", "is_one_row", "keeps_all", "others_in", "part_schema", "related", "relation_schema", "stability"]  # fmt: skip

MOST_PAIRS = 1 << 17
"""Pairs of one person that a join makes; with more, all of hers are left out.

It is a function of her rows, so the join stays unit-local; and it keeps every sum of a
person's terms within 64 bits, whatever the tables hold. It is that low so that she alone
takes no memory and time to speak of: an engine that has none left ends in an error, and
whether it does must not hang on one person. In a chain of joins it bounds the product
over the whole chain, because a join of a join counts the pairs of the first as rows."""
_DEEPEST, _MOST_NODES = 12, 64


def related(base: Base | None, schema: Schema) -> Schema:
    """Return the schema of a question's rows, with the unit that is protected.

    Args:
        base: Where the rows come from; none is the dataset's own table.
        schema: That of the dataset's own table.

    Raises:
        DeclarationError: A node does not fit its tables, or is not unit-local. Nothing
            was spent.
    """
    if base is None:
        return schema
    _check_depth(base)
    found = relation_schema(base, schema)
    unit = found.unit
    if isinstance(unit, Unit) and is_one_row(base):
        unit = OnePerPerson(
            column=unit.column, neighbours=unit.neighbours, size=unit.size
        )
    elif isinstance(unit, Rows) and stability(base) > 1:
        unit = OneInEach(tables=stability(base))
    return Schema(dict(found.columns), unit)


def part_schema(part: Part, schema: Schema) -> Schema:
    """Return the schema of a node's rows; identifiers are kept."""
    own = schema if part.base is None else relation_schema(part.base, schema)
    found = widened(part, own)
    if part.condition is not None:
        check_condition(part.condition, found)
    for one in part.derived:
        _check_bounds(one.name, found)
    return found


def relation_schema(base: Base, schema: Schema) -> Schema:
    """Return the schema of what a node yields; identifiers are kept."""
    if isinstance(base, United) and getattr(schema.unit, "rows", None) is not None:
        raise DeclarationError(
            N_("tables are not united where the number of rows is public"),
            hint=N_('leave it private: neighbours="add_remove"'),
        )
    match base:
        case Other(_, own):
            if type(own.unit) is not type(schema.unit) or own.unit.size is not None:
                raise DeclarationError(
                    N_("the tables of a dataset protect different units"),
                    hint=N_("declare Unit(…) for all of them, or Rows() for all"),
                )
            return own
        case Looked():
            return _looked(base, part_schema(base.rows, schema))
        case Joined():
            return _joined(base, schema)
        case United():
            return _united(base, schema)
        case PerPerson():
            return _per_person(base, part_schema(base.rows, schema))
        case _:
            assert_never(base)


def is_one_row(base: Base | None) -> bool:
    """Tell whether a person has one row at most, by the form of the question alone."""
    match base:
        case PerPerson():
            return True
        case Looked(rows):
            return is_one_row(rows.base)
        case Joined(rows, other):
            return is_one_row(rows.base) and is_one_row(other.base)
        case None | Other() | United():
            return False
        case _:
            assert_never(base)


def keeps_all(part: Part) -> bool:
    """Tell whether every row of the dataset's own table is one row of the part."""
    if part.condition is not None or part.base is None:
        return part.condition is None
    base = part.base
    return isinstance(base, Looked) and not base.found_only and keeps_all(base.rows)


def stability(base: Base | None) -> int:
    """Return how many rows one row can become, where each row is a unit of its own."""
    if isinstance(base, United):
        return sum(stability(part.base) for part in base.parts)
    return stability(base.rows.base) if isinstance(base, Looked) else 1


def others_in(base: Base | None) -> tuple[Other, ...]:
    """Return the other private tables that a question reads, each once."""
    if base is None:
        return ()
    if isinstance(base, Other):
        return (base,)
    several = (others_in(part.base) for part in parts_of(base))
    return tuple(dict.fromkeys(one for found in several for one in found))


def _check_depth(base: Base) -> None:
    level, depth, nodes = [base], 0, 0
    while level:
        depth += 1
        nodes += sum(1 + len(parts_of(one)) for one in level)
        if depth > _DEEPEST or nodes > _MOST_NODES:
            raise DeclarationError(
                N_(
                    "the question joins and unites more tables than {most}, or {deepest} deep"
                ),
                hint=N_("ask simpler questions"),
                most=_MOST_NODES,
                deepest=_DEEPEST,
            )
        level = [p.base for one in level for p in parts_of(one) if p.base is not None]


def check_found(statistic: Statistic, schema: Schema) -> None:
    """Refuse a statistic whose bounds would have to be found in rows made of others.

    A column with private bounds may stand in such rows and be filtered, counted and put
    in bins: its search ends are public bounds. What would be clipped by the bounds that
    a first step finds is refused, because that step is of the dataset's own table alone.

    Raises:
        DeclarationError: The statistic is a sum, mean or variance of such a column.
    """
    if isinstance(statistic, Sum | Mean | Variance | Std):
        _check_bounds(statistic.column, schema)


def _check_bounds(name: str, schema: Schema) -> None:
    if getattr(schema[name], "private", None) is not None:
        raise DeclarationError(
            N_("{name} has private bounds, and its table is joined or united"),
            hint=N_("declare public bounds: Real(lower, upper)"),
            name=repr(name),
        )


def _added(
    schema: Schema, columns: tuple[tuple[str, Column], ...], prefix: str
) -> Schema:
    """Return a schema with further columns; their names must be new."""
    names = {n.casefold(): n for n, _ in schema.stored}
    found = dict(schema.columns)
    for name, column in columns:
        new = f"{prefix}{name}"
        if new.casefold() in names:
            raise DeclarationError(
                N_("both tables have a column {name}"),
                hint=N_('give those of the second a prefix: prefix="labs_"'),
                name=repr(names[new.casefold()]),
            )
        found[new] = column
    return Schema(found, schema.unit)


def _looked(base: Looked, schema: Schema) -> Schema:
    matched(base, schema)
    return _added(schema, base.table.columns, base.prefix)


def _joined(base: Joined, schema: Schema) -> Schema:
    first, second = part_schema(base.rows, schema), part_schema(base.other, schema)
    unit = first.unit
    if not isinstance(unit, Unit) or not isinstance(second.unit, Unit):
        raise DeclarationError(
            N_(
                "two private tables are joined on the person, and here each row is a unit"
            ),
            hint=N_(
                'declare Unit("patient_id", …) for both, or join with a public table'
            ),
        )
    rows, groups = base.max_rows or unit.max_rows, base.max_groups or unit.max_groups
    whose = _bounded(unit, rows, groups, unit.missing)
    return _added(Schema(dict(first.columns), whose), second.columns, base.prefix)


def _united(base: United, schema: Schema) -> Schema:
    first, *rest = (part_schema(part, schema) for part in base.parts)
    for other in rest:
        if first.columns != other.columns:
            raise DeclarationError(
                N_("tables are united whose columns are declared in different ways"),
                hint=N_(
                    "names, order and declarations must agree; the first has {names}"
                ),
                names=", ".join(first),
            )
        if type(first.unit) is not type(other.unit):
            raise DeclarationError(
                N_("the tables of a dataset protect different units"),
                hint=N_("declare Unit(…) for all of them, or Rows() for all"),
            )
    unit = first.unit
    units = [unit, *(other.unit for other in rest)]
    if isinstance(unit, Unit) and len({getattr(u, "missing", ()) for u in units}) > 1:
        # Each table's rows are read by its own codes for nobody, and not once more.
        rows, groups = unit.max_rows, unit.max_groups
        return Schema(dict(first.columns), _bounded(unit, rows, groups, ()))
    return first


def _per_person(base: PerPerson, schema: Schema) -> Schema:
    unit = schema.unit
    if not isinstance(unit, Unit):
        raise DeclarationError(
            N_("each row is a unit of its own: there are no figures per person"),
            hint=N_('declare whose rows they are: Unit("patient_id", …)'),
        )
    columns = {name: _figure(name, one, schema) for name, one in base.features}
    for name in columns:
        if name.casefold() == unit.column.casefold():
            raise DeclarationError(
                N_(
                    "column {name} says whose a row is; it cannot be declared otherwise"
                ),
                hint=N_("give the figure another name"),
                name=repr(name),
            )
    return Schema(columns, _bounded(unit, 1, 1, unit.missing))


def _bounded(unit: Unit, rows: int, groups: int, missing: tuple[str, ...]) -> Unit:
    """Return the unit of rows made of a person's, with other bounds."""
    return Unit(
        unit.column,
        max_rows=rows,
        max_groups=groups,
        neighbours=unit.neighbours,
        size=unit.size,
        missing=missing,
    )


def _figure(name: str, one: Feature, schema: Schema) -> Known:
    """Return the declaration of a figure about a person."""
    column = None if one.column is None else schema[one.column]
    if one.by is not None and not isinstance(schema[one.by], Real | Integer):
        raise _unfit(name, one.by, N_("rows are ordered by a number or a day"))
    if one.of == "count":
        assert one.declared is not None  # noqa: S101  `feature.count` gave it
        return one.declared
    if one.of == "sum":
        if isinstance(column, Date) or not isinstance(column, Real | Integer | Boolean):
            raise _unfit(name, one.column, N_("a number or Boolean column is added up"))
        if isinstance(one.declared, Date) or not isinstance(
            one.declared, Real | Integer
        ):
            raise _unfit(name, one.column, N_("declare its sum as Real or Integer"))
        return one.declared
    if isinstance(column, Text) or (
        isinstance(column, Category) and one.of not in ("first", "last")
    ):
        raise _unfit(name, one.column, N_("it has no order: ask for first or last"))
    assert column is not None  # noqa: S101  all but counts have one
    if one.declared is None:
        return _bare(column)
    same = _kind(one.declared) is _kind(column)
    if not same or isinstance(one.declared, Category | Boolean):
        raise _unfit(name, one.column, N_("its bounds do not fit the column"))
    return one.declared


def _kind(column: Column) -> type:
    if isinstance(column, Date):
        return Date
    return Real if isinstance(column, Real | Integer) else type(column)


def _bare(column: Column) -> Known:
    """Return the declaration of values of a column, among which no code is missing."""
    match column:
        case Real() | Integer():
            return column.plain
        case Boolean():
            return Boolean()
        case Category():
            return column
        case _:
            msg = "texts have no figures"
            raise TypeError(msg)


def _unfit(name: str, column: str | None, hint: str) -> DeclarationError:
    return DeclarationError(
        N_("the figure {name} cannot be made of column {column}"),
        hint=hint,
        name=repr(name),
        column=repr(column),
    )
