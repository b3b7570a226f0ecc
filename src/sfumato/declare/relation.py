"""Rows that a question is about, where they are not simply those of the dataset's table.

Every node is *unit-local*: which rows a unit has afterwards, and what is in them, follows
from this unit's rows and from public facts alone (``docs/joins.md``). Plain data: a node
knows no table; `sfumato.plan.relate` says what it yields, engines how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.declare.derived import Derived
from sfumato.declare.feature import Feature, check_features
from sfumato.declare.logic import Expr
from sfumato.declare.lookup import Lookup
from sfumato.declare.schema import Schema
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Base", "Joined", "Looked", "Other", "Part", "PerPerson", "United", "parts_of"]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Part:
    """Rows, with computed columns and perhaps a filter.

    Attributes:
        base: Where the rows come from; none is the dataset's own table.
        derived: Columns computed from others of the same row.
        condition: Only rows where it is true.
    """

    base: Base | None = None
    derived: tuple[Derived, ...] = ()
    condition: Expr | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that group it: none."""
        return ()

    def __str__(self) -> str:
        """Render for people."""
        words = "the table" if self.base is None else str(self.base)
        words += "".join(f" with {one}" for one in self.derived)
        return words if self.condition is None else f"{words} where {self.condition}"


@final
@dataclass(frozen=True, slots=True)
class Other:
    """Another private table of the dataset, of the same units."""

    name: str
    schema: Schema

    def __str__(self) -> str:
        """Render for people."""
        return self.name


@final
@dataclass(frozen=True, slots=True)
class Looked:
    """Rows with the columns of the one public row that each of them finds.

    A row that finds none keeps its place, and the added cells are missing; or it is left
    out.

    Attributes:
        rows: The private rows.
        on: Their columns that are compared with the key, in its order.
        table: The public table.
        prefix: Stands before the names of the added columns.
        found_only: Whether rows that find none are left out.
    """

    rows: Part
    on: tuple[str, ...]
    table: Lookup
    prefix: str = ""
    found_only: bool = False

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.rows} joined with {self.table.name} on {', '.join(self.on)}"


@final
@dataclass(frozen=True, slots=True)
class Joined:
    """All pairs of rows of one person from two private tables.

    Attributes:
        rows: Those of the first table.
        other: Those of the second.
        prefix: Stands before the names of the second table's columns.
        max_rows: Pairs of one person that count fully in one group; none is as the
            first table's unit says.
        max_groups: Her groups that count fully; likewise.
    """

    rows: Part
    other: Part
    prefix: str = ""
    max_rows: int | None = None
    max_groups: int | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that are no numbers of pairs."""
        for name in ("max_rows", "max_groups"):
            bound = getattr(self, name)
            if bound is not None and (type(bound) is not int or bound < 1):
                raise DeclarationError(
                    N_("{name} must be a whole number of at least 1, got {value}"),
                    hint=N_(
                        "take a number that most people stay within; noise grows with it"
                    ),
                    name=name,
                    value=quoted(bound),
                )

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.rows} joined with {self.other} on the person"


@final
@dataclass(frozen=True, slots=True)
class United:
    """All rows of several private tables of one schema."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        """Render for people."""
        return " and ".join(map(str, self.parts))


@final
@dataclass(frozen=True, slots=True)
class PerPerson:
    """One row for each person who has rows, with figures about these."""

    rows: Part
    features: tuple[tuple[str, Feature], ...]

    def __post_init__(self) -> None:
        """Refuse figures of which two have one name, however the node was built."""
        check_features(self.features)

    def __str__(self) -> str:
        """Render for people."""
        told = ", ".join(f"{name} = {one}" for name, one in self.features)
        return f"one row per person ({told}) of {self.rows}"


Base: TypeAlias = Other | Looked | Joined | United | PerPerson


def parts_of(base: Base) -> tuple[Part, ...]:
    """Return the rows that a node is made of, in order."""
    match base:
        case Other():
            return ()
        case Looked(rows) | PerPerson(rows):
            return (rows,)
        case Joined(rows, other):
            return (rows, other)
        case United(parts):
            return parts
