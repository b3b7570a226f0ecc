"""Faults reported of other systems, area synth: each test is named for its case."""

import datetime as dt
import resource
import time

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.synth import Synthesizer
from sfumato.testing import seeded

BINARY = sf.Schema({n: sf.Category([0, 1]) for n in "abc"})


def fit(rows, schema, budget, **settings):
    """Make a synthetic table of these rows."""
    table = sf.Dataset(rows, schema=schema, name="case")
    return Synthesizer(**settings).fit(table, budget=budget)


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_bc111_none_in_output(epsilon):
    """Four complete rows never give a missing value, however large the noise."""
    rows = [{"a": i % 2, "b": i // 2, "c": 0} for i in range(4)]

    for _ in range(10):
        table = fit(rows, BINARY, sf.Epsilon(epsilon), complete=True).sample(1000)
        assert len(table) == 1000
        for name in "abc":
            assert set(table[name]) <= {0, 1}
            assert {type(v) for v in table[name]} == {int}


def test_bc113_all_categorical():
    """No number, no text, or one single column: all work and keep their domains."""
    texts = [{"a": "x", "b": "y", "c": "z"}] * 100
    words = sf.Schema({n: sf.Category(["x", "y", "z"]) for n in "abc"})
    numbers = sf.Schema({"n": sf.Integer(0, 9), "r": sf.Real(0, 1, step=0.1)})
    alone = sf.Schema({"a": sf.Category(["x", "y"])})

    for rows, schema in (
        (texts, words),
        ([{"n": i % 10, "r": 0.5} for i in range(100)], numbers),
        (texts, alone),
    ):
        table = fit(rows, schema, sf.Epsilon("1")).sample(50)
        assert table.names == tuple(schema)
        assert len(table) == 50
    assert set(table["a"]) <= {"x", "y", None}


def test_bc115_missing_kept():
    """The rate of missing values is kept, and so is what it depends on."""
    rng = np.random.default_rng(0)
    ordered = rng.random(1000) < 0.75
    gone = ~ordered | (rng.random(1000) < 0.0667)
    rows = [
        {"ordered": "yes" if o else "no", "lab": None if g else float(x)}
        for o, g, x in zip(ordered, gone, rng.normal(50, 5, 1000))
    ]
    schema = sf.Schema(
        {"ordered": sf.Category(["yes", "no"]), "lab": sf.Real(0, 100, step=1)}
    )
    with seeded(115):
        frames = [
            fit(rows, schema, sf.Epsilon("2")).sample(1000).to_pandas()
            for _ in range(10)
        ]

    rate = np.mean([f["lab"].isna().mean() for f in frames])
    given_no = np.mean(
        [f.loc[f["ordered"] == "no", "lab"].isna().mean() for f in frames]
    )
    assert rate == pytest.approx(gone.mean(), abs=0.05)
    assert given_no >= 0.8


def test_bc117_large_domain():
    """Ten columns of a hundred keys, and a column of fifty thousand codes."""
    keys = [f"k{i}" for i in range(100)]
    wide = sf.Schema({f"c{j}": sf.Category(keys) for j in range(10)})
    rows = [
        {f"c{j}": keys[(i * (j + 1)) % 100] for j in range(10)} for i in range(2000)
    ]
    codes = [f"ICD{i:05d}" for i in range(50_000)]
    tall = sf.Schema({"code": sf.Category(codes), "sex": sf.Category(["F", "M"])})
    visits = [{"code": codes[i % 7 * 100], "sex": "FM"[i % 2]} for i in range(2000)]
    start = time.process_time()

    plan = Synthesizer(rounds=5).plan(
        sf.Dataset(rows, schema=wide, name="w"), budget=sf.Epsilon("1")
    )
    one = plan.fit().sample(1000)
    two = fit(visits, tall, sf.Epsilon("1")).sample(1000)

    assert plan.megabytes < 500
    assert len(one) == len(two) == 1000
    assert set(two["code"]) <= {*codes, None}
    assert time.process_time() - start < 120
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000
    )  # kB, all tests


def test_bc119_index_alignment():
    """Whatever the index of a frame: the same rows give the same table."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 200), "b": rng.integers(0, 2, 200)})
    tail = frame.tail(50)
    schema = sf.Schema({n: sf.Category([0, 1]) for n in "ab"})
    shuffled = tail.sample(frac=1, random_state=2)
    variants = [
        tail,
        tail.reset_index(drop=True),
        tail.set_index(pd.Index([f"p{i}" for i in range(50)])),
        tail.set_index(pd.Index([7] * 50)),
        shuffled,
        tail.sort_values("b"),
    ]

    texts = set()
    for rows in variants:
        with seeded(119):
            texts.add(fit(rows, schema, sf.Epsilon("2")).sample(50).to_csv())

    assert len(texts) == 1


def test_bc121_out_of_range():
    """Values stay within their bounds and whole numbers stay whole.

    Dates stay dates, of declared resolution.
    """
    rng = np.random.default_rng(2)
    first, last = dt.date(2020, 1, 1), dt.date(2024, 12, 31)
    schema = sf.Schema(
        {
            "soil": sf.Real(0, 1),
            "count": sf.Integer(0, 20),
            "day": sf.Date(first, last),
        }
    )
    rows = [
        {
            "soil": rng.random() / 5,
            "count": int(rng.poisson(1)),
            "day": first + dt.timedelta(int(d)),
        }
        for d in rng.integers(0, 1827, 300)
    ]

    for _ in range(20):
        table = fit(rows, schema, sf.Epsilon("1")).sample(300)
        assert all(v is None or 0 <= v <= 1 for v in table["soil"])
        assert all(
            v is None or (type(v) is int and 0 <= v <= 20) for v in table["count"]
        )
        assert all(
            v is None or (type(v) is dt.date and first <= v <= last)
            for v in table["day"]
        )


def test_bc123_small_clinical():
    """Before anything is spent, the plan says that 176 rows of 80 columns are too few."""
    schema = sf.Schema({f"c{i}": sf.Real(0, 100, step=1) for i in range(80)})
    table = sf.Dataset([{"c0": 1}] * 176, schema=schema, name="small")

    plan = Synthesizer(memory=2000).plan(table, budget=sf.Epsilon("1"))

    single = [e.error for e in plan.expected(rows=176) if len(e.columns) == 1]
    assert np.mean(np.array(single) > 0.3) > 0.5
    assert "mostly noise" in plan.warnings(rows=176)[0]


def test_bc125_dependence_lost():
    """y = 10x in ten thousand rows stays so in 95 rows of 100."""
    schema = sf.Schema({"x": sf.Category(range(5)), "y": sf.Category(range(0, 50, 10))})
    rows = [{"x": i % 5, "y": 10 * (i % 5)} for i in range(10_000)]

    for seed in range(5):
        with seeded(seed):
            table = fit(rows, schema, sf.Epsilon("3")).sample(5000)
        kept = [
            y == 10 * x for x, y in zip(table["x"], table["y"]) if None not in (x, y)
        ]
        assert np.mean(kept) * len(kept) / 5000 >= 0.95
