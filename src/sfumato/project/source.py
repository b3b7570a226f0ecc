"""Does the table have the declared columns? Its header answers; no row is read."""

from __future__ import annotations

from pathlib import Path

from sfumato.declare.dataset import CSV
from sfumato.declare.unit import Unit
from sfumato.errors import ProjectError
from sfumato.project.address import missing_variables
from sfumato.project.header import check_header, read_header
from sfumato.project.load import Project
from sfumato.words import N_

__all__ = ["check_source"]


def check_source(project: Project) -> None:
    """Find the declared columns in the header of the project's table.

    Raises:
        SourceError: The table cannot be read, or lacks a declared column.
        ProjectError: Its address needs an environment variable that is not set.
    """
    source = project.dataset.source
    needed = {"data.source": source, "budget.ledger": project.ledger}
    for key, address in needed.items():
        if missing := missing_variables(address):
            raise ProjectError(
                N_("{file}: the environment variable {name} is not set"),
                hint=N_("{key} needs it: export {name}=…"),
                file=project.path.name,
                key=key,
                name=missing[0],
            )
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
