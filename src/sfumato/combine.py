"""Questions about rows of several tables, or about people: how they are put together.

Everything here is public and free: a public table is read, and no private one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Self, final

from sfumato.declare.dataset import Dataset
from sfumato.declare.feature import Feature, read_features
from sfumato.declare.lookup import Lookup, PublicTable, keys_of
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, PerPerson, United
from sfumato.declare.schema import Schema
from sfumato.engine.public import read_public
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.plan.relate import others_in
from sfumato.words import N_

__all__ = [
    "Combining",
    "check_tables",
    "join_people",
    "join_public",
    "per_person",
    "private_table",
    "refuse_bounds",
    "union",
]


@final
class KnownTables(Mapping[str, "Schema | Lookup"]):
    """The tables of a dataset by name; a public one is read when it is asked for."""

    def __init__(self, dataset: Dataset, name: str) -> None:
        """Begin with no table read; `name` is what the dataset's own is called."""
        self._dataset, self._name = dataset, name

    def __getitem__(self, name: str) -> Schema | Lookup:
        """Return how a private table is declared, or what a public one says."""
        if name == self._name:
            return self._dataset.schema
        found = self._dataset.tables[name]
        return (
            read_public(found, name) if isinstance(found, PublicTable) else found.schema
        )

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter([self._name, *self._dataset.tables])

    def __len__(self) -> int:
        """Count the tables."""
        return 1 + len(self._dataset.tables)


def private_table(dataset: Dataset, name: str) -> Other:
    """Return another private table of a dataset, as something to ask about.

    Raises:
        DeclarationError: There is none of that name.
    """
    known = [n for n in dataset.private if n == name]
    if not known:
        near = (
            nearest(quoted(name).strip("'"), dataset.private) if dataset.private else ""
        )
        hint = N_("did you mean {near}?") if near else N_('give it: Dataset(…, tables={{"labs": Dataset(…)}})')  # fmt: skip
        raise DeclarationError(
            N_("the dataset has no private table {name}"),
            hint=hint,
            name=quoted(name),
            near=near,
        )
    return Other(known[0], dataset.private[known[0]].schema)


def check_tables(dataset: Dataset, query: Query) -> Dataset:
    """Return the dataset, or refuse a question that was put together by hand about tables declared otherwise.

    Sensitivities follow from what a question says of a table, and an engine reads it as
    the dataset declares it; where its columns differed, a column would stand for another.

    Raises:
        DeclarationError: A table is none of the dataset's. Nothing was spent.
    """
    for one in others_in(query.base):
        if private_table(dataset, one.name) != one:
            raise DeclarationError(
                N_("table {name} is declared otherwise in the dataset"),
                hint=N_("begin with session.table(name)"),
                name=repr(one.name),
            )
    return dataset


def join_public(
    query: Query,
    table: PublicTable | Lookup,
    on: object = None,
    *,
    prefix: str = "",
    how: object = "left",
) -> Query:
    """Return the question about rows with the columns of the public row each finds."""
    if how not in ("left", "inner"):
        raise DeclarationError(
            N_("rows are joined left or inner, got {value}"),
            hint=N_(
                'how="left" keeps rows without a match, how="inner" leaves them out'
            ),
            value=quoted(how),
        )
    public = read_public(table) if isinstance(table, PublicTable) else table
    keys = public.key if on is None else keys_of(on, "on")
    return query.of(Looked(query.rows, keys, public, prefix, how == "inner"))


def refuse_bounds(name: str, *bounds: int | None) -> None:
    """Refuse bounds of pairs where a row finds one public row at most.

    Raises:
        DeclarationError: One is given; it would bound nothing.
    """
    if any(bound is not None for bound in bounds):
        raise DeclarationError(
            N_("max_rows and max_groups bound pairs of private rows; {name} is public"),
            hint=N_("leave them out: the unit's own bounds hold"),
            name=repr(name),
        )


def join_people(
    query: Query,
    other: Query,
    *,
    prefix: str = "",
    max_rows: int | None = None,
    max_groups: int | None = None,
) -> Query:
    """Return the question about all pairs of rows of one person."""
    _check_rows(other)
    return query.of(Joined(query.rows, other.rows, prefix, max_rows, max_groups))


def union(query: Query, *others: Query) -> Query:
    """Return the question about all rows of several tables."""
    for other in others:
        _check_rows(other)
    return query.of(United((query.rows, *(other.rows for other in others))))


def per_person(query: Query, features: Mapping[str, object]) -> Query:
    """Return the question about one row for each person."""
    return query.of(PerPerson(query.rows, read_features(features)))


def _check_rows(other: Query) -> None:
    if other.statistics or other.keys:
        raise DeclarationError(
            N_("rows are joined or united before statistics of them are asked"),
            hint=N_(
                "give rows: session.table(name).where(…), without select or group_by"
            ),
        )


class Combining(ABC):
    """The steps of a question that make its rows of others."""

    __slots__ = ()
    query: Query

    def join(
        self,
        other: Self | PublicTable | str,
        on: str | Sequence[str] | None = None,
        *,
        prefix: str = "",
        how: Literal["left", "inner"] | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
    ) -> Self:
        """Add columns of another table (``docs/joins.md``).

        With a public table, each row gets the columns of the one public row whose key it
        has; where there is none they are missing. With rows of this session, every row
        meets all other rows of the same person.

        Args:
            other: A `PublicTable`, rows of the session (``session.table("labs")``), or
                the name of one of the dataset's tables.
            on: Columns here that are compared with the public table's key; default
                those of the same names. Private rows meet on the person alone.
            prefix: Stands before the names of the other table's columns.
            how: Of a public table: ``"left"``, the default, keeps rows that find no
                public row, ``"inner"`` leaves them out.
            max_rows: How many pairs of one person count fully in one group, and
            max_groups: in how many groups; default as the unit is declared.

        Raises:
            DeclarationError: The tables do not fit, or the join is not by person.
            SourceError: The public table cannot be read.
        """
        public: PublicTable | Lookup | None = None
        if isinstance(other, PublicTable):
            self._tables().check_public(other)
            public = other
        elif isinstance(other, str) and other in self._tables().public:
            public = read_public(self._tables().public[other], other)
        if public is not None:
            refuse_bounds(public.name, max_rows, max_groups)
            return self._asking(
                join_public(
                    self.query,
                    public,
                    on,
                    prefix=prefix,
                    how="left" if how is None else how,
                )
            )
        theirs = self._rows(other)
        if on is not None:
            raise DeclarationError(
                N_("two private tables are joined on the person, and on nothing else"),
                hint=N_("leave out on=…, or declare the other table as a PublicTable"),
            )
        if how is not None:  # pairs have no side without a match
            raise DeclarationError(
                N_("two private tables are joined on the person, and on nothing else"),
                hint=N_("leave out on and how"),
            )
        bounds = {"max_rows": max_rows, "max_groups": max_groups}
        return self._asking(join_people(self.query, theirs, prefix=prefix, **bounds))

    def union(self, *others: Self | str) -> Self:
        """Take all rows of these tables together; their declarations must agree.

        Args:
            others: Rows of the session, or names of the dataset's private tables.
        """
        return self._asking(union(self.query, *map(self._rows, others)))

    def per_person(self, **features: Feature) -> Self:
        """Make one row of each person's rows, with figures about her.

        What is asked then is about people: one person moves it as one row would, however
        many rows she has. Filters before it choose rows, filters after it choose people.

        Args:
            features: By name: ``worst=sf.feature.max("HbA1c")``, and likewise `min`,
                `sum`, `count`, `first` and `last`.

        Examples:
            >>> import sfumato as sf
            >>> rows = [{"id": i % 50, "HbA1c": 5 + i % 4} for i in range(400)]
            >>> schema = sf.Schema(
            ...     {"HbA1c": sf.Real(3, 20, step="0.1")},
            ...     unit=sf.Unit("id", max_rows=8, max_groups=1),
            ... )
            >>> session = sf.Session(sf.Dataset(rows, schema=schema), budget="1")
            >>> ask = session.query().per_person(worst=sf.feature.max("HbA1c"))
            >>> ask.where(sf.col("worst") >= 7).select(sf.people())
            <question: people where worst >= 7; of one row per person (worst = max(HbA1c)) of the table>
        """
        return self._asking(per_person(self.query, features))

    @abstractmethod
    def _asking(self, query: Query) -> Self:
        """Bind another question to the same session."""

    @abstractmethod
    def _rows_of(self, other: object) -> Query | None:
        """Return what another question of the same session is; of no such none."""

    @abstractmethod
    def _tables(self) -> Dataset:
        """Return the dataset, whose tables have names."""

    def _private(self, name: str) -> Self:
        return self._asking(Query().of(private_table(self._tables(), name)))

    def _rows(self, other: object) -> Query:
        found = self._rows_of(self._private(other) if isinstance(other, str) else other)
        if found is None:
            raise DeclarationError(
                N_("only rows of the same session are joined or united"),
                hint=N_(
                    "tables of the same people share one budget, hence one session"
                ),
            )
        return found
