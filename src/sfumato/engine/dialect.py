"""What differs between databases, as one table of templates; all else is shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

__all__ = ["DUCKDB", "POSTGRES", "Dialect"]


@final
@dataclass(frozen=True, slots=True)
class Dialect:
    """The primitives of one database; ``{x}`` stands for an expression.

    A template may be used only if it is total: no cell makes it raise or overflow.
    `shifted` divides an integer of at least 0 by a power of two, and floors.
    `to_int64` is applied to clamped doubles only, whose range is known beforehand.
    `quotient` is of a clamped double and a step; ``{tiny}`` is a number below which
    ``{x} / {step}`` may underflow and is zero for the grid. `nul` is the character
    U+0000, or none where no cell can hold it.
    """

    name: str
    double: str
    int64: str
    text: str
    nul: str | None
    null_double: str
    null_text: str
    to_double: str
    truth_to_double: str
    to_int64: str
    is_nan: str
    floor: str
    shifted: str
    quotient: str
    is_whole_text: str
    whole_text: str
    sum_text: str
    count_text: str
    grouping: str

    def constant(self, value: float) -> str:
        """Return a double constant: its shortest text, read by the database."""
        return self.double.format(x=repr(float(value)))

    def integer(self, value: int) -> str:
        """Return an integer constant of 64 bits."""
        return self.int64.format(x=value)

    def string(self, value: str) -> str | None:
        """Return a text constant; none for text that no database cell can hold."""
        try:
            value.encode()
        except UnicodeEncodeError:  # a lone surrogate
            return None
        if "\0" in value and self.nul is None:
            return None
        parts = (self.text.format(x=p.replace("'", "''")) for p in value.split("\0"))
        # Drivers cut a statement at U+0000, so it never stands in the text itself.
        return f"({f' || {self.nul} || '.join(parts)})" if "\0" in value else next(parts)  # fmt: skip


DUCKDB = Dialect(
    name="duckdb",
    double="CAST('{x}' AS DOUBLE)",
    int64="CAST('{x}' AS BIGINT)",
    text="'{x}'",
    nul="chr(0)",
    null_double="CAST(NULL AS DOUBLE)",
    null_text="CAST(NULL AS VARCHAR)",
    to_double="CAST({x} AS DOUBLE)",
    truth_to_double="CAST({x} AS DOUBLE)",
    to_int64="CAST({x} AS BIGINT)",
    is_nan="isnan({x})",
    floor="floor({x})",
    shifted="({x} >> {bits})",
    quotient="{x} / {step}",
    # `contains` is a cheap test that spares most cells the regular expression.
    is_whole_text="contains({x}, '.') AND regexp_full_match({x}, '-?[0-9]+[.]0+')",
    whole_text="split_part({x}, '.', 1)",
    sum_text="CAST(COALESCE(SUM({x}), 0) AS VARCHAR)",
    count_text="CAST(COUNT({x}) AS VARCHAR)",
    grouping="GROUPING({x})",
)

POSTGRES = Dialect(
    name="postgres",
    double="CAST('{x}' AS double precision)",
    int64="CAST('{x}' AS bigint)",
    text="CAST('{x}' AS text)",
    nul=None,
    null_double="CAST(NULL AS double precision)",
    null_text="CAST(NULL AS text)",
    to_double="CAST({x} AS double precision)",
    truth_to_double="CAST(CAST({x} AS integer) AS double precision)",
    to_int64="CAST({x} AS bigint)",
    is_nan="({x} = CAST('NaN' AS double precision))",
    floor="floor({x})",
    shifted="({x} >> {bits})",
    # PostgreSQL raises where a quotient underflows to zero.
    quotient="CASE WHEN {x} > -{tiny} AND {x} < {tiny} THEN CAST('0' AS double precision)"
    " ELSE {x} / {step} END",
    is_whole_text="strpos({x}, '.') > 0 AND octet_length({x}) <= 16777216 AND {x} ~ '^-?[0-9]+[.]0+$'",
    whole_text="split_part({x}, '.', 1)",
    sum_text="CAST(COALESCE(SUM({x}), 0) AS text)",
    count_text="CAST(COUNT({x}) AS text)",
    grouping="GROUPING({x})",
)
