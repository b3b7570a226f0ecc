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
from sfumato.declare.unit import PrivacyUnit, rows_only
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Coding", "TablePlan", "TableQuery", "choice_of", "noise_of"]


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

    def __post_init__(self) -> None:
        """Refuse people with many rows: a person could be in many cells."""
        rows_only(self.schema.unit)

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
            "unit": "row",
            "neighbours": unit.neighbours,
            "mechanisms": [worst],
        }


def noise_of(
    share: Loss, unit: PrivacyUnit, *, tables: int = 1, size: int = 1
) -> Geometric | Gaussian:
    r"""Return the noise that a share of the charge buys for counts of rows.

    Theorem. A row lies in exactly one cell of a contingency table. Adding or removing
    it moves one count by 1, so that the table has L1 and L2 sensitivity 1; replacing it
    moves two counts by 1 each, so that the L1 sensitivity is 2 and the squared L2
    sensitivity 2. Numbers that each move by at most `size`, `tables` of them, have L1
    sensitivity tables · size and squared L2 sensitivity tables · size² (twice and four
    times that under replace-one, as sums of two such changes).

    Args:
        share: What is paid.
        unit: The neighbour relation.
        tables: How many numbers change; 1 for the cells of one table.
        size: How far each moves when a row is added or removed.
    """
    two = rows_only(unit).neighbours == "replace_one"
    alone = tables == size == 1
    if isinstance(share, Epsilon):
        return Geometric(tables * size * (2 if two else 1), share)
    square = tables * size**2 * ((2 if alone else 4) if two else 1)
    law = "whole" if isinstance(share, GDP) else "discrete"
    return Gaussian(square, share, law=law, squared=True)  # type: ignore[arg-type]


def choice_of(share: Loss, unit: PrivacyUnit, *, size: int) -> Selection:
    """Return the private choice that a share buys.

    Under pure ε permute-and-flip, which chooses best; under ρ the exponential
    mechanism, whose bounded range makes it ε²/8-zCDP: the largest whole ε is taken.

    Args:
        share: What is paid.
        unit: The neighbour relation.
        size: How far a row that is added or removed moves any one score.

    Raises:
        DeclarationError: The currency has no price for a choice.
    """
    change = size * (2 if rows_only(unit).neighbours == "replace_one" else 1)
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
