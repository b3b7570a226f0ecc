"""How near synthetic rows come to true ones: distances of tables, and AUC."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
from synth_tools import impossible, read


def distance(
    real: np.ndarray, made: np.ndarray, axes: tuple[int, ...], sizes: list[int]
) -> float:
    """Return the total-variation distance of one table of counts."""
    shape = [sizes[x] for x in axes]
    first, second = (
        np.unique(np.ravel_multi_index(rows.T[list(axes)], shape), return_counts=True)
        for rows in (real, made)
    )
    shares: dict[int, float] = {}
    for (cells, counts), sign, rows in ((first, 1, real), (second, -1, made)):
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            shares[cell] = shares.get(cell, 0.0) + sign * count / len(rows)
    return sum(map(abs, shares.values())) / 2


def distances(real: np.ndarray, made: np.ndarray, sizes: list[int]) -> list[float]:
    """Return the mean 1-, 2- and 3-way distances, over at most 60 tables each."""
    found = []
    for ways in (1, 2, 3):
        tables = list(itertools.combinations(range(len(sizes)), ways))
        if len(tables) > 60:
            chosen = np.random.default_rng(0).choice(len(tables), 60, replace=False)
            tables = [tables[i] for i in chosen]
        found.append(float(np.mean([distance(real, made, t, sizes) for t in tables])))
    return found


def scores(
    made: np.ndarray, test: np.ndarray, head: list[str], told: dict
) -> list[float]:
    """Return the AUC of a regression and of trees, trained on made and tested on real."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    y = head.index(told["target"])
    use = [i for i, c in enumerate(head) if i != y and c not in told["drop"]]
    if len(set(made[:, y])) < 2:
        return [0.5, 0.5]

    def hot(rows: np.ndarray) -> np.ndarray:
        return np.hstack([np.eye(told["domain"][head[i]])[rows[:, i]] for i in use])

    some = np.random.default_rng(0).permutation(len(made))[:20_000]
    line = LogisticRegression(C=0.3, max_iter=200).fit(
        hot(made[some]), made[some][:, y]
    )
    large = len(made) > 2000
    trees = HistGradientBoostingClassifier(
        max_iter=100 if large else 40, max_leaf_nodes=31 if large else 8, random_state=0
    ).fit(made[:, use], made[:, y])
    return [
        float(roc_auc_score(test[:, y], line.predict_proba(hot(test))[:, 1])),
        float(roc_auc_score(test[:, y], trees.predict_proba(test[:, use])[:, 1])),
    ]


def measure(folder: Path, table: str, seed: int, rows: np.ndarray) -> list[float]:
    """Return distances and scores of one run."""
    name = split_name(table, seed)
    told = json.loads((folder / f"{name}.json").read_text())
    head, real = read(folder / f"{name}_train.csv")
    _, test = read(folder / f"{name}_test.csv")
    sizes = [told["domain"][c] for c in head]
    bad = sum(
        int(
            np.all(
                [np.isin(rows[:, head.index(c)], v) for c, v in rule.items()], axis=0
            ).sum()
        )
        for rule in impossible(rows, head, sizes)
    )
    return [*distances(real, rows, sizes), *scores(rows, test, head, told), float(bad)]


def split_name(table: str, seed: int) -> str:
    """Return the split of a run: Pima has five."""
    return {"pima": f"pima{seed % 5}", "adult": "adultc"}.get(table, table)
