"""Public tables: facts about sites, wards or codes that rows can be joined with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, final

from sfumato.declare.schema import Column, Known
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Cell", "Lookup", "PublicTable", "check_keys", "keys_of"]

Cell: TypeAlias = "float | int | None"
"""A number, the place of a key, or none when missing; of a Boolean 0 or 1."""


@final
class PublicTable:
    """A table that anybody may see: it costs nothing to join rows with it.

    Args:
        source: A path to CSV or Parquet, `CSV`, a pandas, polars or Arrow table, or a
            list of mappings.
        key: The columns whose values together name one row, and no two.
        columns: The other columns, declared as in a schema. Bounds and keys are public.
        name: What it is called in questions; default the file's stem or ``"table"``.

    Raises:
        DeclarationError: No key, no column, or a column that is no declaration.

    Examples:
        >>> from sfumato.declare.schema import Category, Integer
        >>> rows = [{"site": "A", "beds": 120}, {"site": "B", "beds": 800}]
        >>> PublicTable(rows, key="site", columns={"beds": Integer(0, 2000)}, name="sites")
        PublicTable('sites', key=['site'], columns=['beds'])
    """

    __slots__ = ("columns", "key", "name", "source")

    def __init__(
        self,
        source: Any,
        *,
        key: str | list[str] | tuple[str, ...],
        columns: Mapping[str, Column],
        name: str | None = None,
    ) -> None:
        """Check the declarations; nothing is read yet."""
        keys = keys_of(key)
        given: Any = columns
        if not isinstance(given, Mapping) or not isinstance(name, str | None):
            raise DeclarationError(
                N_(
                    "a public table declares columns by name and has a text for a name, "
                    "got {value}"
                ),
                hint=N_('write columns={{"region": Category(["north", "south"])}}'),
                value=quoted(name if isinstance(given, Mapping) else given),
            )
        known = dict(columns)
        for one, column in known.items():
            if not isinstance(column, Known) or one in keys:
                raise DeclarationError(
                    N_(
                        "column {name} of a public table is not declared with a column type"
                    ),
                    hint=N_(
                        "use Real, Integer, Category or Boolean; the key needs none"
                    ),
                    name=quoted(one),
                )
        if not known:
            raise DeclarationError(
                N_("the public table declares no column"),
                hint=N_('write columns={{"region": Category(["north", "south"])}}'),
            )
        where = getattr(source, "path", source)
        if name is None:
            name = Path(where).stem if isinstance(where, str | os.PathLike) else "table"
        self.source, self.key, self.columns, self.name = source, keys, known, str(name)

    def __repr__(self) -> str:
        """Show declarations only."""
        return (
            f"PublicTable({self.name!r}, key={list(self.key)}, "
            f"columns={list(self.columns)})"
        )


@final
@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table that was read: plain data, part of the question.

    Attributes:
        name: What it is called.
        key: Its key columns.
        columns: Its other columns, as declared.
        rows: For each key, as canonical texts, the cells of the other columns.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, Known], ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Cell, ...]], ...] = field(repr=True)

    def __post_init__(self) -> None:
        """Refuse a key that stands twice."""
        check_keys(self.name, [key for key, _ in self.rows])


def check_keys(name: str, keys: list[Any]) -> None:
    """Refuse keys of which two are one: a private row would find several public ones.

    Raises:
        DeclarationError: A key stands twice.
    """
    met: set[Any] = set()
    for key in keys:
        if key in met:
            raise DeclarationError(
                N_("the key {key} stands twice in the public table {name}"),
                hint=N_("a row must find one row at most: remove or merge the others"),
                key=quoted(key),
                name=repr(name),
            )
        met.add(key)


def keys_of(key: object, word: str = "key") -> tuple[str, ...]:
    """Return the names of key columns.

    Args:
        key: One name or several.
        word: What the caller calls them: ``"key"`` or ``"on"``.

    Raises:
        DeclarationError: There is none, or one is no name or stands twice.
    """
    several = key if isinstance(key, tuple | list) else (key,)
    named = all(isinstance(one, str) and one for one in several)
    if not several or not named or len(set(several)) < len(several):
        raise DeclarationError(
            N_("a public table is joined on named key columns, got {value}"),
            hint=N_('write, for example, {word}="site"'),
            word=word,
            value=quoted(key),
        )
    return tuple(several)
