"""Does the table have the declared columns? Its header answers; no row is read."""

from __future__ import annotations

from pathlib import Path

from sfumato.declare.dataset import CSV
from sfumato.declare.unit import Unit
from sfumato.project.address import refuse_unset
from sfumato.project.header import check_header, read_header
from sfumato.project.load import Project

__all__ = ["check_source"]


def check_source(project: Project) -> None:
    """Find the declared columns in the header of the project's table.

    Raises:
        SourceError: The table cannot be read, or lacks a declared column.
        ProjectError: Its address needs an environment variable that is not set.
    """
    source = project.dataset.source
    file = project.path.name
    refuse_unset(source, "data.source", file)
    refuse_unset(project.ledger, "budget.ledger", file)
    if not isinstance(source, CSV):
        from sfumato.engine.load import open_engine

        open_engine(project.dataset)  # whose columns are named in its metadata
        return
    header = read_header(
        source.path, encoding=source.encoding, separator=source.separator
    )
    schema = project.dataset.schema
    person = [schema.unit.column] if isinstance(schema.unit, Unit) else []
    check_header([*dict.fromkeys([*schema, *person])], header, Path(source.path))
    if project.dataset.private:
        from sfumato.engine.load import open_engine

        open_engine(project.dataset)  # all tables must be of one place, and read
