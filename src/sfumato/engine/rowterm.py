"""What one row adds to an aggregate, as SQL over the scan; for people, whose rows weigh."""

from __future__ import annotations

from typing import assert_never, final

from sfumato.engine.dialect import Dialect
from sfumato.engine.scan import Scan
from sfumato.plan import (
    Aggregate,
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Level,
    Part,
    SumValues,
)

__all__ = ["RowTerms"]


@final
class RowTerms:
    """Renders the term of a row (`sfumato.plan.term`) and whether it has one."""

    def __init__(self, scan: Scan, dialect: Dialect) -> None:
        """Keep the columns of the scan and the primitives."""
        self._scan, self._dialect = scan, dialect

    def count(self, aggregate: Aggregate) -> str:  # noqa: PLR0911  one for each
        """Return what is not null for the rows that have a term."""
        match aggregate:
            case CountValues(column, among) | CentredSum(column, among=among):
                return self._scan.column_of((column, among))
            case CentredSquare(column, complete=complete, among=among):
                if not complete:
                    return self._scan.column_of((column, among))
                return self._among(among) or "*"
            case SumValues(column, fill=fill):
                return "*" if fill else self._scan.column_of((column, ()))
            case CentredKey(column):
                return f"b{self._scan.axes.index(Bins(column, (), aggregate.count))}"
            case CentredProduct():
                return self._scan.product(aggregate)
            case CountRows() | CountPeople() | Bins() | Level() | Crossed() | Choice():
                return "*"
            case _:
                assert_never(aggregate)

    def _among(self, columns: tuple[str, ...]) -> str:
        """Return what is null where a cell of these columns is missing; or nothing."""
        return self._scan.column_of((columns[0], columns[1:])) if columns else ""

    def term(self, part: Part) -> str | None:  # noqa: C901  one for each
        """Return a row's term, null where it has none; none where it is always 1."""
        aggregate, dialect = part.aggregate, self._dialect
        match aggregate:
            case CountRows() | CountValues() | CountPeople():
                return None
            case Bins() | Level() | Crossed() | Choice():
                return None
            case CentredKey(column, place):
                b = f"b{self._scan.axes.index(Bins(column, (), aggregate.count))}"
                is_key = self._scan.terms.equals_any(column, b, [place])
                return f"CASE WHEN {is_key} THEN 1 WHEN {b} IS NOT NULL THEN -1 END"
            case CentredSum(column, among=among):
                q = self._scan.column_of((column, among))
                width = dialect.integer(aggregate.width)
                found = f"({q} - ({width} - {q}))"
            case CentredProduct():
                product = self._scan.product(aggregate)
                found = f"({product} * 2 - {dialect.integer(aggregate.reach)})"
            case CentredSquare(column, among=among):
                q = self._scan.column_of((column, among))
                middle = dialect.integer(aggregate.least + aggregate.most)
                found = f"({self._scan.square(aggregate, q)} * 2 - {middle})"
                if aggregate.complete:
                    found = f"COALESCE({found}, {dialect.integer(-aggregate.reach)})"
                    if among:
                        told = f"{self._among(among)} IS NOT NULL"
                        found = f"CASE WHEN {told} THEN {found} END"
            case SumValues(column, first, _, fill):
                found = self._scan.column_of((column, ()))
                found = f"({found} + {dialect.integer(first)})" if first else found
                if fill:
                    found = f"COALESCE({found}, {dialect.integer(fill)})"
            case _:
                assert_never(aggregate)
        return found if part.bits >= 0 else self._cut(found, -part.bits)

    def _cut(self, x: str, bits: int) -> str:
        """Return a term in units of ``2^bits``, cut towards zero."""
        below = self._dialect.shifted.format(x=f"(-{x})", bits=bits)
        above = self._dialect.shifted.format(x=x, bits=bits)
        return f"CASE WHEN {x} < 0 THEN -{below} ELSE {above} END"
