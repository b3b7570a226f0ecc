"""Whom the guarantee protects, and what counts as a neighbouring table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from sfumato.declare.token import token
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = [
    "Identifier",
    "Neighbours",
    "PrivacyUnit",
    "Rows",
    "Unit",
    "bounds_of",
    "check_unit",
    "rows_only",
    "terms_of",
]

Neighbours: TypeAlias = Literal["add_remove", "replace_one"]

_MOST = 1 << 30  # max_rows * max_groups: weighted sums stay within 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Each row is one protected unit: one person has at most one row.

    Args:
        neighbours: ``"add_remove"`` (default): two tables are neighbours when one has
            one row more; the number of rows is private. ``"replace_one"``: when they
            differ in the content of one row; the number of rows is public.
        size: The public number of rows; required with, and only with, replace-one.

    Raises:
        DeclarationError: The relation is unknown, or `size` does not go with it.

    Examples:
        >>> Rows(), Rows(neighbours="replace_one", size=768)
        (Rows(neighbours='add_remove', size=None), Rows(neighbours='replace_one', size=768))
        >>> Rows(size=768)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] a public number of rows goes with replace_one only
          hint: write Rows(neighbours="replace_one", size=768), or leave size out
    """

    neighbours: Neighbours = "add_remove"
    size: int | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        _check_relation(self.neighbours)
        if self.neighbours == "add_remove" and self.size is not None:
            raise DeclarationError(
                N_("a public number of rows goes with replace_one only"),
                hint=N_(
                    'write Rows(neighbours="replace_one", size={size}), '
                    "or leave size out"
                ),
                size=self.size,
            )
        if self.neighbours == "replace_one" and not _is_count(self.size):
            raise DeclarationError(
                N_("replace_one needs the public number of rows, got size={size}"),
                hint=N_('write Rows(neighbours="replace_one", size=768)'),
                size=self.size,
            )

    @property
    def name(self) -> str:
        """What one unit is called in claims and ledgers."""
        return "row"

    @property
    def max_rows(self) -> int:
        """Rows of one unit that count in a group: its only one."""
        return 1

    @property
    def max_groups(self) -> int:
        """Groups of one unit that count: the one its row lies in."""
        return 1

    @property
    def rows(self) -> int | None:
        """The public number of rows, if it is public."""
        return self.size


@final
@dataclass(frozen=True, slots=True)
class Identifier:
    """How the cells that say whose a row is are read; see ``docs/missing-values.md``.

    Attributes:
        missing: Canonical texts that mean "nobody"; null and the empty text always do.
    """

    missing: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, init=False)
class Unit:
    """Each person is one protected unit: all rows with one identifier.

    A person's influence is bounded by weights and never by leaving rows out: of m rows
    of hers in a group, each counts ``min(m, max_rows) / m``; of k groups that she has
    rows in, each counts ``min(k, max_groups) / k`` (``docs/sensitivity.md``). Choose
    bounds that most people stay within: noise grows with their product, and what lies
    beyond is weighed down, which draws counts and sums towards 0.

    Args:
        column: The column of the source that holds the identifiers: whole numbers or
            text. It is not declared among the columns, and cannot be asked about. Rows
            without an identifier are left out of every answer.
        max_rows: How many rows of one person count fully in one group.
        max_groups: How many of her groups count fully. Without `group_by` there is one.
        neighbours: ``"add_remove"`` (default): two tables are neighbours when one has
            one person more, with all her rows. ``"replace_one"``: when all rows of one
            person are replaced by rows of another; the number of people is public.
        size: The public number of people; required with, and only with, replace-one.
        missing: Codes that mean "nobody", such as ``-1`` or ``"NA"``: one or several.

    Raises:
        DeclarationError: A bound is not a whole number above 0, their product exceeds
            2^30, or the rest does not go together.

    Examples:
        >>> Unit("patient_id", max_rows=5, max_groups=2)
        Unit('patient_id', max_rows=5, max_groups=2)
        >>> Unit("patient_id", max_rows=0, max_groups=2)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] max_rows must be a whole number of at least 1, got 0
          hint: take a number that most people stay within; noise grows with it
    """

    column: str
    max_rows: int
    max_groups: int
    neighbours: Neighbours
    size: int | None
    missing: tuple[str, ...]

    def __init__(
        self,
        column: str,
        *,
        max_rows: int,
        max_groups: int,
        neighbours: Neighbours = "add_remove",
        size: int | None = None,
        missing: object = (),
    ) -> None:
        """Check the declaration once."""
        if not _is_name(column):
            raise DeclarationError(
                N_("a unit is named by a column, got {value}"),
                hint=N_('write Unit("patient_id", max_rows=5, max_groups=2)'),
                value=quoted(column),
            )
        _check_relation(neighbours)
        _check_bounds(max_rows, max_groups)
        public = neighbours == "replace_one"
        if public != (size is not None) or (public and not _is_count(size)):
            raise DeclarationError(
                N_("a public number of people goes with replace_one, and only with it"),
                hint=N_('write neighbours="replace_one", size=768, or neither of them'),
            )
        for name, value in (
            ("column", column), ("max_rows", max_rows), ("max_groups", max_groups),
            ("neighbours", neighbours), ("size", size), ("missing", _codes(missing)),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """What one unit is called in claims and ledgers."""
        return "person"

    @property
    def identifier(self) -> Identifier:
        """How its cells are read."""
        return Identifier(self.missing)

    @property
    def rows(self) -> None:
        """The public number of rows: where people have several, it is private."""
        return

    def __repr__(self) -> str:
        """Show what is not at its default."""
        parts = [repr(self.column), f"max_rows={self.max_rows}"]
        parts.append(f"max_groups={self.max_groups}")
        if self.size is not None:
            parts += [f"neighbours={self.neighbours!r}", f"size={self.size}"]
        if self.missing:
            parts.append(f"missing={self.missing!r}")
        return f"Unit({', '.join(parts)})"


PrivacyUnit: TypeAlias = Rows | Unit


def bounds_of(unit: PrivacyUnit) -> dict[str, str | int]:
    """Return what a claim says of a person beyond the name of the unit; of rows nothing.

    Examples:
        >>> bounds_of(Unit("id", max_rows=5, max_groups=2))
        {'column': 'id', 'max_rows': 5, 'max_groups': 2}
    """
    if isinstance(unit, Rows):
        return {}
    names = ("column", "max_rows", "max_groups")
    return {name: getattr(unit, name) for name in names}


def terms_of(unit: PrivacyUnit) -> str:
    """Return whom a loss is about, in words that a ledger keeps and compares.

    Examples:
        >>> terms_of(Rows()), terms_of(Unit("id", max_rows=5, max_groups=2))
        ('row, add_remove', "person by 'id', add_remove")
    """
    by = "" if isinstance(unit, Rows) else f" by {unit.column!r}"
    return f"{unit.name}{by}, {unit.neighbours}"


def rows_only(unit: PrivacyUnit) -> Rows:
    """Refuse people with many rows, where only tables of one row each can be used.

    Raises:
        DeclarationError: The unit is a person.
    """
    if isinstance(unit, Rows):
        return unit
    raise DeclarationError(
        N_("this needs one row per person; here a person has many rows"),
        hint=N_("make a table of one row per person first, and declare Rows()"),
    )


def check_unit(unit: object, columns: Iterable[str]) -> None:
    """Refuse what is no unit, and a unit whose column is declared as a column too."""
    if not isinstance(unit, Rows | Unit):
        raise DeclarationError(
            N_("the unit of a table is Rows() or Unit(...), got {value}"),
            hint=N_("exactly one unit is protected: a row, or a person with her rows"),
            value=quoted(unit),
        )
    if isinstance(unit, Unit) and unit.column in columns:
        raise DeclarationError(
            N_("column {name} says whose a row is; it cannot be declared otherwise"),
            hint=N_("leave it out of the columns; Unit({name}, ...) declares it"),
            name=repr(unit.column),
        )


def _check_relation(name: object) -> None:
    if not isinstance(name, str) or name not in ("add_remove", "replace_one"):
        raise DeclarationError(
            N_("unknown neighbour relation {name}"),
            hint=N_('use "add_remove" or "replace_one"'),
            name=quoted(name),
        )


def _check_bounds(rows: int, groups: int) -> None:
    for name, value in (("max_rows", rows), ("max_groups", groups)):
        if not _is_count(value):
            raise DeclarationError(
                N_("{name} must be a whole number of at least 1, got {value}"),
                hint=N_(
                    "take a number that most people stay within; noise grows with it"
                ),
                name=name,
                value=quoted(value),
            )
    if rows * groups > _MOST:
        raise DeclarationError(
            N_("max_rows times max_groups is above 2^30"),
            hint=N_("noise grows with both; no table needs as much of one person"),
        )


def _codes(codes: object) -> tuple[str, ...]:
    several: Iterable[object] = (
        codes if isinstance(codes, tuple | list | set) else (codes,)
    )
    texts = tuple(t for c in several if (t := token(c)) is not None)
    if len(texts) < len(tuple(several)):
        raise DeclarationError(
            N_("a code for a missing identifier is a text or a whole number"),
            hint=N_("nulls, NaN and the empty text are missing anyway"),
        )
    return tuple(sorted(set(texts)))  # a set has no order, and a plan's hash needs one


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
