"""The fitted distribution: a junction tree with a table of probabilities per clique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.errors import DeclarationError
from sfumato.synth.tree import Axes, Tree
from sfumato.words import N_

__all__ = ["Array", "Model", "Place", "Potentials", "calibrate"]

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a table over some columns lies in a clique.

    Attributes:
        clique: The clique.
        shape: Shape that spreads the flat table over the clique's axes.
        others: Axes of the clique to sum over, to read the table.
    """

    clique: int
    shape: tuple[int, ...]
    others: tuple[int, ...]

    def read(self, beliefs: Sequence[Array]) -> Array:
        """Return the flat table that the clique's beliefs tell."""
        found: Array = beliefs[self.clique].sum(axis=self.others).ravel()
        return found


@final
class Potentials:
    """Log-weights per clique, before inference."""

    __slots__ = ("_tables", "tree")

    def __init__(self, tree: Tree) -> None:
        """Begin with the uniform distribution."""
        self.tree = tree
        self._tables: list[Array] = [
            np.zeros(tree.shape(j)) for j in range(len(tree.cliques))
        ]

    def place(self, axes: Axes) -> Place:
        """Return where a table over these columns lies."""
        clique = self.tree.home(axes)
        assert clique is not None  # noqa: S101  the tree was built over it
        held, sizes = self.tree.cliques[clique], self.tree.sizes
        return Place(
            clique,
            tuple(sizes[x] if x in axes else 1 for x in held),
            tuple(i for i, x in enumerate(held) if x not in axes),
        )

    def add(self, axes: Axes, weights: Array) -> None:
        """Add log-weights of a flat table over ascending columns."""
        place = self.place(axes)
        self._tables[place.clique] = self._tables[place.clique] + weights.reshape(
            place.shape
        )

    def tables(self) -> list[Array]:
        """Return a copy of the tables."""
        return [t.copy() for t in self._tables]


def calibrate(tree: Tree, tables: list[Array]) -> tuple[list[Array], float]:
    """Return the probabilities of each clique and the log of the total weight.

    Two passes of messages, to the root and back (Lauritzen, Spiegelhalter 1988). The
    tables are overwritten. A weight of -inf is a probability of exactly 0.

    Raises:
        DeclarationError: All weights are zero.
    """
    messages: dict[int, Array] = {}
    for j in reversed(tree.order[1:]):
        above = tree.parent[j]
        messages[j] = _log_sum(tables[j], _others(tree, j, tree.separators[j]))
        tables[above] += _spread(tree, above, tree.separators[j], messages[j])
    top = tree.order[0]
    log_z = float(_log_sum(tables[top], tuple(range(tables[top].ndim))))
    if not np.isfinite(log_z):
        raise DeclarationError(
            N_("every combination of values is forbidden"),
            hint=N_("allow some: the forbidden combinations contradict each other"),
        )
    for j in tree.order[1:]:
        above, separator = tree.parent[j], tree.separators[j]
        told = _log_sum(tables[above], _others(tree, above, separator))
        with np.errstate(invalid="ignore"):
            change = np.where(np.isneginf(told), -np.inf, told - messages[j])
        tables[j] += _spread(tree, j, separator, change)
    return [np.exp(t - log_z) for t in tables], log_z


def _others(tree: Tree, clique: int, axes: Axes) -> tuple[int, ...]:
    return tuple(i for i, x in enumerate(tree.cliques[clique]) if x not in axes)


def _spread(tree: Tree, clique: int, axes: Axes, table: Array) -> Array:
    held, sizes = tree.cliques[clique], tree.sizes
    return table.reshape(tuple(sizes[x] if x in axes else 1 for x in held))


def _log_sum(table: Array, axes: tuple[int, ...]) -> Array:
    """Return log(sum(exp(table))) over axes, without overflow."""
    if not axes:
        return table.copy()
    top = table.max(axis=axes, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found = np.log(np.exp(table - top).sum(axis=axes, keepdims=True)) + top
    return np.asarray(np.squeeze(found, axis=axes))


@final
class Model:
    """A calibrated junction tree; public, because it follows from noisy tables alone.

    Attributes:
        tree: The junction tree.
        total: Estimated number of rows.
        beliefs: Probabilities of each clique's cells.
    """

    __slots__ = ("_held", "_potentials", "beliefs", "total", "tree")

    def __init__(self, potentials: Potentials, total: float) -> None:
        """Run inference once."""
        self.tree, self.total = potentials.tree, total
        self._potentials = potentials
        self.beliefs, _ = calibrate(self.tree, potentials.tables())
        self._held: dict[tuple[int, Axes], Array] = {}

    def given(self, evidence: Sequence[tuple[int, Array]]) -> Model:
        """Return the model of the rows whose columns lie in the given bins.

        Args:
            evidence: Columns, each with a truth value per bin.

        Raises:
            DeclarationError: The model gives such rows probability 0.
        """
        kept = Potentials(self.tree)
        for j, table in enumerate(self._potentials.tables()):
            kept.add(self.tree.cliques[j], table.ravel())
        for column, bins in evidence:
            kept.add((column,), np.where(bins, 0.0, -np.inf))
        return Model(kept, self.total)

    @property
    def potentials(self) -> list[Array]:
        """The log-weights of each clique, from which the model can be made again."""
        return self._potentials.tables()

    def marginal(self, axes: Axes) -> Array:
        """Return the probabilities of a table over ascending columns, across cliques.

        Examples:
            >>> uniform = Model(Potentials(Tree([2, 4], [])), 1.0)
            >>> uniform.marginal((0, 1)).shape, round(float(uniform.marginal((0, 1)).sum()), 9)
            ((2, 4), 1.0)
        """
        home = self.tree.home(axes)
        if home is not None:
            return self.table(home, axes)
        return _Walk(self, frozenset(axes)).answer(axes)

    def table(self, clique: int, axes: Axes) -> Array:
        """Return the probabilities of some of a clique's columns."""
        if (clique, axes) not in self._held:
            others = _others(self.tree, clique, axes)
            self._held[clique, axes] = self.beliefs[clique].sum(axis=others)
        return self._held[clique, axes]


@final
class _Walk:
    """One question across cliques: sums out, on the tree, all that was not asked for."""

    def __init__(self, model: Model, asked: frozenset[int]) -> None:
        self._model, self._asked, tree = model, asked, model.tree
        self._near: dict[int, list[tuple[int, Axes]]] = {
            j: [] for j in range(len(tree.cliques))
        }
        for j in tree.order[1:]:
            self._near[j].append((tree.parent[j], tree.separators[j]))
            self._near[tree.parent[j]].append((j, tree.separators[j]))

    def answer(self, axes: Axes) -> Array:
        cliques = self._model.tree.cliques
        top = max(range(len(cliques)), key=lambda j: len(self._asked & set(cliques[j])))
        labels, table = self._collect(top, -1, ())
        return _reduce(labels, table, list(axes))

    def _collect(self, j: int, above: int, shared: Axes) -> tuple[list[int], Array]:
        """Return P(asked columns below, given the separator) and its labels."""
        held = set(self._model.tree.cliques[j])
        below = [
            (k, separator, found)
            for k, separator in self._near[j]
            if k != above and (found := self._below(k, j) - held)
        ]
        need = set(shared) | (self._asked & held)
        for _, separator, _ in below:
            need |= set(separator)
        axes = tuple(sorted(need))
        table = self._model.table(j, axes)
        labels = list(axes)
        for k, separator, _ in below:
            theirs, told = self._collect(k, j, separator)
            labels, table = _join(labels, table, theirs, told)
        keep = [x for x in labels if x in self._asked or x in shared]
        table = _reduce(labels, table, keep)
        if above < 0:
            return keep, table
        known = self._model.table(j, shared)
        known = _reduce(list(shared), known, [x for x in keep if x in shared])
        shape = tuple(table.shape[i] if x in shared else 1 for i, x in enumerate(keep))
        divisor = known.reshape(shape)
        return keep, np.divide(
            table, divisor, out=np.zeros_like(table), where=divisor > 0
        )

    def _below(self, j: int, above: int) -> set[int]:
        found = self._asked & set(self._model.tree.cliques[j])
        for k, _ in self._near[j]:
            if k != above:
                found |= self._below(k, j)
        return set(found)


def _join(
    one: list[int], table: Array, other: list[int], told: Array
) -> tuple[list[int], Array]:
    """Return the product of two labelled tables."""
    labels = one + [x for x in other if x not in one]
    names = {x: i for i, x in enumerate(labels)}  # einsum knows 52 labels only
    contract: Any = np.einsum
    found: Array = contract(
        table, [names[x] for x in one], told, [names[x] for x in other],
        [names[x] for x in labels],
    )  # fmt: skip
    return labels, found


def _reduce(labels: list[int], table: Array, keep: list[int]) -> Array:
    """Sum a labelled table over all labels but those to keep, in their order."""
    names = {x: i for i, x in enumerate(labels)}
    contract: Any = np.einsum
    found: Array = contract(table, [names[x] for x in labels], [names[x] for x in keep])
    return found
