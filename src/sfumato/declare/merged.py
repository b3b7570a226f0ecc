"""Units of rows that were made of other rows: one of each person, or one of each table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.declare.unit import Rows

__all__ = ["OneInEach", "OnePerPerson"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OnePerPerson(Rows):
    """Each row tells all that is asked of one person: the unit is the person.

    Attributes:
        column: The column of the source whose identifiers say who she is.
    """

    column: str

    @property
    def name(self) -> str:
        """What one unit is called in claims and ledgers."""
        return "person"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OneInEach(Rows):
    """One person has at most one row in each of several united tables.

    Attributes:
        tables: How many rows of hers the question sees at most.
    """

    tables: int

    @property
    def max_rows(self) -> int:
        """Rows of one unit that count, wherever they lie."""
        return self.tables
