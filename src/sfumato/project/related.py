"""From the steps of a release's rows to a question about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.combine import (  # fmt: skip
    KnownTables,
    join_people,
    join_public,
    per_person,
    private_table,
    refuse_bounds,
    union,
)
from sfumato.declare.dataset import Dataset
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query, count
from sfumato.declare.schema import Schema
from sfumato.declare.where import parse_filter
from sfumato.errors import DeclarationError, nearest
from sfumato.plan.relate import related
from sfumato.project.column import DeriveTable, with_derived
from sfumato.project.place import placed
from sfumato.project.rows import RowsTable
from sfumato.words import N_

__all__ = ["still_underived", "with_rows"]


def with_rows(
    steps: Sequence[RowsTable],
    dataset: Dataset,
    derive: Sequence[DeriveTable],
    place: str,
) -> Query:
    """Return the question, without statistics yet, that the steps lead to.

    Args:
        steps: In order.
        dataset: Whose tables they name.
        derive: Computed columns; a step has those that it needs.
        place: Of the steps in the file, for errors.

    Raises:
        ProjectError: A step does not fit the tables.
        SourceError: A public table cannot be read.
    """
    query = Query()
    for i, step in enumerate(steps):
        with placed(f"{place}[{i + 1}]"):
            query = _after(query, step, dataset, derive)
    return query


def still_underived(
    query: Query, schema: Schema, derive: Sequence[DeriveTable]
) -> list[DeriveTable]:
    """Return the computed columns that a question's rows do not have already."""
    known = set(related(query.base, schema))
    return [one for one in derive if one.name not in known]


def _after(
    query: Query, step: RowsTable, dataset: Dataset, derive: Sequence[DeriveTable]
) -> Query:
    match step.kind:
        case "table":
            if query != Query():
                raise DeclarationError(
                    N_(
                        "the rows begin with a table, and steps before it would be lost"
                    ),
                    hint=N_(
                        "let it be the first step; to add its rows or columns write union or join"
                    ),
                )
            return Query().of(private_table(dataset, str(step.table)))
        case "where":
            return query.where(parse_filter(str(step.where)))
        case "join":
            return _joined(_ready(query, dataset, derive, step), step, dataset)
        case "union":
            others = [Query().of(private_table(dataset, n)) for n in step.union or []]
            return union(_ready(query, dataset, derive, step), *others)
        case _:
            figures = {one.name: one.declared() for one in step.per_person or []}
            if len(figures) < len(step.per_person or []):
                raise DeclarationError(
                    N_("two figures about a person have one name"),
                    hint=N_("give each figure a name of its own"),
                )
            return per_person(_ready(query, dataset, derive, step), figures)


def _joined(query: Query, step: RowsTable, dataset: Dataset) -> Query:
    name, prefix = str(step.join), step.prefix or ""
    known = KnownTables(dataset, dataset.name)
    if name not in known:
        raise DeclarationError(
            N_("the dataset has no table {name}"),
            hint=N_("did you mean {near}?"),
            name=repr(name),
            near=nearest(name, known),
        )
    other = known[name]
    if isinstance(other, Lookup):
        refuse_bounds(name, step.max_rows, step.max_groups)
        on = step.on if step.on is None or isinstance(step.on, str) else tuple(step.on)
        return join_public(query, other, on, prefix=prefix, how=step.how or "left")
    if step.on is not None or step.how is not None:
        raise DeclarationError(
            N_("two private tables are joined on the person, and on nothing else"),
            hint=N_("leave out on and how"),
        )
    theirs = Query() if name == dataset.name else Query().of(private_table(dataset, name))  # fmt: skip
    bounds = {"max_rows": step.max_rows, "max_groups": step.max_groups}
    return join_people(query, theirs, prefix=prefix, **bounds)


def _ready(
    query: Query, dataset: Dataset, derive: Sequence[DeriveTable], step: RowsTable
) -> Query:
    """Return the rows with the computed columns that the filter and the step need."""
    names = [step.on] if isinstance(step.on, str) else list(step.on or [])
    for one in step.per_person or []:
        figure = one.declared()
        names += [name for name in (figure.column, figure.by) if name is not None]
    asked = query.select(*(count(name) for name in names))
    left = still_underived(query, dataset.schema, derive)
    return replace(with_derived(asked, left), statistics=())
