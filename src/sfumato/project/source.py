"""Does the table have the declared columns? Its header answers; no row is read."""

from __future__ import annotations

from pathlib import Path

from sfumato.declare.dataset import CSV
from sfumato.project.header import check_header, read_header
from sfumato.project.load import Project

__all__ = ["check_source"]


def check_source(project: Project) -> None:
    """Find the declared columns in the header of the project's table.

    Raises:
        SourceError: The table cannot be read, or lacks a declared column.
    """
    source = project.dataset.source
    if not isinstance(source, CSV):
        from sfumato.engine.load import open_engine

        open_engine(project.dataset)  # Parquet names its columns in its metadata
        return
    header = read_header(
        source.path, encoding=source.encoding, separator=source.separator
    )
    check_header(list(project.dataset.schema), header, Path(source.path))
