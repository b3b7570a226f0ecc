"""k-anonymity, l-diversity and t-closeness of a table: what they say, and what not.

They describe one published table against one kind of attacker, who knows the
quasi-identifiers and nothing else. They say nothing about ε: a table of any k can come
from a mechanism of any ε, or of none, and no ε implies a k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from sfumato.errors import ArgumentError
from sfumato.metrics.columns import Codes, Columns, codes, columns, numbers, pick
from sfumato.release import OWNER_ONLY, ForOwner
from sfumato.release.text import visible
from sfumato.words import N_, language, speaker

__all__ = [
    "CAVEAT",
    "KAnonymity",
    "LDiversity",
    "TCloseness",
    "k_anonymity",
    "l_diversity",
    "t_closeness",
]

CAVEAT = N_(
    "k, l and t describe this one table against an attacker who knows the "
    "quasi-identifiers and nothing else. They say nothing about ε."
)


@final
@dataclass(frozen=True, slots=True, repr=False)
class KAnonymity(ForOwner):
    """How many rows share each combination of the quasi-identifiers.

    Attributes:
        k: Rows in the smallest class: 1 means that someone stands alone.
        rows: Rows of the table.
        classes: Number of different combinations.
        unique: Rows that stand alone in their combination.
        quasi_identifiers: Columns that an attacker is thought to know.
    """

    k: int
    rows: int
    classes: int
    unique: int
    quasi_identifiers: tuple[str, ...]

    def words(self, say: Callable[..., str]) -> tuple[str, ...]:
        """Say it, and what it does not say."""
        fact = N_("k = {k}: {unique} of {rows} rows stand alone, in {classes} classes")
        facts = {"k": self.k, "unique": self.unique}
        told = say(fact, rows=self.rows, classes=self.classes, **facts)
        return told, say(CAVEAT)

    def __str__(self) -> str:
        """Show it with the caveat, marked for the owner."""
        return _marked(self)


@final
@dataclass(frozen=True, slots=True, repr=False)
class LDiversity(ForOwner):
    """How varied a sensitive column is within each class.

    Attributes:
        distinct: Fewest different values in a class.
        entropy: ``exp`` of the least entropy of a class: as many values, if all were
            equally frequent.
        sensitive: The column.
        quasi_identifiers: Columns that form the classes.
    """

    distinct: int
    entropy: float
    sensitive: str
    quasi_identifiers: tuple[str, ...]

    def words(self, say: Callable[..., str]) -> tuple[str, ...]:
        """Say it, and what it does not say."""
        fact = N_(
            "l = {distinct} values of {name} at least in a class (entropy {e:.3g})"
        )
        name = visible(self.sensitive)
        told = say(fact, distinct=self.distinct, name=name, e=self.entropy)
        return told, say(CAVEAT)

    def __str__(self) -> str:
        """Show it with the caveat, marked for the owner."""
        return _marked(self)


@final
@dataclass(frozen=True, slots=True, repr=False)
class TCloseness(ForOwner):
    """How far a class may be from the whole table in a sensitive column.

    Attributes:
        t: Largest distance of a class's distribution from the table's, in [0, 1].
        distance: ``"ordered"`` (earth mover's, neighbouring values 1/(m-1) apart) or
            ``"equal"`` (total variation).
        sensitive: The column.
        quasi_identifiers: Columns that form the classes.
    """

    t: float
    distance: Literal["ordered", "equal"]
    sensitive: str
    quasi_identifiers: tuple[str, ...]

    def words(self, say: Callable[..., str]) -> tuple[str, ...]:
        """Say it, and what it does not say."""
        fact = N_("t = {t:.3g}: the largest distance of a class in {name}")
        return say(fact, t=self.t, name=visible(self.sensitive)), say(CAVEAT)

    def __str__(self) -> str:
        """Show it with the caveat, marked for the owner."""
        return _marked(self)


def k_anonymity(
    table: Any,
    quasi_identifiers: Sequence[str],
    *,
    bins: Mapping[str, float] | None = None,
) -> KAnonymity:
    """Return the k-anonymity of a table (Sweeney 2002). No guarantee; owner's eyes.

    Args:
        table: A pandas or polars data frame, an Arrow table, or a mapping of lists.
        quasi_identifiers: Columns that an attacker may know.
        bins: Widths to which numbers are coarsened first: ``{"Age": 10}`` for decades.

    Raises:
        ArgumentError: An unknown column, no column, an empty table, a bad width.

    Examples:
        >>> k_anonymity({"age": [31, 34, 47]}, ["age"], bins={"age": 10}).k
        1
    """
    read = columns(table)
    names = _names(quasi_identifiers)
    sizes = np.bincount(_classes(read, names, bins or {}))
    alone = int((sizes == 1).sum())
    return KAnonymity(int(sizes.min()), int(sizes.sum()), len(sizes), alone, names)


def l_diversity(
    table: Any,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    *,
    bins: Mapping[str, float] | None = None,
) -> LDiversity:
    """Return the l-diversity of a column (Machanavajjhala et al. 2007); owner's eyes.

    Args:
        table: As in `k_anonymity`.
        quasi_identifiers: Likewise.
        sensitive: The column whose values should vary within each class.
        bins: As in `k_anonymity`.

    Raises:
        ArgumentError: As in `k_anonymity`.

    Examples:
        >>> l_diversity({"age": [1, 1], "ill": [0, 1]}, ["age"], "ill").distinct
        2
    """
    read = columns(table)
    names = _names(quasi_identifiers)
    shares = _shares(_classes(read, names, bins or {}), codes(pick(read, sensitive)))
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -(shares * logs).sum(axis=1)
    distinct = int((shares > 0).sum(axis=1).min())
    return LDiversity(distinct, float(np.exp(entropy.min())), sensitive, names)


def t_closeness(
    table: Any,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    *,
    bins: Mapping[str, float] | None = None,
) -> TCloseness:
    """Return the t-closeness of a column (Li, Li, Venkatasubramanian 2007); owner's eyes.

    Numbers have the ordered earth mover's distance, other values the equal one.

    Args:
        table: As in `k_anonymity`.
        quasi_identifiers: Likewise.
        sensitive: The column whose distribution should not depend on the class.
        bins: As in `k_anonymity`.

    Raises:
        ArgumentError: As in `k_anonymity`.

    Examples:
        >>> t_closeness({"age": [1, 1, 2, 2], "ill": list("abab")}, ["age"], "ill").t
        0.0
    """
    read = columns(table)
    names = _names(quasi_identifiers)
    column = pick(read, sensitive)
    values = codes(column)
    shares = _shares(_classes(read, names, bins or {}), values)
    whole = np.bincount(values, minlength=shares.shape[1]) / len(values)
    gaps = shares - whole
    if numbers(column) is None:
        t = np.abs(gaps).sum(axis=1) / 2
        return TCloseness(float(t.max()), "equal", sensitive, names)
    between = max(1, shares.shape[1] - 1)
    t = np.abs(np.cumsum(gaps, axis=1)).sum(axis=1) / between
    return TCloseness(float(t.max()), "ordered", sensitive, names)


def _marked(found: KAnonymity | LDiversity | TCloseness) -> str:
    say = speaker(language())
    return "\n".join([say(OWNER_ONLY), *found.words(say)])


def _names(quasi_identifiers: Sequence[str]) -> tuple[str, ...]:
    one = isinstance(quasi_identifiers, str)
    names = (str(quasi_identifiers),) if one else tuple(quasi_identifiers)
    if not names:
        raise ArgumentError(
            N_("no quasi-identifier is named"),
            hint=N_('name what an attacker may know, such as ["Age", "Sex"]'),
        )
    return names


def _classes(
    table: Columns, names: tuple[str, ...], bins: Mapping[str, float]
) -> Codes:
    """Return the class of each row, numbered from 0 without gaps."""
    for name in bins:
        pick(table, name)
    parts = [_coarse(table, name, bins.get(name)) for name in names]
    _, found = np.unique(np.column_stack(parts), axis=0, return_inverse=True)
    return found.ravel().astype(np.int64)


def _coarse(table: Columns, name: str, width: float | None) -> Codes:
    column = pick(table, name)
    if width is None:
        return codes(column)
    values = numbers(column)
    if values is None or not width > 0:
        raise ArgumentError(
            N_("{name} cannot be cut into bins of width {width}"),
            hint=N_("give a width above 0 for a column of numbers"),
            name=repr(name),
            width=width,
        )
    return codes(np.floor(values / width).astype(object))


def _shares(classes: Codes, values: Codes) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the distribution of the values in each class, shape (classes, values)."""
    _, values = np.unique(values, return_inverse=True)
    width = int(values.max()) + 1
    cells = np.bincount(classes * width + values, minlength=(classes.max() + 1) * width)
    counts = cells.reshape(-1, width).astype(np.float64)
    shares: np.ndarray[Any, np.dtype[np.float64]] = counts / counts.sum(
        axis=1, keepdims=True
    )
    return shares
