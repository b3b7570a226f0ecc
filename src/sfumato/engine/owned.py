"""All rows of a loaded table, for the person who owns it: NOT PRIVATE.

Nothing here passes the gate. It serves pages that are marked for the owner's eyes, such
as the comparison of a synthetic table with the true one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.declare.schema import Integer, Real, Schema, Text
from sfumato.declare.unit import Unit
from sfumato.engine.contingency import Counter
from sfumato.engine.physical import Text as Stored
from sfumato.engine.terms import Terms
from sfumato.secret import Quiet

__all__ = ["identifier", "identifiers", "owner_rows", "whose_rows"]


_WHOSE = ""  # no column is called so
_LONGEST = 1000


def owner_rows(
    engine: Counter, schema: Schema
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return every declared column: clamped numbers, or places of keys; NaN is missing.

    Texts without declared keys have no places and are left out.

    Examples:
        >>> from sfumato.declare.dataset import Dataset
        >>> from sfumato.engine.load import open_engine
        >>> schema = Schema({"Age": Integer(0, 120)})
        >>> rows = [{"Age": 30}, {"Age": "?"}, {"Age": 999}]
        >>> owner_rows(open_engine(Dataset(rows, schema=schema)), schema)["Age"].tolist()
        [30.0, nan, 120.0]

    Raises:
        EngineError: The engine failed; its words may quote a cell, so they are not shown.
    """
    with Quiet() as work:
        return _read(engine, schema)
    raise work.stop


def whose_rows(
    engine: Counter, schema: Schema
) -> tuple[list[str | None], dict[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    """Return whose each row is, and its columns, as `owner_rows` does.

    Args:
        engine: Its table.
        schema: The declarations, of the identifiers too.

    Raises:
        EngineError: As for `owner_rows`.
    """
    with Quiet() as work:
        return _whose(engine, schema)
    raise work.stop


def _whose(
    engine: Counter, schema: Schema
) -> tuple[list[str | None], dict[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    terms = Terms(schema, engine.layout, engine.dialect)
    found = _read(engine, schema, identifiers(terms))
    return [*map(identifier, found.pop(_WHOSE))], found


def identifiers(terms: Terms) -> str:
    """Return `Terms.identity`; a text of more than 1000 characters is nobody's."""
    unit = terms.schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  only people have identifiers
    whose = terms.identity()
    if not isinstance(terms.stored(unit.column)[1], Stored):
        return whose
    length = terms.dialect.length.format(x=f"({whose})")
    return f"CASE WHEN {length} <= {_LONGEST} THEN {whose} END"


def identifier(cell: object) -> str | None:
    """Return the text of what `identifiers` found; none of nobody.

    Examples:
        >>> identifier(7), identifier(True), identifier(None)
        ('7', 'true', None)
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    return None if cell is None else str(cell)


def _read(engine: Counter, schema: Schema, whose: str | None = None) -> dict[str, Any]:
    terms = Terms(schema, engine.layout, engine.dialect)
    names = [n for n in schema if not isinstance(schema[n], Text)]
    numbers = [isinstance(schema[n], Real | Integer) for n in names]
    cells = [
        terms.clamped(n) if is_number else terms.key(n)
        for n, is_number in zip(names, numbers, strict=True)
    ]
    if whose is not None:
        cells.append(whose)
    outputs = ", ".join(f"{cell} AS v{i}" for i, cell in enumerate(cells))
    rows = engine.unprotected(f"SELECT {outputs} FROM data")  # noqa: S608  constants only
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(cells)
    people = {} if whose is None else {_WHOSE: columns.pop()}
    return people | {
        name: np.array(
            [_value(terms, name, cell, is_number=is_number) for cell in column],
            np.float64,
        )
        for name, is_number, column in zip(names, numbers, columns, strict=True)
    }


def _value(terms: Terms, name: str, cell: object, *, is_number: bool) -> float:
    if is_number:
        return np.nan if cell is None else float(str(cell))
    place = terms.place(name, cell)
    return np.nan if place is None else float(place)
