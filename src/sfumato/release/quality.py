"""How close a synthetic table is to the true one, and what it risks: owner only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

from sfumato.release.owner import ForOwner
from sfumato.release.record import Claim

__all__ = ["Attack", "ColumnGap", "InWords", "OwnerQuality", "Portrait", "TableGap"]


class InWords(Protocol):
    """What can say itself in any language."""

    def words(self, say: Callable[..., str]) -> tuple[str, ...]:
        """Return it in sentences."""


Matrix = tuple[tuple[float, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class Portrait:
    """What a model says of its columns: public, post-processing of noisy counts.

    Attributes:
        names: The columns.
        labels: For each, its bins in words.
        shares: For each, the share of rows in each bin.
        association: Cramér's V of each pair, 0 to 1.
        left_out: Declared columns that are not made: texts without keys, names of people.
        surrogates: Columns of new names that mean nothing.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    association: Matrix
    left_out: tuple[str, ...] = ()
    surrogates: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, repr=False)
class ColumnGap(ForOwner):
    """One column, true beside synthetic.

    Attributes:
        name: The column.
        distance: Kolmogorov-Smirnov distance of numbers, total variation of keys.
        true_mean: Mean of a number column; none of keys.
        made_mean: The same of the synthetic table.
        true_missing: Share of missing cells.
        made_missing: The same of the synthetic table.
    """

    name: str
    distance: float
    true_mean: float | None
    made_mean: float | None
    true_missing: float
    made_missing: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class TableGap(ForOwner):
    """One table over several columns: its total-variation distance."""

    columns: tuple[str, ...]
    distance: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class Attack(ForOwner):
    """What an attacker with the synthetic rows gains: measured, not proved.

    Attributes:
        name: ``"membership"`` or ``"attribute"``.
        inside: Success against rows of the private table.
        outside: Success against rows that were held out: what population facts give.
        gain: The difference: what comes from having been in the table.
        margin: Half the width of a 95 % interval of the gain.
        bound: The most gain that the claim allows against any attacker.
    """

    name: str
    inside: float
    outside: float
    gain: float
    margin: float
    bound: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class OwnerQuality(ForOwner):
    """A synthetic table beside the true one. FOR THE OWNER'S EYES: it is not private.

    Attributes:
        title: Name of the release.
        claim: What the release promised; it does not cover this comparison.
        true_rows: Rows of the private table.
        made_rows: Rows of the synthetic table.
        columns: Column by column.
        tables: Pairs of columns, the worst first.
        names: Columns of the maps below.
        true_association: Cramér's V of the true table's bins.
        made_association: The same of the synthetic table.
        numbers: The number columns.
        true_correlation: Pearson's correlation of the number columns.
        made_correlation: The same of the synthetic table.
        target: The column that is predicted; empty for none.
        true_auc: AUC of a model trained on true rows, on rows held out.
        made_auc: AUC of a model trained on synthetic rows, on the same rows.
        attacks: What attackers gain.
        classes: k-anonymity, l-diversity and t-closeness of the synthetic table.
        held_out: Whether rows were held out; without them, the models are tested on
            rows they were made from, and there are no attacks.
    """

    title: str
    claim: Claim
    true_rows: int
    made_rows: int
    columns: tuple[ColumnGap, ...]
    tables: tuple[TableGap, ...]
    names: tuple[str, ...]
    true_association: Matrix
    made_association: Matrix
    numbers: tuple[str, ...]
    true_correlation: Matrix
    made_correlation: Matrix
    target: str
    true_auc: float | None
    made_auc: float | None
    attacks: tuple[Attack, ...]
    classes: tuple[InWords, ...]
    held_out: bool
