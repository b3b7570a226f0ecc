"""What differs between databases, as one table of templates; all else is shared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

__all__ = ["BIGQUERY", "DUCKDB", "POSTGRES", "SNOWFLAKE", "SPARK", "Dialect"]

# Texts that mean the same in every database, whatever its settings say of backslashes
# and of variables.
_PLAIN = re.compile(r"[A-Za-z0-9 _.,:;+-]*", re.ASCII)


@final
@dataclass(frozen=True, slots=True)
class Dialect:
    """The primitives of one database; ``{x}`` stands for an expression.

    A template may be used only if it is total: no cell makes it raise or overflow.
    `shifted` divides an integer of at least 0 by a power of two, and floors.
    `divided` and `rest` are of integers of at least 0 by such above 0. `sum_int64` is the
    sum of one person's integers, of which it is known beforehand that it fits.
    `to_int64` is applied to clamped doubles only, whose range is known beforehand.
    `quotient` is of a clamped double and a step; ``{tiny}`` is a number below which
    ``{x} / {step}`` may underflow and is zero for the grid. `nul` is the character
    U+0000, or none where no cell can hold it. `sum_text` is of integers in [0, 2^31),
    `wide_sum_text` of those in [0, 2^63); both are exact for any number of rows that a
    machine can hold. `grouping` is of one column, or of several in one number
    whose first column is its highest bit. `hexed` stands for a text by the bytes of its UTF-8;
    where it is given, all but plain words are written so. `fence` ends
    a sub-query that must not be copied into the places where its columns are used.
    `length` is in code points. `sorted` is a text to sort by
    its bytes. `packed` makes a 16-bit integer of one that fits, where
    groups of such are kept in an array. `recomputes` says that a named sub-query is computed
    anew wherever it is used. `coded` is the place of a text among several, from
    0, or null.
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
    wide_sum_text: str
    count_text: str
    grouping: str
    divided: str
    rest: str
    sum_int64: str
    null_int64: str
    cte: str
    length: str = "length({x})"
    int_to_text: str = "CAST({x} AS VARCHAR)"
    grouping_takes_many: bool = True
    has_values: bool = True
    hexed: str | None = None
    fence: str = ""
    sorted: str = "{x}"
    packed: str = ""
    coded: str = ""
    recomputes: bool = False

    def constant(self, value: float) -> str:
        """Return a double constant: its shortest text, read by the database."""
        text = repr(float(value))
        # With an exponent no database takes it for a decimal.
        return self.double.format(x=text if "e" in text else f"{text}e0")

    def integer(self, value: int) -> str:
        """Return an integer constant of 64 bits."""
        return self.int64.format(x=value)

    def string(self, value: str) -> str | None:
        """Return a text constant; none for text that no database cell can hold."""
        try:
            value.encode()
        except UnicodeEncodeError:  # a lone surrogate
            return None
        if self.hexed is not None and not _PLAIN.fullmatch(value):
            return self.hexed.format(x=value.encode().hex().upper())
        if "\0" in value and self.nul is None:
            return None
        parts = (self.text.format(x=p.replace("'", "''")) for p in value.split("\0"))
        # Drivers cut a statement at U+0000, so it never stands in the text itself.
        return f"({f' || {self.nul} || '.join(parts)})" if "\0" in value else next(parts)  # fmt: skip

    def total(self, x: str, most: int) -> str:
        """Return the exact sum, as text, of integers between 0 and `most`."""
        template = self.sum_text if most < 1 << 31 else self.wide_sum_text
        return template.format(x=x)

    def rows(
        self, rows: Sequence[Sequence[str]], name: str, columns: Sequence[str]
    ) -> str:
        """Return rows of constants as something to read from."""
        if self.has_values:
            listed = ", ".join(f"({', '.join(row)})" for row in rows)
            return f"(VALUES {listed}) AS {name}({', '.join(columns)})"
        first, *others = rows
        heads = (f"{x} AS {c}" for x, c in zip(first, columns, strict=True))
        selects = [", ".join(heads), *map(", ".join, others)]
        return f"({' UNION ALL '.join(f'SELECT {one}' for one in selects)}) AS {name}"

    def marks(self, columns: Sequence[str]) -> str:
        """Return a number whose bits say which columns a grouping set leaves out."""
        if self.grouping_takes_many:
            return self.grouping.format(x=", ".join(columns))
        bits = (self.grouping.format(x=name) for name in reversed(columns))
        parts = [f"{bit} * {self.integer(1 << i)}" for i, bit in enumerate(bits)]
        return f"({' + '.join(parts)})"


DUCKDB = Dialect(
    name="duckdb",
    double="({x})",  # read as the text in a cast is, and parsed in half the time
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
    wide_sum_text="CAST(COALESCE(SUM({x}), 0) AS VARCHAR)",
    count_text="CAST(COUNT({x}) AS VARCHAR)",
    grouping="GROUPING({x})",
    divided="({x} // {y})",
    rest="({x} % {y})",
    sum_int64="CAST(COALESCE(SUM({x}), 0) AS BIGINT)",
    null_int64="CAST(NULL AS BIGINT)",
    cte="{name} AS MATERIALIZED",
    packed="CAST({x} AS SMALLINT)",
    coded="CAST(enum_code(TRY_CAST({x} AS ENUM({keys}))) AS BIGINT)",
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
    wide_sum_text="CAST(COALESCE(SUM({x}), 0) AS text)",
    count_text="CAST(COUNT({x}) AS text)",
    grouping="GROUPING({x})",
    divided="({x} / {y})",
    rest="({x} % {y})",
    sum_int64="CAST(COALESCE(SUM({x}), 0) AS bigint)",
    null_int64="CAST(NULL AS bigint)",
    cte="{name} AS MATERIALIZED",
    fence=" OFFSET 0",
    length="char_length({x})",
    int_to_text="CAST({x} AS text)",
    sorted='{x} COLLATE "C"',
)

_LOW = (1 << 21) - 1

SPARK = Dialect(
    name="spark",
    double="CAST('{x}' AS DOUBLE)",
    int64="CAST('{x}' AS BIGINT)",
    text="'{x}'",
    nul="CAST(X'00' AS STRING)",
    null_double="CAST(NULL AS DOUBLE)",
    null_text="CAST(NULL AS STRING)",
    to_double="CAST({x} AS DOUBLE)",
    truth_to_double="CAST({x} AS DOUBLE)",
    to_int64="CAST({x} AS BIGINT)",
    is_nan="isnan({x})",
    floor="floor({x})",
    shifted="shiftright({x}, {bits})",
    quotient="{x} / {step}",
    is_whole_text="contains({x}, '.') AND regexp_extract({x}, '^-?[0-9]+[.]0+', 0) = {x}",
    whole_text="substring_index({x}, '.', 1)",
    # A sum of BIGINT wraps at 2^63, or raises, as the session is set. So integers are
    # added up in pieces that would need 2^42 rows for that, put together as decimals.
    sum_text="CAST(COALESCE(CAST(SUM(shiftright({x}, 16)) AS DECIMAL(19, 0))"
    " * CAST('65536' AS DECIMAL(5, 0))"
    " + CAST(SUM({x} & 65535) AS DECIMAL(19, 0)), 0) AS STRING)",
    wide_sum_text="CAST(COALESCE(CAST(SUM(shiftright({x}, 42)) AS DECIMAL(14, 0))"
    " * CAST('4398046511104' AS DECIMAL(13, 0))"
    f" + CAST(SUM(shiftright({{x}}, 21) & {_LOW}) AS DECIMAL(14, 0))"
    " * CAST('2097152' AS DECIMAL(7, 0))"
    f" + CAST(SUM({{x}} & {_LOW}) AS DECIMAL(14, 0)), 0) AS STRING)",
    count_text="CAST(COUNT({x}) AS STRING)",
    grouping="CAST(GROUPING({x}) AS BIGINT)",
    divided="({x} DIV {y})",
    rest="({x} % {y})",
    sum_int64="CAST(COALESCE(SUM({x}), 0) AS BIGINT)",
    null_int64="CAST(NULL AS BIGINT)",
    cte="{name} AS",
    recomputes=True,
    grouping_takes_many=False,
    hexed="CAST(X'{x}' AS STRING)",
    length="char_length({x})",
    int_to_text="CAST({x} AS STRING)",
)

BIGQUERY = Dialect(
    name="bigquery",
    double="CAST('{x}' AS FLOAT64)",
    int64="CAST('{x}' AS INT64)",
    text="'{x}'",
    nul="CODE_POINTS_TO_STRING([0])",
    null_double="CAST(NULL AS FLOAT64)",
    null_text="CAST(NULL AS STRING)",
    to_double="CAST({x} AS FLOAT64)",
    truth_to_double="CAST(CAST({x} AS INT64) AS FLOAT64)",
    to_int64="CAST({x} AS INT64)",
    is_nan="IS_NAN({x})",
    floor="FLOOR({x})",
    shifted="({x} >> {bits})",
    quotient="IEEE_DIVIDE({x}, {step})",
    is_whole_text="STRPOS({x}, '.') > 0 AND REGEXP_CONTAINS({x}, '^-?[0-9]+[.]0+$')",
    whole_text="SUBSTR({x}, 1, STRPOS({x}, '.') - 1)",
    sum_text="CAST(COALESCE(SUM(CAST({x} AS BIGNUMERIC)), 0) AS STRING)",
    wide_sum_text="CAST(COALESCE(SUM(CAST({x} AS BIGNUMERIC)), 0) AS STRING)",
    count_text="CAST(COUNT({x}) AS STRING)",
    grouping="GROUPING({x})",
    divided="DIV({x}, {y})",
    rest="MOD({x}, {y})",
    sum_int64="COALESCE(SUM({x}), 0)",
    null_int64="CAST(NULL AS INT64)",
    cte="{name} AS",
    grouping_takes_many=False,
    has_values=False,
    hexed="SAFE_CONVERT_BYTES_TO_STRING(FROM_HEX('{x}'))",
    int_to_text="CAST({x} AS STRING)",
)

SNOWFLAKE = Dialect(
    name="snowflake",
    double="CAST('{x}' AS DOUBLE)",
    int64="CAST('{x}' AS NUMBER(38, 0))",
    text="'{x}'",
    nul="CHR(0)",
    null_double="CAST(NULL AS DOUBLE)",
    null_text="CAST(NULL AS VARCHAR)",
    to_double="CAST({x} AS DOUBLE)",
    truth_to_double="CAST(CAST({x} AS INTEGER) AS DOUBLE)",
    to_int64="CAST({x} AS NUMBER(38, 0))",
    is_nan="({x} = CAST('NaN' AS DOUBLE))",
    floor="FLOOR({x})",
    shifted="BITSHIFTRIGHT({x}, {bits})",
    quotient="{x} / {step}",
    is_whole_text="CONTAINS({x}, '.') AND REGEXP_LIKE({x}, '-?[0-9]+[.]0+')",
    whole_text="SPLIT_PART({x}, '.', 1)",
    sum_text="CAST(COALESCE(SUM({x}), 0) AS VARCHAR)",
    wide_sum_text="CAST(COALESCE(SUM({x}), 0) AS VARCHAR)",
    count_text="CAST(COUNT({x}) AS VARCHAR)",
    grouping="GROUPING({x})",
    divided="CAST(({x} - MOD({x}, {y})) / {y} AS NUMBER(38, 0))",
    rest="MOD({x}, {y})",
    sum_int64="COALESCE(SUM({x}), 0)",
    null_int64="CAST(NULL AS NUMBER(38, 0))",
    cte="{name} AS",
    hexed="HEX_DECODE_STRING('{x}')",
)
