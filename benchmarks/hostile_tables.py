"""Look for tables whose quantiles lie in their 95 % intervals too seldom.

    python benchmarks/hostile_tables.py --seconds 60 --seed 1

Tables are drawn of five kinds: crowded and sparse, smooth, a few values only, with single
rows in between; noise and levels too, and the ranks right beside the ends of a value,
where the rule has no slack. Counts of the tree are made directly, noise and intervals
are those of a release. Tables that held least are simulated again, with fresh noise and a
fresh bootstrap: the second figure is the one to be judged.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

import sfumato as sf
from sfumato.declare.query import Query
from sfumato.plan import ByRank, make_plan
from sfumato.post import ranks
from sfumato.post.noise import law_draws
from sfumato.post.tree import fan_of, level_of

GROUPS = 500
LEVEL = 0.95
LOSSES = ("0.2", "0.5", "1", "3", sf.ZCDP("0.005"), sf.ZCDP("0.125"), sf.ZCDP("1"))
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def table(rng: np.random.Generator) -> tuple[int, np.ndarray]:
    """Return how many values there may be, and the rows."""
    size = int(rng.choice([8, 11, 21, 40, 100, 200, 256]))
    places = np.arange(size)
    match rng.integers(5):
        case 0:
            weights = rng.dirichlet(np.full(size, 0.05))
        case 1:
            weights = rng.dirichlet(np.full(size, 0.3))
        case 2:
            weights = np.exp(-places / rng.uniform(2, size / 2))
        case 3:
            weights = np.zeros(size)
            weights[rng.integers(size, size=rng.integers(2, 7))] = 1
        case _:
            middle, width = rng.uniform(0.2, 0.8), rng.uniform(0.03, 0.3)
            weights = np.exp(-0.5 * ((places / size - middle) / width) ** 2)
    rows = int(10 ** rng.uniform(1.3, 4))
    found = rng.choice(size, size=rows, p=weights / weights.sum())
    alone = rng.integers(size, size=rng.integers(4))
    return size, np.concatenate([found, alone])


def at_ends(cells: np.ndarray, level: float) -> tuple[int, list[Fraction]]:
    """Return the quantile, and levels at which it is the same value, two at its ends."""
    rows = len(cells)
    value = int(np.sort(cells)[int(np.ceil(level * rows - 1e-9)) - 1])
    ends = (cells < value).sum() + 0.02, (cells <= value).sum() - 0.02
    levels = [level, *(end / rows for end in ends if 0.01 < end / rows < 0.99)]
    return value, [Fraction(one).limit_denominator(10**9) for one in levels]


def coverage(size: int, cells: np.ndarray, loss, level: float, runs: int) -> float:
    """Return the least coverage over the levels of one value."""
    schema = sf.Schema({"x": sf.Integer(0, size - 1)})
    plan = make_plan(Query().select(sf.median("x")), schema, loss)
    recipe = plan.recipes[0]
    assert isinstance(recipe, ByRank)
    levels = [level_of(plan, part) for part in recipe.levels]
    exact = [np.bincount(cells >> one.bits, minlength=one.count) for one in levels]
    assert fan_of(plan, recipe) in (1, 16)
    laws = [plan.step_of(part).mechanism for part in recipe.levels]
    value, asked = at_ends(cells, level)
    held = np.zeros(len(asked))
    for _ in range(runs // GROUPS):
        seen = [
            (counts + law_draws(law, GROUPS * len(counts)).reshape(GROUPS, -1)).ravel()
            for counts, law in zip(exact, laws, strict=True)
        ]
        for i, one in enumerate(asked):
            rule = ByRank(recipe.levels, one)
            low, high = ranks.rank_intervals(plan, rule, seen, LEVEL)
            held[i] += ((low <= value) & (value <= high)).mean() * GROUPS / runs
    return float(held.min())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, found = np.random.default_rng(options.seed), []
    start = time.process_time()
    while time.process_time() - start < options.seconds:
        size, cells = table(rng)
        loss = LOSSES[rng.integers(len(LOSSES))]
        level = float(rng.choice(LEVELS))
        found.append(
            (coverage(size, cells, loss, level, 1000), size, loss, level, cells)
        )
    found.sort(key=lambda one: one[0])
    print("| values | rows | noise | level | 1,000 releases | 6,000 others |")
    print("|---|---|---|---|---|---|")
    for first, size, loss, level, cells in found[:6]:
        ranks._errors.cache_clear()
        ranks._reach.cache_clear()
        again = coverage(size, cells, loss, level, 6000)
        print(
            f"| {size} | {len(cells)} | {loss} | {level} | {first:.4f} | {again:.4f} |"
        )
    print(f"{len(found)} tables")


if __name__ == "__main__":
    main()
