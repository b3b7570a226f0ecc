"""Read a public table: through the same loaders and by the same rules as private ones."""

from __future__ import annotations

from contextlib import suppress

from sfumato.declare.dataset import Dataset
from sfumato.declare.lookup import Cell, Lookup, PublicTable
from sfumato.declare.schema import Column, Integer, Real, Schema, Text
from sfumato.engine.load import open_engine
from sfumato.engine.terms import Terms
from sfumato.errors import EngineError

__all__ = ["read_public"]


def read_public(table: PublicTable, name: str | None = None) -> Lookup:
    """Read all rows of a public table; costs nothing, for nothing in it is private.

    Rows without a key are left out: no private row can find them.

    Args:
        table: The table.
        name: What the dataset calls it; default the table's own name.

    Raises:
        SourceError: It cannot be read as declared. Nothing was spent.
        DeclarationError: A key stands twice. Nothing was spent.

    Examples:
        >>> rows = [{"site": "A", "beds": 120}, {"site": 7.5, "beds": 800}]
        >>> sites = PublicTable(rows, key="site", columns={"beds": Integer(0, 2000)})
        >>> read_public(sites).rows
        ((('A',), (120.0,)),)
    """
    keys: dict[str, Column] = {name: Text(longest=1000) for name in table.key}
    schema = Schema({**keys, **table.columns})
    found = None
    with open_engine(Dataset(table.source, schema=schema, name=table.name)) as engine:
        terms = Terms(schema, engine.layout, engine.dialect)
        cells = [terms.key(name) for name in keys]
        cells += [_cell(terms, n, c) for n, c in table.columns.items()]
        outputs = ", ".join(f"{cell} AS v{i}" for i, cell in enumerate(cells))
        with suppress(Exception):  # the error below has no context to show
            found = engine.unprotected(f"SELECT {outputs} FROM data")  # noqa: S608  constants only
    if found is None:
        raise EngineError
    width = len(keys)
    rows = []
    for row in found:
        key = tuple(str(x) for x in row[:width] if x is not None)
        if len(key) == width:
            named = zip(table.columns.items(), row[width:], strict=True)
            rows.append((key, tuple(_read(terms, n, c, x) for (n, c), x in named)))
    # Sorted, so that the plan does not depend on how a file's rows lie.
    return Lookup(name or table.name, table.key, tuple(table.columns.items()), tuple(sorted(rows, key=lambda r: r[0])))  # type: ignore[arg-type]  # fmt: skip


def _cell(terms: Terms, name: str, column: Column) -> str:
    return terms.number(name) if isinstance(column, Real | Integer) else terms.key(name)


def _read(terms: Terms, name: str, column: Column, cell: object) -> Cell:
    if isinstance(column, Real | Integer):
        return None if cell is None else float(str(cell))
    place = terms.place(name, cell)
    return None if place is None else int(place)
