"""What is known before anything is measured: an earlier release, or public rows.

An earlier release of the *same* table goes on where it ended: its bins are kept and its
noisy tables count beside the new ones, each by its precision. Public rows of *other*
people make a first guess: a tree of their strongest dependences (Chow, Liu 1968) is the
base measure from which the model moves only where noisy tables say so. Neither costs
anything: both were public before the debit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.declare.dataset import Dataset, one_place
from sfumato.declare.schema import Schema
from sfumato.errors import DeclarationError, quoted
from sfumato.synth.coded import Columns, bins_of, coded, open_rows
from sfumato.synth.grids import Binning, Grid
from sfumato.synth.made import Made
from sfumato.synth.model import Array
from sfumato.synth.tree import Axes
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.synth.synthesis import Synthesis

__all__ = ["check_start", "public_columns", "public_weights"]

_ROWS = 20_000  # drawn from a synthesis that stands for public rows
_DOUBT = 0.5  # rows added to each cell: nothing that the public rows lack is impossible
_LARGEST = 10_000  # cells of a pair


def check_start(
    earlier: Synthesis, dataset: str, schema: Schema, fine: Sequence[Grid]
) -> Made:
    """Return what an earlier release of this very table left behind.

    Raises:
        DeclarationError: It is of another table, or was counted on other cells.
    """
    made = getattr(earlier, "made", None)
    if not isinstance(made, Made):
        raise DeclarationError(
            N_("start= takes an earlier release of the same table, got {value}"),
            hint=N_("give what fit returned, or Synthesis.load(…)"),
            value=quoted(earlier),
        )
    if earlier.release.claim.receipt.dataset != dataset or made.schema != schema:
        raise DeclarationError(
            N_("the earlier release is of another table than {name}"),
            hint=N_(
                "start= goes on with the same rows; what is known of others: public="
            ),
            name=repr(dataset),
        )
    if tuple(b.grid for b in made.binnings) != tuple(fine):
        raise DeclarationError(
            N_("the earlier release was counted on other columns or cells"),
            hint=N_(
                "use the same columns, complete, cells and forbid, or take it as public="
            ),
        )
    return made


def public_columns(
    public: Dataset | Synthesis, dataset: Dataset, names: Sequence[str]
) -> Columns:
    """Return the public rows of the columns that both tables have.

    Raises:
        DeclarationError: The table is the private one, or declares a column otherwise.
    """
    if isinstance(public, Dataset):
        private = (dataset, *dataset.private.values())
        same = any(one_place(public.source, one.source) for one in private)
        if same or public.name == dataset.name:
            raise DeclarationError(
                N_("the public table is the private one"),
                hint=N_(
                    "public= takes rows that anybody may see; give them a name of their "
                    "own"
                ),
            )
        schema = public.schema
    else:
        made = getattr(public, "made", None)
        if not isinstance(made, Made):
            raise DeclarationError(
                N_("public= takes a dataset or a synthetic release, got {value}"),
                hint=N_("give rows of other people that anybody may see"),
                value=quoted(public),
            )
        schema = made.schema
    shared = [n for n in schema if n in names]
    for name in shared:
        if schema[name] != dataset.schema[name]:
            raise DeclarationError(
                N_("column {name} is declared otherwise in the public table"),
                hint=N_("declare it alike in both, or leave it out of the public one"),
                name=repr(name),
            )
    if isinstance(public, Dataset):
        columns = open_rows(public)
    else:
        drawn = public.sample(_ROWS, seed=0)
        columns = coded(schema, drawn, public.made.options.surrogates)
    return {n: columns[n] for n in shared}


def public_weights(
    binnings: Sequence[Binning], columns: Columns
) -> list[tuple[Axes, Array]]:
    """Return log-weights of the tree that tells most of the public rows."""
    held = [(i, b) for i, b in enumerate(binnings) if b.grid.name in columns]
    bins = dict(
        zip((i for i, _ in held), bins_of([b for _, b in held], columns), strict=True)
    )
    sizes = {i: b.coding.count for i, b in held}
    single = {i: _shares(bins[i], sizes[i]) for i in sizes}
    pairs = {
        (a, b): _shares(bins[a] * sizes[b] + bins[b], sizes[a] * sizes[b])
        for a, b in combinations(sizes, 2)
        if sizes[a] * sizes[b] <= _LARGEST
    }
    found: list[tuple[Axes, Array]] = [((i,), np.log(p)) for i, p in single.items()]
    for a, b in _strongest(single, pairs):
        apart = np.multiply.outer(single[a], single[b]).ravel()
        found.append(((a, b), np.log(pairs[a, b]) - np.log(apart)))
    return found


def _shares(cells: Any, count: int) -> Array:
    counts = np.bincount(cells, minlength=count).astype(np.float64) + _DOUBT
    found: Array = counts / counts.sum()
    return found


def _strongest(single: dict[int, Array], pairs: dict[Any, Array]) -> list[Axes]:
    """Return the spanning tree of most information (Kruskal's algorithm)."""

    def told(pair: Axes) -> float:
        a, b = pair
        apart = np.multiply.outer(single[a], single[b]).ravel()
        return float((pairs[pair] * np.log(pairs[pair] / apart)).sum())

    group = {i: i for i in single}
    found = []
    for pair in sorted(pairs, key=told, reverse=True):
        one, other = group[pair[0]], group[pair[1]]
        if one != other:
            found.append(pair)
            group = {i: one if g == other else g for i, g in group.items()}
    return found
