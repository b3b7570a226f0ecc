"""Figures about a person as SQL: one row per person, from her rows alone.

Two layers below one GROUP BY::

    SELECT MAX(x0) AS c0, MIN(CASE WHEN o1 = f1 THEN x1 END) AS c1, …, u AS c2
    FROM (SELECT u, x0, x1, o1, MIN(o1) OVER (PARTITION BY u) AS f1
          FROM (SELECT person AS u, value AS x0, … FROM rows WHERE person IS NOT NULL))
    GROUP BY u

The first and the last row are told by their order alone; among equals the smallest value
counts, so no database's order of rows shows.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sfumato.declare.feature import Feature
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Floating, Layout, Physical, Places
from sfumato.engine.terms import Terms

__all__ = ["Figures", "Grid", "grid_of"]

_BITS = 30  # of a term of a sum: 2^33 of them fit 64 bits


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """How values of a column are added up: ``(q - first) >> trim``, q its grid number.

    Attributes:
        first: The grid number of the lower bound.
        trim: Bits that are dropped, so that a term is at most 2^30.
        size: What one term stands for.
        start: What each value begins with: the lower bound on the grid.
    """

    first: int
    trim: int
    size: float
    start: float

    def total(self, terms: int, values: int) -> float:
        """Return the sum of that many values whose terms add up to `terms`.

        All operations are of doubles, in this order, on every engine.
        """
        return float(terms) * self.size + float(values) * self.start


def grid_of(column: Real | Integer | Boolean) -> Grid:
    """Return the grid on which values of a column are added up per person."""
    if isinstance(column, Boolean):
        return Grid(0, 0, 1.0, 0.0)
    trim = max(0, column.width.bit_length() - _BITS)
    size = column.step * 2.0**trim
    return Grid(column.first, trim, size, float(column.first) * column.step)


@final
class Figures:
    """The SELECT of figures about each person.

    Attributes:
        layout: How they are stored, without the person's identifier.
    """

    def __init__(
        self,
        schema: Schema,
        layout: Layout,
        dialect: Dialect,
        features: Sequence[Feature],
    ) -> None:
        """Keep what is rendered."""
        self._schema, self._dialect = schema, dialect
        self._terms, self._features = Terms(schema, layout, dialect), features
        self.layout: tuple[Physical, ...] = tuple(map(self._stored, features))

    def select(self, rows: str) -> str:
        """Return the statement over these rows; the last column is the identifier."""
        whose, several = self._terms.identity(), list(enumerate(self._features))
        cells = [f"{whose} AS u"]
        cells += [f"{self._value(one)} AS x{i}" for i, one in several if one.column]
        cells += [
            f"{self._terms.number(one.by)} AS o{i}" for i, one in several if one.by
        ]
        inner = (
            f"SELECT {', '.join(cells)} FROM {rows} AS data WHERE ({whose}) IS NOT NULL"
            f"{self._dialect.fence}"
        )
        ends = [self._end(i, one) for i, one in several if one.by]
        if ends:
            inner = f"SELECT steps.*, {', '.join(ends)} FROM ({inner}) AS steps"
        outputs = [f"{self._figure(i, one)} AS c{i}" for i, one in several]
        outputs.append(f"u AS c{len(several)}")
        return f"SELECT {', '.join(outputs)} FROM ({inner}) AS steps GROUP BY u"

    def _stored(self, one: Feature) -> Physical:
        kept = one.column is not None and one.of in ("first", "last")
        if kept and isinstance(self._schema[str(one.column)], Category):
            return Places()
        return Floating()

    def _value(self, one: Feature) -> str:
        """Return a row's value, null where it is missing."""
        name, dialect = str(one.column), self._dialect
        column = self._schema[name]
        if one.of == "count":
            return self._terms.has_value(name)
        if isinstance(column, Category):
            return dialect.to_int64.format(x=self._terms.coded(name))
        if isinstance(column, Boolean):
            cell = dialect.truth_to_double.format(x=self._terms.truth(name))
        else:
            cell = self._terms.clamped(name)
        if one.of != "sum":
            return cell
        assert isinstance(column, Real | Integer | Boolean)  # noqa: S101  the plan checked it
        grid, steps = grid_of(column), self._terms.steps(name, f"({cell})")
        term = f"({steps} - {dialect.integer(grid.first)})"
        return dialect.shifted.format(x=term, bits=grid.trim) if grid.trim else term

    def _end(self, i: int, one: Feature) -> str:
        end = "MIN" if one.of == "first" else "MAX"
        order = f"CASE WHEN x{i} IS NOT NULL THEN o{i} END"
        return f"{end}({order}) OVER (PARTITION BY u) AS f{i}"

    def _figure(self, i: int, one: Feature) -> str:
        dialect, x = self._dialect, f"x{i}"
        match one.of:
            case "count":
                return dialect.to_double.format(x=f"COUNT({x if one.column else '*'})")
            case "max":
                return f"MAX({x})"
            case "min":
                return f"MIN({x})"
            case "first" | "last":
                return f"MIN(CASE WHEN o{i} = f{i} THEN {x} END)"
            case "sum":
                column = self._schema[str(one.column)]
                assert isinstance(column, Real | Integer | Boolean)  # noqa: S101
                grid = grid_of(column)
                terms = dialect.to_double.format(x=dialect.sum_int64.format(x=x))
                values = dialect.to_double.format(x=f"COUNT({x})")
                size, start = dialect.constant(grid.size), dialect.constant(grid.start)
                total = f"({terms} * {size} + {values} * {start})"
                return f"CASE WHEN COUNT({x}) > 0 THEN {total} END"
