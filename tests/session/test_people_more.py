"""Modes, tables and private bounds of people with many rows."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.testing import seeded

UNIT = sf.Unit("who", max_rows=2, max_groups=1)


def session(columns, rows, budget="1000"):
    """Open a table of people."""
    schema = sf.Schema(columns, unit=UNIT)
    return sf.Session(sf.Dataset(rows, schema=schema, name="t"), budget=budget)


def test_a_mode_counts_people_and_not_rows() -> None:
    """One person with a thousand rows does not outvote three hundred."""
    rows = [{"who": i, "g": "many people"} for i in range(300)]
    rows += [{"who": -1, "g": "one person"}] * 1000
    opened = session({"g": sf.Category(["one person", "many people"])}, rows)

    release = opened.query().select(sf.mode("g")).release("2")

    assert release["mode_g"].bin == "many people"
    assert -60 < release["mode_g"].low < 0  # in rows, not in their fractions
    expected = opened.query().select(sf.mode("g")).plan("2").expected()[0]
    assert expected.error == pytest.approx(-release["mode_g"].low, rel=0.01)


def test_a_table_of_two_columns_counts_at_most_two_rows_of_each() -> None:
    """Three equal rows of 100 people are 200."""
    rows = [{"who": i, "g": "ab"[i % 2], "h": i % 4 < 2} for i in range(100)] * 3
    opened = session({"g": sf.Category(["a", "b"]), "h": sf.Boolean()}, rows)

    release = opened.query().select(sf.crosstab("g", "h")).release("50")

    found = {(f.bin, f.other_bin): f.estimate for f in release}
    assert len(found) == 4
    assert all(abs(count - 50) < 2 for count in found.values())


def test_private_bounds_are_found_of_people() -> None:
    """Both steps are for a person; the counts of ranges are read in rows."""
    column = sf.Real(bounds=sf.private_bounds("0.99", within=(0, 10**6)), step=1)
    rows = [{"who": i % 500, "x": 100 + i % 50} for i in range(2000)]
    opened = session({"x": column}, rows)
    ask = opened.query().select(sf.mean("x"))

    with seeded(5):
        release = ask.release("2")

    low, high = map(
        float, release.question.split("clipped to [")[1].rstrip("]").split(", ")
    )
    assert 60 <= low <= 128 <= high <= 512
    assert abs(release["mean_x"].estimate - 124.5) < 10
    assert str(opened.spent) == "2"
