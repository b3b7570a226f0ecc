"""Every statistic can be asked in a project file, in the same words as in Python."""

import datetime as dt
from decimal import Decimal

import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.errors import DeclarationError, ProjectError
from sfumato.project.load import load
from sfumato.project.statistic import KINDS, StatisticTable

WRITTEN = [
    ({"count": True}, sf.count()),
    ({"count": "x"}, sf.count("x")),
    ({"people": True}, sf.people()),
    ({"people_cut": True}, sf.people_cut()),
    ({"rows_cut": True, "weight": 3}, sf.rows_cut(weight=3)),
    ({"sum": "x", "weight": 2}, sf.sum("x", weight=2)),
    ({"mean": "x", "name": "m"}, sf.mean("x", name="m")),
    ({"variance": "x"}, sf.variance("x")),
    ({"std": "x"}, sf.std("x")),
    ({"proportion": "g", "key": "F"}, sf.proportion("g", "F")),
    ({"median": "x"}, sf.median("x")),
    ({"quantile": "x", "level": Decimal("0.9")}, sf.quantile("x", "0.9")),
    ({"near_minimum": "x"}, sf.near_minimum("x")),
    ({"near_maximum": "x", "level": Decimal("0.95")}, sf.near_maximum("x", "0.95")),
    ({"histogram": "x", "edges": [0, 1, 2]}, sf.histogram("x", [0, 1, 2])),
    ({"histogram": "d", "edges": ["2024-01-01", dt.date(2024, 7, 1)]}, sf.histogram("d", [19723, 19905])),
    ({"ratio": "x", "by": "y"}, sf.ratio("x", "y")),
    ({"covariance": ["x", "y"]}, sf.covariance("x", "y")),
    ({"correlation": ["x", "y", "z"], "name": "r"}, sf.correlation("x", "y", "z", name="r")),
    ({"mode": "x", "edges": [0, 5, 9]}, sf.mode("x", [0, 5, 9])),
    ({"crosstab": "g", "by": "x", "by_edges": [0, 1]}, sf.crosstab("g", "x", other_edges=[0, 1])),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "statistic"), WRITTEN)
def test_an_entry_asks_what_the_builder_asks(entry, statistic):
    """The same declaration, name and weight."""
    assert StatisticTable.model_validate(entry).declared() == statistic


def test_every_kind_is_written_above():
    """A kind that is added to the file is added here."""
    assert {next(k for k in entry if k in KINDS) for entry, _ in WRITTEN} == set(KINDS)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"mean": "x", "level": Decimal("0.5")}, "level goes with quantile"),
        ({"mean": "x", "by": "y"}, "by goes with"),
        ({"ratio": "x", "by": "y", "edges": [0, 1]}, "edges goes with"),
        ({"covariance": ["x"]}, "2 to 30 columns"),
        ({"correlation": ["x", "x"]}, "each named once"),
        ({"ratio": "x"}, "ratio needs a second column"),
        ({"crosstab": "x"}, "crosstab needs a second column"),
        ({"quantile": "x"}, "needs a level"),
        ({"mean": "x", "sum": "x"}, "exactly one"),
        ({}, "exactly one"),
    ],
)
def test_what_does_not_go_together_is_refused(entry, words):
    """A part without its kind, two kinds, a kind without its second column."""
    with pytest.raises((DeclarationError, ValidationError), match=words):
        StatisticTable.model_validate(entry)


def test_the_figures_of_the_headline_are_some_releases_own(tmp_path):
    """A name that nobody asks for is refused with the nearest one."""
    path = tmp_path / "p.toml"
    path.write_text(PROJECT.replace("HEADLINE", "mean_Agee"))
    with pytest.raises(ProjectError, match="no release asks for"):
        load(path)
    path.write_text(PROJECT.replace("HEADLINE", "mean_Age"))

    assert load(path).headline == ("mean_Age",)


PROJECT = """
[data]
source = "t.csv"
name = "t"
[columns.Age]
type = "integer"
lower = 0
upper = 120
[budget]
epsilon = "1"
[[releases]]
name = "one"
epsilon = "0.5"
statistics = [{ mean = "Age" }, { covariance = ["Age", "Age2"] }]
[columns.Age2]
type = "integer"
lower = 0
upper = 120
[output]
headline = ["HEADLINE"]
"""


@pytest.mark.parametrize("edges", [["2024-07-01", "2024-01-01"], ["2024-02-30", "2025-01-01"], [dt.datetime(2024, 1, 1), 20000]])  # fmt: skip
def test_edges_that_are_no_days_in_order_are_refused(edges):
    """As edges that are no numbers in order are: before anything is read."""
    with pytest.raises(DeclarationError):
        sf.histogram("d", edges)
    with pytest.raises((DeclarationError, ValidationError)):
        StatisticTable.model_validate({"histogram": "d", "edges": edges}).declared()
