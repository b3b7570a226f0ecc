"""Whom the guarantee protects, as a table of the project file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from sfumato.declare.unit import PrivacyUnit, Rows, Unit
from sfumato.errors import DeclarationError
from sfumato.project.value import Strict
from sfumato.words import N_

__all__ = ["UnitTable"]


class UnitTable(Strict):
    """Whom the guarantee protects: each row, or each person with her rows."""

    column: str | None = Field(
        default=None,
        min_length=1,
        description="Rows with one value in it are one person's; without it, a unit is a row",
    )
    max_rows: int | None = Field(
        default=None, description="With column: rows of a person that count in a group"
    )
    max_groups: int | None = Field(
        default=None, description="With column: groups of a person that count"
    )
    missing: str | int | list[str | int] = Field(
        default_factory=list, description="With column: codes that mean nobody"
    )
    neighbours: Literal["add_remove", "replace_one"] = "add_remove"
    size: int | None = Field(
        default=None, description="Public number of units, with replace_one"
    )

    def declared(self) -> PrivacyUnit:
        """Return the declaration."""
        if self.column is None:
            return Rows(neighbours=self.neighbours, size=self.size)
        return Unit(
            self.column,
            max_rows=self.max_rows or 0,
            max_groups=self.max_groups or 0,
            neighbours=self.neighbours,
            size=self.size,
            missing=self.missing,
        )

    @model_validator(mode="after")
    def _fits(self) -> UnitTable:
        bounds = (self.max_rows, self.max_groups)
        if self.column is None and (any(b is not None for b in bounds) or self.missing):
            raise DeclarationError(
                N_("bounds of a person need the column that says whose a row is"),
                hint=N_('write column = "patient_id", or remove them'),
            )
        if self.column is not None and None in bounds:
            raise DeclarationError(
                N_("a person needs both max_rows and max_groups"),
                hint=N_(
                    "take numbers that most people stay within; noise grows with both"
                ),
            )
        self.declared()
        return self
