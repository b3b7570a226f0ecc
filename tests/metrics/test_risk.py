"""k, l and t of the Pima table, against pyCANON's figures and by hand."""

from __future__ import annotations

import copy
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import demo
from sfumato.release import OWNER_ONLY

AGE = ("Age",)
DECADE = ("AgeDecade",)
BOTH = ("AgeDecade", "Pregnancies")


@pytest.fixture(scope="module")
def pima() -> pd.DataFrame:
    with demo.project_file() as path:
        table = pd.read_csv(path.parent / "diabetes.csv")
    table["AgeDecade"] = table["Age"] // 10
    table["BMIGroup"] = (table["BMI"] // 5).astype(int)
    table["Ill"] = table["Outcome"].map({0: "no", 1: "yes"})
    return table


# pyCANON 1.3.6: anonymity.k_anonymity, l_diversity, t_closeness on the same columns.
@pytest.mark.parametrize(
    ("names", "k", "l", "ordered", "equal"),
    [
        (AGE, 1, 1, 0.29609375, 0.6510416666666667),
        (BOTH, 1, 1, 0.29609375, 0.6510416666666667),
        (DECADE, 1, 1, 0.14609375, 0.34895833333333337),
    ],
)
def test_pima_is_as_pycanon_finds_it(pima, names, k, l, ordered, equal) -> None:
    """All three measures agree with the reference implementation."""
    assert sf.k_anonymity(pima, names).k == k
    assert sf.l_diversity(pima, names, "Outcome").distinct == l
    by_number = sf.t_closeness(pima, names, "BMIGroup")
    by_text = sf.t_closeness(pima, names, "Ill")
    assert (by_number.distance, by_text.distance) == ("ordered", "equal")
    assert by_number.t == pytest.approx(ordered)
    assert by_text.t == pytest.approx(equal)


def test_bins_coarsen_numbers(pima) -> None:
    """A width of 10 years is the column of decades."""
    assert sf.k_anonymity(pima, AGE, bins={"Age": 10}) == sf.KAnonymity(
        *(getattr(sf.k_anonymity(pima, DECADE), f) for f in ("k", "rows", "classes")),
        sf.k_anonymity(pima, DECADE).unique,
        AGE,
    )


def test_pima_has_k_of_one_on_decade_and_pregnancies(pima) -> None:
    """ε = 0.6 is no k = 3: this table has k = 1, whatever is released from it."""
    found = sf.k_anonymity(pima, ["Age", "Pregnancies"], bins={"Age": 10})

    assert found.k == 1
    assert found.unique > 0
    assert "say nothing about ε" in str(found)
    assert "OWNER" in str(found)


def test_by_hand() -> None:
    """Three small classes, counted on paper."""
    table = {"q": ["a", "a", "a", "b", "b", "c"], "s": ["x", "x", "y", "x", "y", "y"]}

    assert sf.k_anonymity(table, "q") == sf.KAnonymity(1, 6, 3, 1, ("q",))
    assert sf.l_diversity(table, "q", "s").distinct == 1
    assert sf.l_diversity(table, "q", "s").entropy == pytest.approx(1)
    assert sf.t_closeness(table, "q", "s").t == pytest.approx(0.5)


def test_missing_cells_form_a_class_of_their_own() -> None:
    """None and NaN are one value, unlike any other."""
    found = sf.k_anonymity({"q": [None, float("nan"), 1.0, 1.0]}, ["q"])

    assert (found.k, found.classes) == (2, 2)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_every_table_library_gives_the_same(kind) -> None:
    """Data frames, Arrow tables and mappings are alike."""
    table = kind({"q": [1, 1, 2], "s": ["x", "y", "x"]})

    assert sf.k_anonymity(table, ["q"]).k == 1
    assert sf.l_diversity(table, ["q"], "s").distinct == 1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: sf.k_anonymity({"q": [1]}, []), "no quasi-identifier"),
        (lambda: sf.k_anonymity({"q": [1]}, ["Q2"]), "no column 'Q2'"),
        (lambda: sf.k_anonymity({"q": []}, ["q"]), "no rows"),
        (lambda: sf.k_anonymity({"q": [1], "r": [1, 2]}, ["q"]), "differ in length"),
        (lambda: sf.k_anonymity([1, 2], ["q"]), "is no table"),
        (lambda: sf.k_anonymity({"q": ["a"]}, ["q"], bins={"q": 2}), "cut into bins"),
        (lambda: sf.k_anonymity({"q": [1]}, ["q"], bins={"q": 0}), "cut into bins"),
        (lambda: sf.k_anonymity({"q": [1]}, ["q"], bins={"r": 1}), "no column 'r'"),
        (lambda: sf.t_closeness({"q": [1]}, ["q"], "s"), "no column 's'"),
    ],
)
def test_bad_input_is_refused(call, text) -> None:
    """Each wrong argument gets one clear error."""
    with pytest.raises(sf.ArgumentError, match=text):
        call()


def test_it_prints_no_value_and_travels_nowhere() -> None:
    """At the end of a notebook's cell stands the mark; a cache or a process gets nothing."""
    table = {"q": [1] * 777, "s": [0, 1, 2] * 259}
    found = sf.k_anonymity(table, "q"), sf.l_diversity(table, "q", "s"), sf.t_closeness(table, "q", "s")  # fmt: skip

    for one in found:
        assert repr(one) == f"<{type(one).__name__}: {OWNER_ONLY}>"
        assert str(one).startswith(OWNER_ONLY)
        with pytest.raises(TypeError, match="owner's eyes"):
            pickle.dumps(one)
        with pytest.raises(TypeError, match="owner's eyes"):
            copy.copy(one)
