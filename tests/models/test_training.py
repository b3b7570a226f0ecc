"""An order on an opened table: the same model wherever it lies, and no row makes it fail."""

import sys
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.declare.dataset import Dataset, Postgres
from sfumato.models import ModelBudget
from sfumato.models.cells import OpenedCells
from sfumato.models.training import Order, Training
from sfumato.testing import seeded

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

import sparks
from cluster import running

COLUMNS = {
    "glucose": sf.Real(50, 200, missing=0),
    "sex": sf.Category(["F", "M"]),
    "smoker": sf.Boolean(),
    "stay": sf.Real(0, 30),
    "ill": sf.Category([0, 1]),
}
ROWS = [
    {
        "glucose": (60.5, 190.0, None, 0.0, float("nan"), 999.0)[i % 6],
        "sex": ("F", "M", "?", None)[i % 4],
        "smoker": (True, False, None)[i % 3],
        "stay": float(i % 31),
        "ill": i % 2,
        "person": (f"p{i // 3}" if i % 10 else None),
    }
    for i in range(120)
]
TYPES = {
    "glucose": "double precision", "sex": "text", "smoker": "boolean",
    "stay": "double precision", "ill": "integer", "person": "text",
}  # fmt: skip
FEATURES = ("glucose", "sex", "smoker", "stay")


def trained(source, *, unit=None, columns=COLUMNS, **order):
    """Return what an order gives, and what it cost."""
    given = {"estimator": "LogisticRegression", "target": "ill", "features": FEATURES}
    given |= {"epsilon": "1", **order}
    budget = ModelBudget("10", dataset="clinic")
    schema = sf.Schema(columns, unit=unit or sf.Rows())
    training = Training(Dataset(source, schema=schema), Order(**given), budget)
    return training.run(), budget


def numbers(source):
    """Return the coefficients of a fit whose noise repeats."""
    with seeded(1):
        fitted, _ = trained(source)
    return fitted.model.coef_.tolist()


def test_a_table_in_postgresql_gives_the_very_model():
    """Whatever order its rows come in: sums are whole numbers."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

    with running() as url:
        with psycopg.connect(url, autocommit=True) as db:
            told = ", ".join(f"{n} {kind}" for n, kind in TYPES.items())
            db.execute(f"CREATE TABLE clinic ({told})")
            marks = ", ".join(["%s"] * len(TYPES))
            for row in reversed(ROWS):
                cells = [row[n] for n in TYPES]
                db.execute(f"INSERT INTO clinic VALUES ({marks})", cells)
        found = numbers(Postgres(url, "clinic"))

    assert found == numbers(ROWS)


@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_a_table_in_spark_gives_the_very_model():
    """Read by one statement of Spark's dialect."""
    kinds = "glucose double, sex string, smoker boolean, stay double, ill int, person string"
    frame = sparks.sail().createDataFrame(
        [tuple(row[n] for n in TYPES) for row in ROWS], schema=kinds
    )

    assert numbers(frame) == numbers(ROWS)


HARD = [
    [],
    ROWS[:1],
    [{**row, "ill": 7} for row in ROWS],
    [dict.fromkeys(TYPES) for _ in range(3)],
]


@pytest.mark.parametrize("rows", HARD, ids=["none", "one", "other labels", "nulls"])
@pytest.mark.parametrize("unit", [None, sf.Unit("person", max_rows=2, max_groups=1)])
def test_no_table_makes_it_raise(rows, unit):
    """An error would tell how few rows there are; a model is fitted, tested and paid."""
    import pandas as pd

    table = pd.DataFrame({n: [row[n] for row in rows] for n in TYPES})
    table = table.astype({"glucose": float, "stay": float, "ill": float, "sex": object})
    for _ in range(5):  # a coin decides which part is empty
        fitted, budget = trained(table, unit=unit, test_epsilon="0.5")

        assert budget.spent == fitted.spent == sf.Epsilon("1.5")
        assert 0 <= fitted.test.auc <= 1


def test_people_are_fitted_or_tested_whole(monkeypatch):
    """All rows of a person follow one coin; rows of nobody are left out."""
    seen = {}
    for name in ("_fit", "_test"):
        original = getattr(Training, name)

        def spy(self, *given, name=name, original=original):
            seen[name] = given[-1].persons
            return original(self, *given)

        monkeypatch.setattr(Training, name, spy)

    unit = sf.Unit("person", max_rows=2, max_groups=1)
    fitted, _ = trained(ROWS, unit=unit, test_epsilon="0.5")

    known = {row["person"] for row in ROWS} - {None}
    first, second = map(set, seen.values())
    assert len(first) + len(second) == len(first | second) == len(known)
    assert len(seen["_fit"]) + len(seen["_test"]) == sum(
        row["person"] is not None for row in ROWS
    )
    for claim in (fitted.model.privacy_claim_, fitted.test.claim):
        assert (claim["unit"], claim["rows"]) == ("person", 2)


def test_reading_that_fails_is_paid_and_says_one_thing(monkeypatch):
    """It may fail because of a row, so it must cost what success costs."""

    def fails(*_):
        raise ValueError("patient 7")

    monkeypatch.setattr(OpenedCells, "_read", fails)
    budget = ModelBudget("10", dataset="clinic")
    order = Order("LogisticRegression", "ill", FEATURES, epsilon="1", test_epsilon="1")
    training = Training(Dataset(ROWS, schema=sf.Schema(COLUMNS)), order, budget)

    with pytest.raises(sf.EngineError, match="the debit stands") as caught:
        training.run()

    assert caught.value.__context__ is None
    assert budget.spent == sf.Epsilon("2")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"options": {"degree": 3}}, "degree"),
        ({"options": {"neighbours": "replace_one"}}, "no option"),
        ({"features": ("note",)}, "cannot use column"),
        ({"target": "note"}, "cannot use column"),
        ({"target": "stay", "features": ("sex",)}, "cannot predict"),
    ],
)
def test_a_wrong_order_is_refused_before_any_row_is_read(monkeypatch, change, text):
    """Nothing is spent, and the cells are never asked for."""
    monkeypatch.setattr(OpenedCells, "read", None)

    with pytest.raises(sf.DeclarationError, match=text) as caught:
        trained(ROWS, columns={**COLUMNS, "note": sf.Text()}, **change)

    assert caught.value.hint


def test_cells_are_the_same_clamped_numbers_and_keys():
    """A boolean, a key, a code for "no value" and a value beyond its bounds."""
    schema = sf.Schema(COLUMNS)
    cells = OpenedCells(Dataset(ROWS[:6], schema=schema)).read(FEATURES)

    assert cells.persons is None and cells.rows == 6
    assert np.array_equal(
        cells.columns["glucose"], [60.5, 190, *[np.nan] * 3, 200], equal_nan=True
    )
    assert cells.columns["sex"].tolist() == ["F", "M", None, None, "F", "M"]
    truths = schema["smoker"].true[0], schema["smoker"].false[0]
    assert cells.columns["smoker"].tolist() == [*truths, None, *truths, None]


@pytest.mark.parametrize("spelling", [{}, {"true": ["是", "1"], "false": "否"}])
@pytest.mark.parametrize("estimator", ["LogisticRegression", "GaussianNB"])
def test_a_boolean_target_is_learned_however_it_is_spelled(spelling, estimator):
    """No row of it counted where the project spelled true and false its own way."""
    column = sf.Boolean(**spelling)
    rows = [{"x": i % 100, "y": (column.true if i % 100 > 49 else column.false)[0]}
            for i in range(4000)]  # fmt: skip
    columns = {"x": sf.Integer(0, 99), "y": column}

    made, _ = trained(
        rows, columns=columns, estimator=estimator, target="y",
        features=("x",), epsilon="4", test_epsilon="4",
    )  # fmt: skip

    assert made.test.auc > 0.9
