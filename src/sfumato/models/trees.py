"""Random trees under differential privacy: public splits, noisy counts in the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato import noise
from sfumato.models.classifier import PrivateClassifier
from sfumato.models.declared import Feature, Span
from sfumato.models.door import Floats, Share, cell_counts, described, deviation
from sfumato.models.estimator import Facts, Job
from sfumato.models.options import whole_option
from sfumato.models.price import Price, Pure
from sfumato.models.progress import tick
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["DecisionTreeClassifier", "RandomForestClassifier", "Tree"]

_PRIOR = 2.0
_FINE = 1 << 20


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """A complete tree of public splits on encoded features, and its leaves.

    Attributes:
        columns: Which encoded column each inner node asks about, from the root down.
        edges: Rows above the edge go right.
        leaves: Private probability of each class in each leaf, shape (leaves, classes).
    """

    columns: tuple[int, ...]
    edges: tuple[float, ...]
    leaves: Floats

    def leaf(self, rows: Floats) -> NDArray[np.int64]:
        """Return the leaf of each row."""
        columns, edges = np.array(self.columns, np.int64), np.array(self.edges)
        at = np.zeros(len(rows), np.int64)
        for _ in range((len(columns) + 1).bit_length() - 1):
            above = rows[np.arange(len(rows)), columns[at]] > edges[at]
            at = 2 * at + 1 + above
        return at - len(columns)


class _Forest(PrivateClassifier):
    trees_: tuple[Tree, ...]

    def _grow(self, facts: Facts, price: Price, count: Any, depth: Any) -> Job:
        hint = N_("write a small number of at least 1")
        count = whole_option("n_estimators", count, 1000, hint)
        depth = whole_option("max_depth", depth, 10, hint)
        each: Sequence[Share] = price.share().split(*([1] * count))
        classes = len(facts.classes)  # type: ignore[arg-type]

        def run(work: Work) -> dict[str, Any]:
            plans = []
            for _ in range(count):
                plans.append(_plant(facts.encoder.features, depth))
                tick()
            whole = np.zeros((count, 2**depth, classes), np.int64)
            for rows, labels in work.pairs():
                places = labels.astype(np.int64)
                for tree, cells in zip(plans, whole, strict=True):
                    np.add.at(cells, (tree.leaf(rows), places), 1)
            found = [cell_counts(c, s) for c, s in zip(whole, each, strict=True)]
            return {"trees_": _shrunk(plans, found, each[0])}

        return Job([described(s) for s in each], run, passes=1, steps=count)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of `classes_`."""
        blocks = self._blocks(X, clip=True)
        trees = self.trees_
        return np.concatenate(
            [np.mean([t.leaves[t.leaf(b)] for t in trees], axis=0) for b in blocks]
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        places = self.predict_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[places]
        return found


def _plant(features: tuple[Feature, ...], depth: int) -> Tree:
    """Split at random in the middle half of each cell; keys split by themselves."""
    low: list[float] = []
    for feature in features:
        low += [-1.0] if isinstance(feature, Span) else [0.0] * len(feature.cells)
    cells = {0: (low, [1.0] * len(low))}
    columns, edges = [], []
    for node in range(2**depth - 1):
        least, most = cells.pop(node)
        column = noise.uniform_below(len(least))
        part = (noise.uniform_below(_FINE) + 0.5) / _FINE
        edge = least[column] + (most[column] - least[column]) * (0.25 + part / 2)
        columns.append(column)
        edges.append(edge)
        left, right = list(most), list(least)
        left[column] = right[column] = edge
        cells[2 * node + 1], cells[2 * node + 2] = (least, left), (right, most)
    return Tree(tuple(columns), tuple(edges), np.empty(0))


def _shrunk(plans: list[Tree], counts: list[Floats], share: Share) -> tuple[Tree, ...]:
    """Weigh the shares in each leaf against those of all rows, by the noise in them."""
    totals = np.maximum(np.sum(counts, axis=(0, 1)), 0.0)
    overall = np.clip(totals / max(float(totals.sum()), 1.0), 0.02, None)
    overall /= overall.sum()
    if isinstance(share, Pure):
        variance = 2 * (share.changes / float(share.epsilon.value)) ** 2
    else:
        variance = deviation(share, 1) ** 2
    found = []
    for tree, cells in zip(plans, counts, strict=True):
        kept = np.maximum(cells, 0.0)
        rows = kept.sum(axis=1, keepdims=True)
        weight = _PRIOR + variance / np.maximum(rows, 1.0)
        leaves = (kept + weight * overall) / (rows + weight)
        found.append(Tree(tree.columns, tree.edges, leaves))
    return tuple(found)


class DecisionTreeClassifier(_Forest):
    """One random tree: a glass box for a sketch; prefer `AdditiveClassifier`.

    Formal guarantee: (ε, δ)-DP. Splits are public chance on declared bounds; a row adds
    one to one leaf and class, so all counts together cost the budget once.

    Arguments and errors are those of `LogisticRegression`, and:

    Args:
        epsilon: The ε of one fit; there is no default.
        delta: The δ of one fit; 0 for pure ε.
        max_depth: Depth of the tree, from 1 to 10.
        budget: A `ModelBudget` or a `Session` that pays.
        bounds: Public ``(lower, upper)`` of the features, or a mapping by name.
        classes: All classes that may occur.
        missing: Codes that mean "no value".
        schema: A `Schema` that declares all of these.
        target: Name of the label's column in the schema.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        rows_per_person: With ``privacy_ids``: how many rows of one person count.
        on_leak: ``"refuse"``, or ``"warn"``: see `LogisticRegression`.

    Attributes:
        classes_: The declared classes, sorted.
        trees_: The tree: splits and private shares.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.arange(10.0), 100).reshape(-1, 1)
        >>> tree = DecisionTreeClassifier(
        ...     "2", budget=ModelBudget("2"), bounds=(0, 9), classes=[0, 1]
        ... ).fit(x, (x[:, 0] > 4).astype(int))
        >>> tree.predict([[0.0], [9.0]]).tolist()
        [0, 1]
    """

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = 0,
        *,
        max_depth: int = 3,
        budget: Any = None,
        bounds: Any = None,
        classes: Any = None,
        missing: Any = None,
        schema: Any = None,
        target: str | None = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _job(self, facts: Facts, price: Price) -> Job:
        return self._grow(facts, price, 1, self.max_depth)


class RandomForestClassifier(_Forest):
    """A few shallow random trees, each of all rows at its part of the budget.

    Formal guarantee: (ε, δ)-DP: each tree as `DecisionTreeClassifier` at an equal share
    (sequential composition). Every row enters every tree, so no assignment of rows to
    trees depends on other rows.

    Arguments and errors are those of `DecisionTreeClassifier`, and:

    Args:
        n_estimators: Number of trees, from 1 to 1000.
        max_depth: Depth of each, from 1 to 10.

    Attributes:
        classes_: The declared classes, sorted.
        trees_: The trees: splits and private shares.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.arange(10.0), 300).reshape(-1, 1)
        >>> forest = RandomForestClassifier(
        ...     "8", budget=ModelBudget("8"), bounds=(0, 9), classes=[0, 1]
        ... ).fit(x, (x[:, 0] > 4).astype(int))
        >>> forest.predict([[0.0], [9.0]]).tolist()
        [0, 1]
    """

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = 0,
        *,
        n_estimators: int = 10,
        max_depth: int = 2,
        budget: Any = None,
        bounds: Any = None,
        classes: Any = None,
        missing: Any = None,
        schema: Any = None,
        target: str | None = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _job(self, facts: Facts, price: Price) -> Job:
        return self._grow(facts, price, self.n_estimators, self.max_depth)
