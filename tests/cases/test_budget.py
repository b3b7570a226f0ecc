"""Reported faults of budget, ε and repetition, from the table to the release."""

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import threading
from contextlib import nullcontext
from fractions import Fraction
from itertools import permutations
from statistics import fmean, pstdev
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato import models
from sfumato.account import LargeDeltaWarning
from sfumato.ledger import descriptors, show
from sfumato.synth import Synthesizer
from sfumato.testing import seeded

EPSILONS = {"0.1": 9.98, "1": 0.85, "30": 0.0}


def numbers(rows=1000):
    """Return a table of one number."""
    x = np.random.default_rng(0).normal(100, 15, rows)
    schema = sf.Schema({"x": sf.Real(40, 160, step=0.01)})
    return sf.Dataset(pd.DataFrame({"x": x}), schema=schema, name="t")


def test_bc049_the_error_that_was_shown_is_the_error_that_comes():
    """2000 bins: the mean absolute error is the one shown before, and falls with ε."""
    edges = [Fraction(40) + Fraction(6 * i, 100) for i in range(2001)]
    found = []
    for epsilon, wanted in EPSILONS.items():
        desk = sf.Session(numbers(), budget=sf.Epsilon(epsilon))
        plan = desk.query().select(sf.histogram("x", edges)).plan(epsilon)
        (shown,) = plan.expected()
        with seeded(49):
            truth = plan.compare_for_owner(plan.release())
        errors = [abs(row.error) for row in truth.rows]
        found.append(fmean(errors))

        assert len(errors) == 2000
        assert shown.mean_absolute == pytest.approx(wanted, abs=0.005)
        assert found[-1] == pytest.approx(shown.mean_absolute, rel=0.05, abs=1e-9)
    assert found[0] > found[1] > found[2]


def test_bc053_a_request_costs_what_was_said():
    """Twenty sums are one draw, so their mean is as noisy as each; the charge is 1."""
    desk = sf.Session(numbers(), budget=sf.Epsilon("1"))
    answer = desk.query().select(*[sf.sum("x")] * 20).release("1")

    assert len({figure.estimate for figure in answer}) == 1
    assert len(answer) == 20
    assert desk.left.units == 0
    desk = sf.Session(numbers(), budget=sf.Epsilon("1"))
    desk.query().select(sf.count(), sf.mean("x"), sf.variance("x")).release("1")
    assert desk.left.units == 0


def test_bc053_an_average_of_copies_is_as_noisy_as_one():
    """Over 250 requests: about 1.36 where one draw is shared, 0.31 where each is paid."""
    rows = pd.DataFrame({"x": np.random.default_rng(1).random(1000)})
    schema = sf.Schema({"x": sf.Real(0, 1, step=0.001)})
    data = sf.Dataset(rows, schema=schema, name="t")
    desk = sf.Session(data, budget=sf.Epsilon(250))
    truth = float(rows["x"].round(3).sum())
    with seeded(53):
        off = [
            fmean(float(f.estimate) for f in request) - truth
            for request in (
                desk.query().select(*[sf.sum("x")] * 20).release("1")
                for _ in range(250)
            )
        ]

    assert 1.1 < pstdev(off) < 1.7
    assert desk.left.units == 0


def table(columns, rows=60):
    """Return a table of so many columns of yes and no."""
    dice = np.random.default_rng(columns)
    names = [f"c{i}" for i in range(columns)]
    frame = pd.DataFrame(dice.random((rows, columns)) < 0.5, columns=names)
    schema = sf.Schema(dict.fromkeys(names, sf.Boolean()))
    return sf.Dataset(frame, schema=schema, name="t")


@pytest.mark.parametrize("columns", range(1, 9))
@pytest.mark.parametrize("budget", [sf.Epsilon("1"), sf.ZCDP("0.1")], ids=str)
def test_bc051_no_synthesis_stops_half_way(columns, budget, tmp_path):
    """Whatever the columns, the steps sum to the request and the ledger has just it."""
    path = tmp_path / "t.ledger"
    Synthesizer("oneshot").fit(table(columns), budget=budget, ledger=path)

    (debit,) = descriptors(path)
    (cap,) = show(path).budgets

    assert debit.units == cap.spent == cap.cap == budget.units


@pytest.mark.slow
def test_bc051_fifty_budgets_are_spent_to_the_unit(tmp_path):
    """Random budgets and numbers of columns, three measured rounds: 50 successes."""
    dice = random.Random(51)
    for number in range(50):
        path = tmp_path / f"{number}.ledger"
        currency = dice.choice([sf.Epsilon, sf.ZCDP])
        budget = currency.from_units(dice.randrange(10**10, 3 * 10**12))
        made = Synthesizer("oneshot", rounds=3)
        made.fit(table(dice.randint(3, 6), 30), budget=budget, ledger=path)

        (debit,) = descriptors(path)
        assert debit.units == budget.units


REPEATED = """
import sys
sys.path.insert(0, sys.argv[1])
from test_budget import one_synthesis
print(one_synthesis())
"""


def one_synthesis():
    """Return the hash of a seeded synthesis of a table of 100 rows."""
    rows = [{"a": i % 2, "b": i % 3, "c": i % 5} for i in range(100)]
    schema = sf.Schema({"a": sf.Category([0, 1]), "b": sf.Category([0, 1, 2]),
                        "c": sf.Integer(0, 4)})  # fmt: skip
    data = sf.Dataset(pd.DataFrame(rows), schema=schema, name="t")
    with seeded(0):
        made = Synthesizer("oneshot").fit(data, budget=sf.Epsilon("1"))
        table = made.sample(200).to_pandas()
    return hashlib.sha256(table.to_csv().encode()).hexdigest()


@pytest.mark.parametrize("processes", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_bc093_a_seed_repeats_a_synthesis_anywhere(processes):
    """Whatever numpy's and random's state, the thread, the process and its threads."""
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()
    found = [one_synthesis()]
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before
    np.random.seed(2)
    random.seed(2)
    thread = threading.Thread(target=lambda: found.append(one_synthesis()))
    thread.start()
    thread.join()
    others = [
        subprocess.Popen(
            [sys.executable, "-c", REPEATED, os.path.dirname(__file__)],  # noqa: PTH120
            env={**os.environ, "OMP_NUM_THREADS": str(n), "PYTHONHASHSEED": str(n)},
            stdout=subprocess.PIPE, text=True,
        )
        for n in range(1, processes + 1)
    ]  # fmt: skip
    found += [other.communicate()[0].split()[-1] for other in others]

    assert len(found) == 2 + processes
    assert len(set(found)) == 1


def test_bc095_saved_models_hold_no_training_value(tmp_path):
    """No eight bytes and no text of any of 400 values is in a file that is saved."""
    x = np.random.default_rng(95).random((200, 2))
    y = (x[:, 0] > x[:, 1]).astype(int)
    bounds = ([0, 0], [1, 1])
    kept = []
    for number, model in enumerate((
        models.LogisticRegression(bounds=bounds, classes=[0, 1]),
        models.LinearRegression(bounds=bounds, y_bounds=(0, 1)),
        models.GaussianNB(bounds=bounds, classes=[0, 1]),
        models.StandardScaler(bounds=bounds),
    )):  # fmt: skip
        model.set_params(epsilon="4", budget=models.ModelBudget("4")).fit(x, y)
        models.save(model, tmp_path / f"{number}.json")
        kept.append((tmp_path / f"{number}.json").read_bytes())
    schema = sf.Schema({c: sf.Real(0, 1, step="1e-16") for c in "ab"})
    data = sf.Dataset(pd.DataFrame(x, columns=["a", "b"]), schema=schema, name="t")
    made = Synthesizer("oneshot").fit(data, budget=sf.Epsilon("4"))
    made.save(tmp_path / "t.synth")
    with ZipFile(tmp_path / "t.synth") as arrays:
        kept.append(b"".join(map(arrays.read, arrays.namelist())))

    def leaks(content):
        texts = {p for v in x.ravel().tolist()
                 for p in (struct.pack("<d", v), struct.pack(">d", v),
                           repr(v)[:14].encode(), f"{v:.12f}"[:-1].encode())}  # fmt: skip
        return any(text in content for text in texts)

    assert all(content.lstrip().startswith(b"{") for content in kept[:-1])  # JSON
    assert not any(map(leaks, kept))
    assert leaks(x.tobytes()) and leaks(json.dumps(x.tolist()).encode())


def test_bc045_and_bc047_synthesis_asks_for_a_budget():
    """No budget that is none, and no δ outside of [0, 1)."""
    for wrong in (0, "0", -1, None):
        with pytest.raises(sf.SfumatoError):
            Synthesizer("oneshot").fit(table(2), budget=sf.Epsilon(wrong))
    for delta in (1, 1.5, -1e-9):
        with pytest.raises(sf.SfumatoError, match="delta"):
            Synthesizer("oneshot").fit(table(2), budget=sf.ApproxDP("1", delta))


OUTCOMES = [
    (0, "refused"), (None, "refused"), ("1e-7", "shown"), (0.01, "warned"),
    (0.1, "warned"), (1, "wrong"), (1.5, "wrong"), (-1e-9, "wrong"), ("1e-5", "shown"),
]  # fmt: skip


@pytest.mark.parametrize("currency", [sf.Epsilon, sf.ZCDP])
@pytest.mark.parametrize(("delta", "outcome"), OUTCOMES)
def test_bc047_unknown_keys_with_nine_deltas(currency, delta, outcome):
    """Count by g of unknown keys: what is needed, warned of and refused names delta."""
    rows = pd.DataFrame({"g": ["a", "b"] * 50})
    data = sf.Dataset(rows, schema=sf.Schema({"g": sf.Text()}), name="t")
    ask = sf.Query().group_by("g").select(sf.count())
    spent = {"epsilon" if currency is sf.Epsilon else "rho": "1"}
    if outcome == "wrong":
        with pytest.raises(sf.DeclarationError, match="delta must lie") as caught:
            currency("1", delta)
        assert str(delta) in str(caught.value)
        return
    manner = nullcontext()
    if outcome == "warned":
        manner = pytest.warns(LargeDeltaWarning, match=f"delta {delta}")
    with manner:
        desk = sf.Session(data, budget=currency("1", delta))
    if outcome == "refused":
        with pytest.raises(sf.DeclarationError, match="costs a delta"):
            desk.ask(ask).release(**spent, delta=delta)
        assert desk.spent.units == 0
    else:
        desk.ask(ask).release(**spent, delta=delta)
        assert desk.spent == currency("1", delta)


def test_bc055_no_order_of_questions_costs_more(tmp_path):
    """mean(a), sum(a), mean(b) in all six orders: the ledger of two tables is the same."""
    asks = {"m": (1000, "a", sf.mean("x")), "s": (1000, "a", sf.sum("x")),
            "b": (10_000, "b", sf.mean("x"))}  # fmt: skip
    spent = set()
    for number, order in enumerate(permutations(asks)):
        path = tmp_path / f"{number}.ledger"
        for rows, name, ask in (asks[key] for key in order):
            data = sf.Dataset(
                pd.DataFrame({"x": [1.0] * rows}),
                schema=sf.Schema({"x": sf.Real(-20, 20, step=0.5)}), name=name,
            )  # fmt: skip
            desk = sf.Session(data, budget=sf.Epsilon("1"), ledger=path)
            desk.query().select(ask).release("0.1")
        spent.add(json.dumps(sorted((b.dataset, b.spent) for b in show(path).budgets)))

    assert spent == {'[["a", 200000000000], ["b", 100000000000]]'}
