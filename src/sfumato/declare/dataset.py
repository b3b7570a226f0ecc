"""A private table: where it is and what is declared of it. No row is read here."""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any, final
from urllib.parse import parse_qsl, unquote, urlsplit

from sfumato.declare.lookup import PublicTable
from sfumato.declare.schema import Schema, describing
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

_MEMORY = re.compile(r"[1-9][0-9]{0,5} ?[KMGT]i?B", re.ASCII)

_UNNAMED = "table"
_SHOWN = 8  # columns on one line
_BINDING = threading.Lock()

__all__ = ["CSV", "Dataset", "Postgres", "Spark", "one_place"]


@final
@dataclass(frozen=True, slots=True)
class CSV:
    """A delimited text file and how it is written; nothing is guessed from its rows.

    Args:
        path: The file; its first line names the columns.
        encoding: A Python codec: ``"utf-8"`` (default), ``"gb18030"``, ``"utf-16"``; none
            with a state that lasts beyond a line, such as ``"iso2022_jp"``. Bytes that do
            not decode are replaced, so no row can stop the reading.
        separator: One character between cells.
        decimal: The decimal mark of numbers: ``"."`` or ``","``.
        thousands: A separator inside numbers to be removed, or none. Without it,
            ``1,234`` is not a number and hence missing.
    """

    path: str | os.PathLike[str]
    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."
    thousands: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Postgres:
    """A table or view in a PostgreSQL database, read where it lies.

    Args:
        url: ``"postgresql://user@host/database"``, or any other form that libpq knows;
            it is never shown, for it may hold a password.
        table: Name of the table or view, exactly as the database spells it.
        schema: Name of its schema, likewise.
        seconds: After how long a statement is given up; a charge then stands.

    Examples:
        >>> Postgres("postgresql://reader@db/clinic", "patients")
        Postgres(table='patients', schema='public', seconds=600)
    """

    url: str = field(repr=False)
    table: str
    schema: str = "public"
    seconds: int = 600


@final
@dataclass(frozen=True, slots=True)
class Spark:
    """A table or view that Apache Spark knows, read where it lies.

    Args:
        table: Its name as Spark resolves it: ``"clinic.patients"``.
        url: Where Spark runs: ``"sc://host:15002"`` (Spark Connect), a master such as
            ``"spark://host:7077"`` or ``"local[2]"``, or none for the session at hand.
            It is never shown, for it may hold a token.

    Examples:
        >>> Spark("clinic.patients", "sc://cluster:15002")
        Spark(table='clinic.patients')
    """

    table: str
    url: str | None = field(default=None, repr=False)


@final
class Dataset:
    """A private table with its public declarations.

    Args:
        source: A path to CSV or Parquet, `CSV`, `Postgres`, `Spark`, or a pandas, polars,
            Arrow or Spark table. Leave a table in memory as it is while a session is open:
            a small one is copied when it opens, a large one is read where it lies.
        schema: What is public about it.
        name: Identity in the ledger: all releases under one name share one budget.
            Default: the file's stem, the database table's name, or ``"table"``. A
            table inside another dataset must be given none: that one's budget pays.
        memory: How much memory the embedded engine may use, such as ``"500MB"``. What
            does not fit goes into files that only this user may read, **not encrypted**
            and removed afterwards: give it where the disk may hold private rows.
            Default: most of the machine's memory, and never a file.
        tables: By name, other tables that a question may join or unite (`docs/joins.md`):
            a `Dataset` of the same units, read where this one is read, or a
            `PublicTable`. All private ones share this dataset's budget and have none
            of their own (`docs/ledger.md`).

    Raises:
        DeclarationError: The schema is not a `Schema`, the name is empty, the memory
            is no amount, or another table does not fit or has a name of its own.

    Examples:
        >>> from sfumato.declare.schema import Integer
        >>> Dataset("diabetes.csv", schema=Schema({"Age": Integer(0, 120)}))
        Dataset('diabetes', columns=['Age'], unit=Rows(neighbours='add_remove', size=None))
    """

    __slots__ = ("_named", "memory", "name", "payers", "schema", "source", "tables")

    def __init__(
        self,
        source: Any,
        *,
        schema: Schema,
        name: str | None = None,
        memory: str | None = None,
        tables: Mapping[str, Dataset | PublicTable] | None = None,
    ) -> None:
        """Keep the handle; the session opens it."""
        if not isinstance(schema, Schema):
            raise DeclarationError(
                N_("a dataset needs a schema, got {value}"),
                hint=N_('write schema=Schema({{"Age": Integer(0, 120)}})'),
                value=type(schema).__name__,
            )
        if not isinstance(name, str | None):
            raise DeclarationError(
                N_("the name of a dataset is a text, got {value}"),
                hint=N_('the ledger keeps the budget under it: name="pima"'),
                value=quoted(name),
            )
        self._named = name is not None
        self.payers: list[str] = []  # one object, which shallow copies share
        where = source.path if isinstance(source, CSV) else source
        if name is None and isinstance(source, Postgres | Spark):
            name = source.table
        if name is None:
            name = Path(where).stem if isinstance(where, str | Path) else _UNNAMED
        if not name:
            raise DeclarationError(
                N_("the name of a dataset cannot be empty"),
                hint=N_('the ledger keeps the budget under it: name="pima"'),
            )
        told: Any = memory if memory is None or type(memory) is str else ""
        if told is not None and not _MEMORY.fullmatch(told):
            raise DeclarationError(
                N_("{value} is no amount of memory"),
                hint=N_('write memory="500MB" or memory="4GB"'),
                value=quoted(memory),
            )
        if not isinstance(tables, Mapping | None):
            raise DeclarationError(
                N_("the tables of a dataset are given by name, got {value}"),
                hint=N_('write tables={{"labs": Dataset("labs.csv", schema=…)}}'),
                value=quoted(tables),
            )
        self.source, self.schema, self.name = source, schema, str(name)
        self.memory = memory
        self.tables = dict(tables or {})
        _check_tables(self)

    @property
    def private(self) -> dict[str, Dataset]:
        """The other private tables, by name."""
        return {n: t for n, t in self.tables.items() if isinstance(t, Dataset)}

    @property
    def public(self) -> dict[str, PublicTable]:
        """The public tables, by name."""
        return {n: t for n, t in self.tables.items() if isinstance(t, PublicTable)}

    def pay_from(self, budget: str) -> None:
        """Bind the rows of all private tables to one budget; called before it may pay.

        Formal guarantee: sequential composition holds per budget, so whatever is asked
        of these declared rows, through this object or through another dataset that it
        is a table of, must be charged to one (`docs/ledger.md`, *Names*).

        Args:
            budget: The name of the dataset whose budget pays.

        Raises:
            DeclarationError: Another budget pays for one of them. Nothing was spent.
        """
        held = {self.name: self, **self.private}
        with _BINDING:
            for name, one in held.items():
                if one.payers not in ([], [budget]):
                    raise DeclarationError(
                        N_("the rows of {name} are paid from the budget of {payer}"),
                        hint=N_(
                            "ask about them through that dataset alone; two budgets for "
                            "the same people would hide what they lose together"
                        ),
                        name=repr(name),
                        payer=repr(one.payers[0]),
                    )
            for one in held.values():
                one.payers[:] = [budget]

    def check_public(self, table: PublicTable) -> None:
        """Refuse a public table that is read from where a private one lies.

        A copy of the rows cannot be told from a table that anybody may see.

        Raises:
            DeclarationError: Its source is that of one of the private tables.
        """
        for name, one in {self.name: self, **self.private}.items():
            if one_place(table.source, one.source):
                raise DeclarationError(
                    N_("the public table {name} is the private table {private}"),
                    hint=N_(
                        "a public table is read in full and costs nothing: give one that "
                        "anybody may see"
                    ),
                    name=repr(table.name),
                    private=repr(name),
                )

    @property
    def unpaid(self) -> tuple[str, ...]:
        """Names under which a ledger must hold no budget: those of the private tables."""
        held = {*self.private, *(one.name for one in self.private.values())}
        return tuple(sorted(held - {self.name, _UNNAMED}))

    def __repr__(self) -> str:
        """Show declarations only, never the source's content."""
        columns, unit = list(self.schema), self.schema.unit
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        named = f"{columns[:_SHOWN]}{more}"
        return f"Dataset({self.name!r}, columns={named}, unit={unit})"

    def _repr_html_(self) -> str:
        """Render for a notebook: declarations only."""
        return str(describing().declared_html(self))


def _check_tables(whole: Dataset) -> None:
    names: list[Any] = [whole.name, *whole.tables]
    for name in names:
        if not isinstance(name, str):
            raise DeclarationError(
                N_("the tables of a dataset are given by name, got {value}"),
                hint=N_('write tables={{"labs": Dataset("labs.csv", schema=…)}}'),
                value=quoted(name),
            )
    if len({name.casefold() for name in names}) < len(names):
        raise DeclarationError(
            N_("two tables of the dataset have one name: {names}"),
            hint=N_("names must differ in more than small and capital letters"),
            names=", ".join(map(repr, names)),
        )
    for name, table in whole.tables.items():
        if not isinstance(table, Dataset | PublicTable):
            raise DeclarationError(
                N_("table {name} is neither a Dataset nor a PublicTable"),
                hint=N_('write tables={{"labs": Dataset("labs.csv", schema=…)}}'),
                name=repr(name),
            )
        if isinstance(table, PublicTable):
            whole.check_public(table)
            continue
        if table._named:  # noqa: SLF001  of the same class
            raise DeclarationError(
                N_(
                    "table {name} has a name of its own, {own}, hence a budget of its own"
                ),
                hint=N_(
                    "a table of a dataset is paid from that dataset's budget alone: leave "
                    "out name=…, and ask about its rows through this dataset only "
                    "(docs/ledger.md)"
                ),
                name=repr(name),
                own=repr(table.name),
            )
        units = whole.schema.unit, table.schema.unit
        if type(units[0]) is not type(units[1]) or any(u.size for u in units):
            raise DeclarationError(
                N_("table {name} protects another unit than the dataset"),
                hint=N_(
                    "declare Unit(…) for both, or Rows() for both, and leave the number "
                    "of units private"
                ),
                name=repr(name),
            )
        if table.tables:
            raise DeclarationError(
                N_("table {name} has tables of its own"),
                hint=N_("give all of them to the dataset itself"),
                name=repr(name),
            )


def one_place(one: Any, other: Any) -> bool:
    """Tell whether two sources share an object, a file or a table of a database."""
    if one is other:
        return True
    if isinstance(one, Postgres) and isinstance(other, Postgres):
        places = [(_database(str(x.url)), x.schema, x.table) for x in (one, other)]
        return places[0] == places[1]
    if isinstance(one, Spark) and isinstance(other, Spark):
        return one.table.casefold() == other.table.casefold()
    paths = [x.path if isinstance(x, CSV) else x for x in (one, other)]
    if not all(isinstance(x, str | os.PathLike) for x in paths):
        return False
    return not _files(paths[0]).isdisjoint(_files(paths[1]))


def _database(url: str) -> object:
    """Return host, port and database of an address; who asks and how does not matter."""
    try:
        if "://" in url:
            parts = urlsplit(url)
            told = {"host": parts.hostname or "", "user": unquote(parts.username or ""),
                    "port": str(parts.port or ""), "dbname": unquote(parts.path[1:])}  # fmt: skip
            told |= dict(parse_qsl(parts.query))
        else:  # libpq's other form: host=db dbname=clinic
            told = dict(word.split("=", 1) for word in shlex.split(url))
    except ValueError:
        return url
    host = unquote(told.get("host", "")).casefold() or "localhost"
    return host, told.get("port") or "5432", told.get("dbname") or told.get("user", "")


def _files(path: str | os.PathLike[str]) -> set[object]:
    """Return what tells the files of a path apart: a file, a folder or a pattern."""
    where, found = Path(path), set[object]()
    several = where.glob("*.parquet") if where.is_dir() else glob(str(where))  # noqa: PTH207
    for one in (where, *several):
        with suppress(OSError, ValueError):  # it may not be there yet
            found.add(Path(one).resolve())
            status = Path(one).resolve().stat()  # a second name of one file has it too
            found.add((status.st_dev, status.st_ino))
    return found
