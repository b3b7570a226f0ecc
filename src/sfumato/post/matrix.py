"""Covariances and correlations from noisy sums; matrices that are ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from sfumato.plan import (
    ByMatrix,
    ByProduct,
    BySquares,
    CentredProduct,
    Plan,
)
from sfumato.post.rule import Floats, Spread, row_counts

__all__ = ["Together", "entry_points", "matrix_points"]

_ROUNDING = 1e-9  # an eigenvalue this far below 0 is no noise


@final
@dataclass(frozen=True, slots=True)
class Together:
    """Sums, a product and a count → covariance or correlation, for one and for many.

    Attributes:
        recipe: Which parts they are.
        spreads: Of both columns, for their deviations.
        unit: The largest covariance: the product of both half ranges; 1 if related.
        product: What was multiplied.
        related: Whether a correlation is wanted.
    """

    recipe: ByProduct
    spreads: tuple[Spread, Spread]
    unit: float
    product: CentredProduct
    related: bool

    @classmethod
    def of(cls, plan: Plan, recipe: ByProduct) -> Together:
        """Return the rule for a recipe."""
        squares = recipe.squares or (None, None)
        one, two = (
            Spread.of(plan, BySquares(total, square, recipe.count, root=False))
            for total, square in zip(recipe.totals, squares, strict=True)
        )
        multiplied = plan.parts[recipe.product].aggregate
        assert isinstance(multiplied, CentredProduct)  # noqa: S101  lower.py pairs them so
        related = recipe.squares is not None
        unit = 1.0 if related else one.half * one.width * two.half * two.width
        return cls(recipe, (one, two), unit, multiplied, related)

    @property
    def parts(self) -> tuple[int, ...]:
        """The parts that a figure needs, the count left out."""
        squares = (p for p in self.recipe.squares or () if p is not None)
        return (*self.recipe.totals, self.recipe.product, *squares)

    def __call__(self, held: Mapping[int, Floats], rows: Floats) -> Floats:
        """Return the figures; `rows` is at least 1.

        Where a deviation is not above 0, a correlation is 1, 0 or -1: the sign of the
        covariance, that is the value which it nears as the deviation shrinks.
        """
        share, below = self._terms(held, rows)
        if below is None:
            return self.unit * np.clip(share, -1.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.clip(share / np.sqrt(below), -1.0, 1.0)
        related: Floats = np.where(share == 0, 0.0, found)
        return related

    def is_known(self, held: Mapping[int, Floats], rows: Floats) -> Any:
        """Tell where no deviation is 0, so that a correlation is not just any value."""
        below = self._terms(held, rows)[1]
        return True if below is None else below > 0

    def _terms(
        self, held: Mapping[int, Floats], rows: Floats
    ) -> tuple[Floats, Floats | None]:
        """Return the covariance, and for a correlation the product of both variances."""
        first, second = (
            s.first(held[t], rows)
            for s, t in zip(self.spreads, self.recipe.totals, strict=True)
        )
        share = self.share(held[self.recipe.product], rows) - first * second
        if self.recipe.squares is None:
            return share, None
        below = np.ones_like(rows)
        for spread, mean, part in zip(
            self.spreads, (first, second), self.recipe.squares, strict=True
        ):
            squares = None if part is None else held[part]
            below = below * np.maximum(spread.second(squares, rows) - mean**2, 0.0)
        return share, below

    def share(self, products: Floats, rows: Floats) -> Floats:
        """Return the mean product of the distances, as a share of both widths.

        Products were floored to units of ``2^shift``; half a unit, the mean of what was
        lost, is given back.
        """
        one = self.product
        lost = (1 - 2.0**-one.shift) / 2
        mean = (products / rows + one.reach) / 2 + lost
        return (mean * (1 << one.shift) - one.most) / one.most


def entry_points(
    plan: Plan, recipe: ByProduct, values: Sequence[Sequence[float]]
) -> Floats:
    """Return one covariance or correlation per group; 0 where it could be anything."""
    rule = Together.of(plan, recipe)
    held = {p: np.array([float(v) for v in values[p]]) for p in rule.parts}
    rows = np.maximum(row_counts(plan, recipe.count, values), 1.0)
    rows = np.broadcast_to(rows, held[recipe.product].shape)
    known: Floats = np.where(rule.is_known(held, rows), rule(held, rows), 0.0)
    return known


def matrix_points(
    plan: Plan, recipe: ByMatrix, entries: Callable[[ByProduct | BySquares], Floats]
) -> tuple[Floats, Floats]:
    """Return the entries as noise left them, and as they may stand in one matrix.

    Formal guarantee: post-processing. A true matrix has no eigenvalue below 0; noise may
    leave one. Then all such are set to 0, which is the nearest such matrix in the sum of
    squared differences (Higham 1988), in shares of the half ranges; a diagonal that
    grew beyond its largest value, or a correlation's beyond 1, is scaled back.

    Args:
        plan: The plan that was measured.
        recipe: The matrix.
        entries: Returns the figures of an entry, one per group.

    Returns:
        Both of shape (groups · entries), entries innermost.
    """
    raw = np.stack([entries(e) for e in recipe.entries], axis=-1)
    if not recipe.size:
        return raw.ravel(), raw.ravel()
    units = np.array([_unit(plan, e) for e in recipe.entries])
    size, upper = recipe.size, _places(recipe)
    made = np.tile(np.eye(size), (len(raw), 1, 1))
    for place, (i, j) in enumerate(upper):
        made[:, i, j] = made[:, j, i] = raw[:, place] / units[place]
    values, vectors = np.linalg.eigh(made)
    wrong = values[:, 0] < -_ROUNDING
    kept = (vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    diagonal = np.diagonal(kept, axis1=1, axis2=2)
    most = diagonal if recipe.correlation else np.maximum(diagonal, 1.0)
    scale = 1 / np.sqrt(np.where(most > 0, most, 1.0))
    kept = kept * scale[:, :, None] * scale[:, None, :]
    adjusted = np.stack([kept[:, i, j] for i, j in upper], axis=-1) * units
    return raw.ravel(), np.where(wrong[:, None], adjusted, raw).ravel()


def _places(recipe: ByMatrix) -> list[tuple[int, int]]:
    both = product(range(recipe.size), repeat=2)
    return [(i, j) for i, j in both if i < j or (i == j and not recipe.correlation)]


def _unit(plan: Plan, entry: ByProduct | BySquares) -> float:
    """Return the largest size of an entry."""
    if isinstance(entry, BySquares):
        return Spread.of(plan, entry).largest
    return Together.of(plan, entry).unit
