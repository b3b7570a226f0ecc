"""The public number of units: checked when a table is opened, never told otherwise."""

# ruff: noqa: S608  constants only

from __future__ import annotations

from sfumato.declare.schema import Schema
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.terms import Terms

__all__ = ["people_sql"]


def people_sql(schema: Schema, layout: Layout, dialect: Dialect) -> str:
    """Return the statement that counts distinct people."""
    person = Terms(schema, layout, dialect).identity()
    return f"SELECT {dialect.count_text.format(x=f'DISTINCT {person}')} FROM data"
