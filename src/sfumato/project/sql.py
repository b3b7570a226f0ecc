"""A release that is asked in SQL: its text → the same question as its entries would make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.combine import KnownTables
from sfumato.declare.dataset import Dataset
from sfumato.declare.query import Query, count
from sfumato.declare.sql import read_sql
from sfumato.declare.walk import mentioned
from sfumato.project.column import DeriveTable, with_derived
from sfumato.project.related import still_underived

__all__ = ["asked_in_sql"]


def asked_in_sql(text: str, dataset: Dataset, derive: Sequence[DeriveTable]) -> Query:
    """Read one SELECT, with the file's computed columns that it names.

    Args:
        text: The grammar is ``docs/sql.md``; the table after FROM is called as the
            dataset, or as one of the file's tables.
        dataset: Whose tables it names.
        derive: The file's computed columns. They can be named wherever a column of the
            rows can, but not inside a sub-query.

    Raises:
        DeclarationError: The text holds anything beyond the grammar. Nothing was spent.
        MissingExtraError: sqlglot is not installed. Nothing was spent.
    """
    query = read_sql(text, table=dataset.name, tables=KnownTables(dataset, dataset.name))  # fmt: skip
    inner = {name for one in query.derived for name in mentioned(one.value)}
    probe = replace(query, derived=()).select(*map(count, sorted(inner)))
    left = still_underived(query, dataset.schema, derive)
    return replace(query, derived=(*with_derived(probe, left).derived, *query.derived))
