"""Whom the guarantee protects, and what counts as a neighbouring table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Neighbours", "Rows"]

Neighbours: TypeAlias = Literal["add_remove", "replace_one"]


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
        if self.neighbours not in ("add_remove", "replace_one"):
            raise DeclarationError(
                N_("unknown neighbour relation {name}"),
                hint=N_('use "add_remove" or "replace_one"'),
                name=repr(self.neighbours),
            )
        if self.neighbours == "add_remove" and self.size is not None:
            raise DeclarationError(
                N_("a public number of rows goes with replace_one only"),
                hint=N_(
                    'write Rows(neighbours="replace_one", size={size}), '
                    "or leave size out"
                ),
                size=self.size,
            )
        if self.neighbours == "replace_one" and (
            isinstance(self.size, bool)
            or not isinstance(self.size, int)
            or self.size < 1
        ):
            raise DeclarationError(
                N_("replace_one needs the public number of rows, got size={size}"),
                hint=N_('write Rows(neighbours="replace_one", size=768)'),
                size=self.size,
            )
