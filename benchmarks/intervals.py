"""How often 95 % intervals hold the figure without noise: every kind of figure.

    python benchmarks/intervals.py --releases 20000

Plan, scan, noise and intervals are those of a release. Every group of a table holds the
same rows and has noise of its own, so a release of G groups is G releases of one.

Of a quantile the figure is one value of many, so that an interval may hold more often than
it says however narrow it is: a crowded value is the quantile for many ranks, and seldom
another. Such intervals are looked at once more: the same noisy counts, asked for the ranks
right beside the ends of that value. No noisy count tells that the rank lies in the middle
and not there. "Beside" is how often the rule holds at the least favourable of them; where
that is within the bar, a narrower rule would fail there. "Alone" is how many intervals are
one single value.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo
from sfumato.declare.query import Query
from sfumato.engine.load import open_engine
from sfumato.gate import _add_noise
from sfumato.plan import ByRank, make_plan
from sfumato.post import in_terms, intervals, points
from sfumato.post.tree import ends, tree_counts

GROUPS = 200
LEVEL = 0.95
LOW, HIGH = 0.945, 0.97
EACH = 4  # releases to one that is also asked for the ranks beside
LEVELS = ("0.05", "0.25", "0.5", "0.9")


def quantiles(*columns: str):
    return tuple(sf.quantile(c, level) for c in columns for level in LEVELS)


CORRELATION = (sf.correlation("Glucose", "Age"),)
KINDS = (  # title, table, ε, statistics
    ("count, sum, mean", "pima", "0.3", (
        sf.count(), sf.count("Glucose"), sf.sum("Age"), sf.mean("Glucose"),
        sf.sum("Glucose"))),
    ("share, histogram, table", "pima", "0.5", (
        sf.proportion("Outcome", 1), sf.histogram("Glucose", [0, 100, 140, 250]),
        sf.crosstab("Outcome", "Glucose", other_edges=[0, 120, 250]))),
    ("variance, deviation", "pima", "0.5", (sf.variance("Age"), sf.std("Glucose"))),
    ("ratio, covariance, correlation", "pima", "2", (
        sf.ratio("Glucose", "Age"), sf.covariance("Glucose", "Age"), *CORRELATION)),
    ("correlation at 0.2", "pima", "0.2", CORRELATION),
    ("correlation at 0.5", "pima", "0.5", CORRELATION),
    ("correlation, narrow columns", "narrow", "1", (sf.correlation("x", "y"),)),
    ("quantiles of Pima at 0.2", "pima", "0.2", quantiles("Age", "Glucose")),
    ("quantiles of Pima at 1", "pima", "1", quantiles("Age", "Glucose")),
    ("quantiles of Pima at 1, more", "pima", "1", quantiles("Pregnancies", "Pedigree")),
    ("quantiles of Pima at 3", "pima", "3", quantiles("Age", "Pedigree")),
    ("quantiles, continuous", "normal", "1", quantiles("x")),
    ("quantiles, continuous at 0.2", "normal", "0.2", quantiles("x")),
    ("quantiles, many rows", "large", "1", quantiles("x")),
    ("quantiles, one row between", "crowded", "1", quantiles("x")),
    ("quantiles, 20 rows", "tiny", "3", quantiles("x")),
)  # fmt: skip
PIMA = {
    "Glucose": sf.Real(40, 250, step=1),
    "Pedigree": sf.Real(0, 4.096, step="0.001"),
    "Age": sf.Integer(18, 100, complete=True),
    "Pregnancies": sf.Integer(0, 20),
    "Outcome": sf.Category([0, 1]),
}


@dataclass(frozen=True)
class Seen:
    """How often the intervals of a figure held it, and how narrow they could be."""

    holds: float
    alone: float | None = None
    beside: float | None = None

    @property
    def verdict(self) -> str:
        if self.holds < LOW or (self.beside is not None and self.beside < LOW):
            return "MISSED"
        if self.holds <= HIGH:
            return "held"
        narrowest = self.beside is not None and self.beside <= HIGH
        return "held, narrowest" if narrowest else "wide"


def pima() -> tuple[pd.DataFrame, dict]:
    with demo.project_file() as path:
        rows = pd.read_csv(path.parent / "diabetes.csv")
    # spread over the whole grid, so that hardly any two rows share a value
    spread = np.sort(rows["DiabetesPedigreeFunction"]) + 0.002 * np.arange(768)
    return rows.assign(Pedigree=spread), PIMA


def _normal(rows: int) -> Callable[[], tuple[pd.DataFrame, dict]]:
    def make():
        x = np.clip(np.random.default_rng(rows).normal(0, 1, rows), -4, 4)
        return pd.DataFrame({"x": x}), {"x": sf.Real(-4, 4, step="0.001")}

    return make


def narrow() -> tuple[pd.DataFrame, dict]:
    """Two columns that vary by a fortieth of their bounds, as noise does."""
    one, two = np.random.default_rng(3).normal(0, 1, (2, 768))
    cells = pd.DataFrame({"x": 145 + 5 * one, "y": 145 + 5 * (0.9 * one + 0.43 * two)})
    return cells, {name: sf.Real(40, 250, step=1) for name in "xy"}


def crowded() -> tuple[pd.DataFrame, dict]:
    """Two crowded values, and a single row in between."""
    cells = pd.DataFrame({"x": [30] * 200 + [50] + [70] * 200})
    return cells, {"x": sf.Real(0, 100, step="0.01")}


TABLES = {
    "pima": pima,
    "narrow": narrow,
    "normal": _normal(768),
    "large": _normal(5000),
    "tiny": _normal(20),
    "crowded": crowded,
}


def grouped(name: str, neighbours: str) -> tuple[pd.DataFrame, sf.Schema]:
    rows, columns = TABLES[name]()
    data = pd.concat([rows.assign(group=g) for g in range(GROUPS)], ignore_index=True)
    size = {} if neighbours == "add_remove" else {"size": len(data)}
    unit = sf.Rows(neighbours=neighbours, **size)
    return data, sf.Schema({**columns, "group": sf.Category(range(GROUPS))}, unit=unit)


def beside(plan, recipe: ByRank, exact) -> list[ByRank]:
    """Return the same quantile at the ranks right beside both ends of its value."""
    counts = np.cumsum(tree_counts(plan, recipe, exact)[0])
    rows = counts[-1]
    place = int((counts < float(recipe.level) * rows - 1e-6).sum())
    ranks = [counts[place - 1] if place else 0.0, counts[place]]
    near = (rank + off for rank in ranks for off in (-0.02, 0.02))
    levels = (Fraction(rank / rows).limit_denominator(10**9) for rank in near)
    return [ByRank(recipe.levels, x) for x in levels if Fraction(1, 200) < x < 1 - Fraction(1, 200)]  # fmt: skip


def measure(data, declared, asked, spend, releases) -> dict[str, Seen]:
    """Return, per statistic, how often its intervals held the figure without noise."""
    loss = sf.Epsilon(spend["epsilon"]) if "epsilon" in spend else sf.ZCDP(spend["rho"])
    plan = make_plan(Query().group_by("group").select(*asked), declared, loss)
    engine = open_engine(sf.Dataset(data, schema=declared))
    exact = engine.run(plan).unseal()
    engine.close()
    whole = in_terms(plan, exact)
    wanted = [
        [r, *(beside(plan, r, whole) if isinstance(r, ByRank) else ())]
        for r in plan.recipes
    ]
    truths = [[points(plan, r, whole) for r in each] for each in wanted]
    held = [np.zeros(len(each)) for each in wanted]
    alone = np.zeros(len(wanted))
    times = -(-releases // GROUPS)
    again = -(-times // EACH)
    for turn in range(times):
        seen = in_terms(plan, _add_noise(plan, exact))
        for place, each in enumerate(wanted):
            for i, recipe in enumerate(each if turn % EACH == 0 else each[:1]):
                low, high = intervals(plan, recipe, seen, LEVEL)
                truth = truths[place][i]
                inside = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
                held[place][i] += inside.mean() / (again if i else times)
                if i == 0 and isinstance(recipe, ByRank):
                    alone[place] += _is_alone(plan, recipe, low, high).mean() / times
    return {
        one.name: Seen(float(h[0]))
        if not isinstance(each[0], ByRank)
        else Seen(float(h[0]), float(a), float(h.min()))
        for one, each, h, a in zip(asked, wanted, held, alone, strict=True)
    }


def _is_alone(plan, recipe: ByRank, low, high):
    """Tell which intervals hold one value, or one run of values that are counted as one."""
    first, last = ends(plan, recipe, np.arange(len(tree_counts(plan, recipe, [[0.0] * p.cells for p in plan.parts])[0])))  # fmt: skip
    start = np.searchsorted(first, low, side="right")
    end = np.searchsorted(first, high, side="right")
    return start == end


def simulate(releases: int, only: str = "") -> Iterator[tuple[str, str, str, Seen]]:
    """Iterate over how it was asked, the table, the statistic, and what was seen."""
    for neighbours in ("add_remove", "replace_one"):
        for title, name, epsilon, asked in KINDS:
            if only not in title or (name != "pima" and neighbours != "add_remove"):
                continue  # noise of another size, no other rule
            data, declared = grouped(name, neighbours)
            rho = str(float(epsilon) ** 2 / 8)
            for spend in ({"epsilon": epsilon}, {"rho": rho}):
                how = f"{neighbours}, {next(iter(spend))} {next(iter(spend.values()))}"
                found = measure(data, declared, asked, spend, releases)
                for figure, seen in found.items():
                    yield how, name, figure, seen


def row(cells: Sequence[object]) -> str:
    """Return a line of the table."""
    shown = ("" if c is None else f"{c:.4f}" if isinstance(c, float) else str(c) for c in cells)  # fmt: skip
    return f"| {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--releases", type=int, default=20_000)
    parser.add_argument(
        "--only", default="", help="part of the name of a group of kinds"
    )
    options = parser.parse_args()
    heads = ("noise", "table", "figure", "holds", "alone", "beside", "bar")
    print(row(heads), row(["---"] * len(heads)), sep="\n")
    tally: dict[str, int] = {}
    for how, name, figure, seen in simulate(options.releases, options.only):
        cells = (how, name, figure, seen.holds, seen.alone, seen.beside, seen.verdict)
        print(row(cells), flush=True)
        tally[seen.verdict] = tally.get(seen.verdict, 0) + 1
    print(", ".join(f"{verdict}: {count}" for verdict, count in sorted(tally.items())))


if __name__ == "__main__":
    main()
