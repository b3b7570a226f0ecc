"""Tables of counts over several columns at once, and the plan that pays for them.

A *coding* cuts the values of one column into public bins, with a place for missing
cells; a *contingency table* counts rows by the bins of a few columns. A plan of such
tables is paid for as a whole, before a row is read; which tables are then measured may
depend on earlier noisy answers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import isqrt, prod
from typing import assert_never, final

from sfumato.account import (
    GDP,
    PICO,
    ZCDP,
    Epsilon,
    Gaussian,
    Geometric,
    Loss,
    Measure,
    Selection,
)
from sfumato.declare.schema import Schema
from sfumato.declare.unit import PrivacyUnit, Rows, bounds_of
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = [
    "FINE",
    "Coding",
    "TablePlan",
    "TableQuery",
    "choice_of",
    "fraction",
    "noise_of",
]

FINE = 1 << 10
"""Predicted counts are compared in 1024ths of a row: whole numbers, exactly."""


@final
@dataclass(frozen=True, slots=True)
class Coding:
    """How the cells of one column become bins; public, from declarations and noise.

    Attributes:
        column: The column.
        count: Number of bins.
        missing: The bin of a missing cell.
        edges: For numbers, the grid number at which each bin begins, increasing from
            the grid's first; a bin ends where the next begins.
        places: For keys, the bin of each declared key.
    """

    column: str
    count: int
    missing: int
    edges: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class TableQuery:
    """Contingency tables to be counted in one reading of the data.

    Attributes:
        schema: Public facts of the table.
        codings: The bins of each column.
        sets: For each table, the places of its columns among `codings`.
    """

    schema: Schema
    codings: tuple[Coding, ...]
    sets: tuple[tuple[int, ...], ...]

    def shape(self, table: int) -> tuple[int, ...]:
        """Return the bins of each column of a table."""
        return tuple(self.codings[i].count for i in self.sets[table])

    @property
    def cells(self) -> int:
        """Number of integers in all tables together."""
        return sum(prod(self.shape(t)) for t in range(len(self.sets)))


@final
@dataclass(frozen=True, slots=True)
class TablePlan:
    """What a synthetic table will cost, known before any row is read.

    Attributes:
        dataset: Name of the dataset: whose budget pays.
        schema: Public facts of the table.
        settings: Everything else that was decided beforehand, in words.
        cost: The whole charge. All that is measured or chosen is paid from it.
    """

    dataset: str
    schema: Schema
    settings: tuple[tuple[str, str], ...]
    cost: Loss

    @property
    def measure(self) -> Measure:
        """The currency of the charge."""
        return self.cost.measure

    @property
    def digest(self) -> str:
        """A hash of everything above: what a receipt says it paid for."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @property
    def descriptor(self) -> dict[str, object]:
        """What the ledger keeps: the worst mechanism of that charge.

        How the charge is shared among measurements depends on earlier noisy answers,
        so that nothing more is known when it is paid.
        """
        unit = self.schema.unit
        worst: dict[str, str]
        match self.cost:
            case Epsilon():
                worst = {"kind": "pure", "epsilon": str(self.cost)}
            case ZCDP():
                worst = {"kind": "zcdp", "rho": str(self.cost)}
            case GDP():
                worst = {
                    "kind": "gaussian",
                    "squared_sensitivity": str(2 * self.cost.units),
                    "variance": str(PICO),
                }
            case _:
                assert_never(self.cost)
        return {
            "version": 1,
            "unit": unit.name,
            **bounds_of(unit),
            "neighbours": unit.neighbours,
            "mechanisms": [worst],
        }


def fraction(unit: PrivacyUnit) -> int:
    """Return how many integers of a counted table make one row.

    Rows are counted by one each. Of a person with m rows each counts min(m, R)/m, so
    that her tables are counted in 1024ths of a row, each cell cut down to a whole one.
    """
    return 1 if isinstance(unit, Rows) else FINE


def noise_of(
    share: Loss, unit: PrivacyUnit, *, tables: int = 1, size: int | None = None
) -> Geometric | Gaussian:
    r"""Return the noise that a share of the charge buys for counts of rows.

    Theorem. A row lies in exactly one cell of a contingency table, and a person's rows,
    weighed down to R = ``max_rows`` rows, add counts of at least 0 whose sum is at most
    r = R · `fraction` (1 where rows are units). Adding or removing her moves the table by
    at most r in L1, and so in L2. Replacing her by another adds one such vector and
    takes one away: at most 2r in L1 and, as no entry of either is below 0, 2r² in
    squared L2. Numbers that each move by at most size · R, `tables` of them, have L1
    sensitivity tables · size · R and squared L2 sensitivity tables · (size · R)² (twice
    and four times that under replace-one, as sums of two such changes).

    Args:
        share: What is paid.
        unit: The protected unit, its bounds and the neighbour relation.
        tables: How many numbers change; 1 for the cells of one table.
        size: How far each moves when a row is added or removed; none for the cells of a
            table.
    """
    two = unit.neighbours == "replace_one"
    reach = unit.max_rows * (fraction(unit) if size is None else size)
    if isinstance(share, Epsilon):
        return Geometric(tables * reach * (2 if two else 1), share)
    square = tables * reach**2 * ((2 if size is None else 4) if two else 1)
    law = "whole" if isinstance(share, GDP) else "discrete"
    return Gaussian(square, share, law=law, squared=True)  # type: ignore[arg-type]


def choice_of(share: Loss, unit: PrivacyUnit, *, size: int) -> Selection:
    """Return the private choice that a share buys.

    Under pure ε permute-and-flip, which chooses best; under ρ the exponential
    mechanism, whose bounded range makes it ε²/8-zCDP: the largest whole ε is taken.

    Args:
        share: What is paid.
        unit: The protected unit, its bounds and the neighbour relation.
        size: How far a row that is added or removed moves any one score; a person moves
            it by that times her most rows.

    Raises:
        DeclarationError: The currency has no price for a choice.
    """
    change = size * unit.max_rows * (2 if unit.neighbours == "replace_one" else 1)
    match share:
        case Epsilon():
            return Selection(change, share)
        case ZCDP():
            units = isqrt(8 * PICO * share.units)
            return Selection(change, Epsilon.from_units(units), law="exponential")
        case GDP():
            raise DeclarationError(
                N_("a budget of Gaussian noise only cannot pay for a private choice"),
                hint=N_(
                    'use method="oneshot" or "independent", or leave gaussian_only out'
                ),
            )
        case _:
            assert_never(share)
