"""Clipping bounds that are found privately: paid, used, recorded, and never free."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato import gate
from sfumato.declare.schema import Schema
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.plan.bounded import make_bounded, octaves
from sfumato.testing import seeded

TAIL = np.exp(np.random.default_rng(7).normal(4, 0.7, 2000))
WIDE = sf.Real(bounds=sf.private_bounds("0.99", within=(0, 1_000_000)), step="0.5")
CUT = sf.Real(bounds=sf.private_bounds(within=(-100, 100_000)))


@pytest.fixture
def table():
    """A column with a long tail, its double, and a group."""
    group = np.tile(["a", "b"], 1000)
    return pd.DataFrame({"x": TAIL, "y": 2 * TAIL - 50, "g": group})


def session_of(table, budget=None, ledger=None, **columns):
    schema = sf.Schema({"x": WIDE, "y": CUT, "g": sf.Category(["a", "b"])} | columns)
    dataset = sf.Dataset(table, schema=schema, name="tail")
    return sf.Session(dataset, budget=budget or sf.Epsilon("10"), ledger=ledger)


@pytest.mark.parametrize(
    ("budget", "spend"),
    [
        (sf.Epsilon("10"), {"epsilon": "0.5"}),
        (sf.ZCDP("1"), {"rho": "0.05"}),
        (sf.ApproxDP("5", "1e-6"), {"epsilon": "0.5"}),
        (sf.ApproxDP("5", "1e-6", gaussian_only=True), {"epsilon": "0.5"}),
    ],
)
def test_one_debit_pays_for_both_steps(table, budget, spend) -> None:
    """The claim, the receipt and the ledger all name the whole, in every currency."""
    session = session_of(table, budget)
    plan = session.query().select(sf.mean("x"), sf.sum("y")).plan(**spend)
    before = session.left

    release = plan.release()

    assert plan.bounded.first.cost.units + plan.bounded.loss.units == plan.cost.units
    assert before.units - session.left.units == plan.cost.units
    assert release.claim.loss == release.claim.receipt.cost == str(plan.cost)
    assert session.profile().delta(5) < 0.1  # the descriptor is read back


def test_the_bounds_are_narrow_recorded_and_used(table) -> None:
    """They lie near the tail's quantiles, and the noise is that of their width."""
    with seeded(3):
        release = session_of(table).query().select(sf.mean("x")).release(epsilon="1")

    clipped = release.question.split("clipped to [")[1].rstrip("]")
    low, high = map(float, clipped.split(", "))
    assert 0 <= low < np.quantile(TAIL, 0.1)
    assert np.quantile(TAIL, 0.9) < high < 3 * np.quantile(TAIL, 0.999)
    bins, total, _ = release.measurements
    assert bins.name == "bins(x)" and bins.sensitivity == 1
    assert total.sensitivity == pytest.approx((high - low) / 0.5)
    assert abs(release["mean_x"].estimate - TAIL.mean()) < 5


def test_the_second_step_sums_what_the_bounds_clip(table) -> None:
    """The engine's integers are those of the reference, at narrowed bounds."""
    schema = sf.Schema({"x": WIDE, "g": sf.Category(["a", "b"])})
    query = sf.Query().group_by("g").select(sf.mean("x"), sf.variance("x"))
    bounded = make_bounded(query, schema, 1, dataset="tail")
    plan = bounded.second({"x": (10.0, 120.0)})
    rows = table[["x", "g"]].to_dict("records")

    with open_engine(sf.Dataset(table, schema=schema)) as engine:
        found = engine.run(plan).unseal()

    assert found == ReferenceEngine(rows).run(plan).unseal()
    assert plan.schema["x"].width == 220 and plan.schema.declared == schema


def test_without_a_significant_range_the_ends_are_the_bounds() -> None:
    """A nearly empty table is answered within the declared ends."""
    session = session_of(pd.DataFrame({"x": [1.0], "y": [1.0], "g": ["a"]}))

    with seeded(1):
        release = session.query().select(sf.mean("x")).release(epsilon="0.01")

    assert "[0, 1e+06]" in release.question


def test_a_replayed_request_costs_nothing(table, tmp_path) -> None:
    """The same key gives the same bytes; another question under it is refused."""
    session = session_of(table, ledger=tmp_path / "l.db")
    ask = session.query().select(sf.mean("x"))
    first = ask.release(epsilon="1", request_key="k")

    assert ask.release(epsilon="1", request_key="k") == first
    assert session.left == sf.Epsilon("9")
    with pytest.raises(sf.LedgerError):
        session.query().select(sf.mean("y")).release(epsilon="1", request_key="k")


def test_the_gate_takes_no_other_bounds(table) -> None:
    """A plan with bounds that the first step did not find is refused."""
    session = session_of(table)
    plan = session.query().select(sf.mean("x")).plan(epsilon="1")
    desk = plan._desk
    bounded = plan.bounded
    paid = desk.ledger.debit(plan.cost, plan=bounded.digest, descriptor="{}")
    found = gate.find_bounds(bounded, desk.engine.run(bounded.first), paid)
    other = bounded.second({"x": (0.0, 50.0)})

    with pytest.raises(sf.SfumatoError, match="does not pay"):
        gate.release(other, desk.engine.run(other), paid, found=found)
    with pytest.raises(sf.SfumatoError, match="does not pay"):
        gate.release(other, desk.engine.run(other), paid)
    with pytest.raises(sf.SfumatoError, match="does not pay"):
        gate.find_bounds(
            make_bounded(bounded.query, bounded.schema, 2, dataset="tail"),
            desk.engine.run(bounded.first),
            paid,
        )


def test_both_steps_are_taken_once(table) -> None:
    """One receipt buys one first step, and that one second step."""
    session = session_of(table)
    plan = session.query().select(sf.mean("x")).plan(epsilon="1")
    desk, bounded = plan._desk, plan.bounded
    paid = desk.ledger.debit(plan.cost, plan=bounded.digest, descriptor="{}")
    found = gate.find_bounds(bounded, desk.engine.run(bounded.first), paid)
    second = bounded.second(found.bounds)
    exact = desk.engine.run(second)

    assert gate.release(second, exact, paid, found=found)
    with pytest.raises(sf.SfumatoError, match="used already"):
        gate.release(second, exact, paid, found=found)
    with pytest.raises(sf.SfumatoError, match="used already"):
        gate.find_bounds(bounded, desk.engine.run(bounded.first), paid)


@pytest.mark.parametrize(
    "ask",
    [
        lambda q: q.where(sf.col("x") > 5).select(sf.mean("x")),
        lambda q: q.select(sf.mean("x"), sf.histogram("x", [0, 1, 2])),
        lambda q: q.select(sf.sum("x"), sf.median("x")),
        lambda q: q.derive("z", sf.col("x") * 2).select(sf.mean("x"), sf.mean("z")),
        lambda q: q.where((sf.col("g") == "a") & sf.col("x").is_missing()).select(sf.std("x")),
    ],
)  # fmt: skip
def test_what_narrow_bounds_would_change_is_refused(table, ask) -> None:
    """Filters, histograms and quantiles of the same column, before anything is spent."""
    session = session_of(table)

    with pytest.raises(sf.DeclarationError, match="question of its own"):
        ask(session.query()).release(epsilon="1")

    assert session.left == sf.Epsilon("10")


def test_computed_columns_have_public_bounds(table) -> None:
    """Private bounds of a computed column are refused, and other ones still work."""
    session = session_of(table)
    ask = session.query().derive("z", sf.col("y") * 2, WIDE).select(sf.mean("z"))

    with pytest.raises(sf.DeclarationError, match="is computed"):
        ask.plan(epsilon="1")

    ask = (
        session.query().derive("z", sf.col("y") * 2, sf.Real(0, 9)).select(sf.mean("z"))
    )
    assert ask.where(sf.col("z") > 1).plan(epsilon="1").bounded is None


def test_other_statistics_of_the_column_use_its_ends(table) -> None:
    """A histogram alone needs no bounds: nothing is found and nothing more is paid."""
    plan = session_of(table).query().select(sf.histogram("x", [0, 50, 500])).plan("1")

    assert plan.bounded is None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sf.private_bounds(0.99), "search within"),
        (lambda: sf.private_bounds(0.99, within=5), "search within"),
        (lambda: sf.private_bounds(1, within=(0, 1)), "between 0.5 and 1"),
        (lambda: sf.private_bounds(0.5, within=(0, 1)), "between 0.5 and 1"),
        (lambda: sf.private_bounds(-3, within=(0, 1)), "between 0.5 and 1"),
        (lambda: sf.private_bounds(within=(0, 1), share=1), "between 0 and 1"),
        (lambda: sf.Real(bounds=sf.private_bounds(within=(5, 1))), "is not below"),
        (lambda: sf.Real(bounds=sf.private_bounds(within=(0, np.inf))), "finite"),
        (lambda: sf.Real(0, 5, bounds=sf.private_bounds(within=(0, 1))), "given twice"),
        (lambda: sf.Real(bounds="data"), "read from the rows"),
        (lambda: sf.Real(bounds=pd.Series([1, 2]).quantile), "read from the rows"),
    ],
)
def test_bad_bounds_are_refused(make, text) -> None:
    """One clear error each; the classic quantile of the data is explained."""
    with pytest.raises(sf.DeclarationError, match=text):
        make()


def test_a_pair_declares_public_bounds() -> None:
    """`bounds=(0, 5)` is the same as two numbers."""
    assert sf.Real(bounds=(0, 5)) == sf.Real(0, 5)


def test_octaves_double() -> None:
    """Public edges from the declaration alone, both signs, never finer than the grid."""
    edges = octaves(Schema({"x": sf.Real(-8, 32, step=1)}), "x")

    assert edges == (-8, -4, -2, -1, 0, 1, 2, 4, 8, 16, 32)
    assert len(octaves(Schema({"x": sf.Real(0, 1e6)}), "x")) <= 42


def test_project_files_know_them(tmp_path, table) -> None:
    """`private_bounds = 0.99` beside the ends to search within."""
    from sfumato.project import load

    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\nname = "t"\n'
        '[columns.x]\ntype = "real"\nlower = 0\nupper = 1e6\nprivate_bounds = 0.99\n'
        '[budget]\nepsilon = "1"\n'
        '[[releases]]\nname = "r"\nepsilon = "1"\nstatistics = [{ mean = "x" }]\n'
    )

    column = load(tmp_path / "p.toml").dataset.schema["x"]

    assert column.private.q == Fraction(99, 100)
    assert (column.lower, column.upper) == (0, 1e6)


@pytest.mark.slow
def test_private_bounds_beat_the_declared_range(table) -> None:
    """At the same ε the error is at least 3 times smaller, over 100 releases each."""
    errors = {}
    for name, column in (("found", WIDE), ("declared", sf.Real(0, 1_000_000))):
        session = session_of(table, sf.Epsilon("1000"), x=column)
        plan = session.query().select(sf.mean("x")).plan(epsilon="1")
        made = [plan.release()["mean_x"].estimate for _ in range(100)]
        errors[name] = float(np.sqrt(np.mean((np.array(made) - TAIL.mean()) ** 2)))

    assert errors["found"] * 3 < errors["declared"]


@pytest.mark.slow
def test_the_whole_release_keeps_its_claim() -> None:
    """A black-box audit of bounds and mean together, neighbours with one outlier."""
    from sfumato.audit import epsilon_lower_bound

    base = pd.DataFrame({"x": [1.0] * 40, "y": 0.0, "g": "a"})
    outlier = pd.DataFrame({"x": [900_000.0], "y": [0.0], "g": ["a"]})

    def planned(data):
        session = session_of(data, sf.Epsilon("10000"))
        return session.query().select(sf.mean("x")).plan(epsilon="1")

    def ask(plan):
        release = plan.release()
        values = [v for m in release.measurements for v in m.values]
        return [*values, release["mean_x"].estimate]

    found = epsilon_lower_bound(
        ask, planned(base), planned(pd.concat([base, outlier])), claimed=1, draws=3000
    )

    assert not found.violated, found


def test_quantiles_of_ones_own_choice(table) -> None:
    """Clipped above only: the lower end stays public, the upper one is found."""
    wish = sf.private_quantiles(0, "0.95", within=(0, 1_000_000))
    session = session_of(table, x=sf.Real(bounds=wish, step="0.5"))

    release = session.query().select(sf.mean("x")).plan(epsilon="2").release()

    found = release.question.partition("clipped to [")[2].partition("]")[0]
    low, high = (float(part) for part in found.split(","))
    assert low == 0
    assert np.quantile(TAIL, 0.5) < high < 4 * np.quantile(TAIL, 0.95)


@pytest.mark.parametrize(
    "levels", [(0.9, 0.5), (0, 1), (-0.1, 0.5), (0.5, 1.5), ("x", 0.5), (0.5, 0.5)]
)
def test_wrong_quantiles_are_refused(levels) -> None:
    """Before any table is opened, with what to write instead."""
    with pytest.raises(sf.errors.DeclarationError, match="lie in order") as refused:
        sf.private_quantiles(*levels, within=(0, 9))
    assert "private_quantiles(0, 0.99" in str(refused.value)


def test_the_owner_compares_with_the_same_clamping(table) -> None:
    """What an interval promises is the figure of the bounds that were found."""
    table.loc[0, "x"] = 900_000.0  # without clamping the sum would be far beyond
    session = session_of(table)
    plan = session.query().group_by("g").select(sf.mean("x"), sf.sum("x")).plan("8")
    release = plan.release(confidence=1 - 1e-10)

    beside = plan.compare_for_owner(release)

    assert beside.covered == len(beside.rows) == 4  # fails less than once in 1e9 runs
    assert all(row.truth < 900_000 for row in beside.rows)


@pytest.mark.parametrize(("low", "high", "value"), [("0.4", "0.6", 0.8), ("0.995", 1, 70.3)])  # fmt: skip
def test_bounds_that_are_found_are_a_grid_step_apart(low, high, value):
    """Where ends lie off the grid, less than a step may be left: then nothing is narrowed."""
    column = sf.Real(bounds=sf.private_quantiles(low, high, within=("0.6", "70.4")), step=1)  # fmt: skip
    schema = sf.Schema({"x": column})
    session = sf.Session(sf.Dataset([{"x": value}] * 900, schema=schema), budget="900")

    made = session.query().select(sf.mean("x"), sf.variance("x")).release("400")

    assert 0 <= made["mean_x"].estimate <= 71
    with pytest.raises(ValueError, match="step apart"):
        schema["x"].narrowed(0.6, 1.1)
