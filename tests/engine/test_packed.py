"""Counting by one small integer gives the integers of the specification."""

from __future__ import annotations

import adversary as a
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine import packed
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.engine.statement import statement
from sfumato.plan import make_plan

MAYBE_FLOAT = st.one_of(st.none(), a.FLOATS)
MAYBE_TEXT = st.one_of(st.none(), a.TEXTS)
KEYS = [
    "",
    "O'Brien",
    "e\u0301",
    "\u00e9",
    "g",
    "G",
    "7",
    "g ",
    '"',
    "\\",
    "男",
    "n\nn",
]
KEYS += [f"k{i}" for i in range(120)]


@settings(max_examples=a.times(10), deadline=None)
@given(a.plans(), a.tables(MAYBE_FLOAT, MAYBE_TEXT, st.booleans()))
def test_any_plan_agrees_with_the_reference(plan, rows) -> None:
    """On the adversarial table, packed however few the cells are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "_FEWEST", 0)
        assert a.answer(plan, rows) == a.expected(plan, rows)


def asked(statistics, keys=KEYS, **options):
    """Return a plan by keys, its schema, and rows of all keys, other texts and edges."""
    schema = sf.Schema({"g": sf.Category(keys), "x": sf.Real(-5, 300, step="0.5")})
    plan = make_plan(sf.Query().group_by("g", **options).select(*statistics), schema, 1)
    cells = [-1e300, -5, 0, 0.25, 255.5, 256, 257, 1e300, float("nan"), None]
    names = [*keys, "GG", "k", None, "7.0", "7.00"]
    rows = [{"g": g, "x": x} for i, g in enumerate(names) for x in cells[i % 3 :]]
    return plan, schema, rows


@pytest.mark.parametrize("edges", [range(257), [0, 1, 10, 256], range(-5, 301, 5)])
def test_a_histogram_by_many_keys_is_packed(edges) -> None:
    """Texts of every kind, cells outside the edges and missing ones; no two groups meet."""
    plan, schema, rows = asked([sf.histogram("x", list(edges)), sf.variance("x")])
    expected = ReferenceEngine(rows).run(plan).unseal()

    with open_engine(sf.Dataset(pd.DataFrame(rows), schema=schema)) as engine:
        assert " AS cell FROM" in statement(plan, engine.layout, engine.dialect).sql
        assert engine.run(plan).unseal() == expected
        assert sum(map(sum, expected[:1])) > 0


def test_whole_number_keys_and_listed_ones_agree() -> None:
    """Keys stored as places, and a part of the declared keys."""
    keys = list(range(120))
    plan, schema, rows = asked([sf.histogram("x", [0, 10, 300])], keys=keys)
    frame = pd.DataFrame(rows).astype({"g": "category"})
    expected = ReferenceEngine(rows).run(plan).unseal()
    assert open_engine(sf.Dataset(frame, schema=schema)).run(plan).unseal() == expected

    plan, schema, rows = asked([sf.histogram("x", [*range(100)])], keys=KEYS[:9])
    frame = pd.DataFrame(rows)
    expected = ReferenceEngine(rows).run(plan).unseal()
    assert open_engine(sf.Dataset(frame, schema=schema)).run(plan).unseal() == expected


def test_what_has_other_groups_or_too_many_cells_is_not_packed() -> None:
    """The number has sixteen bits, and each row without a key a place of its own."""
    wide = sf.histogram("x", [k / 2 for k in range(513)])
    engine = open_engine(sf.Dataset(pd.DataFrame(asked([wide])[2]), schema=asked([wide])[1]))  # fmt: skip
    for options in ({"other": "rest"}, {}):
        plan = asked([wide], **options)[0]
        assert " AS cell FROM" not in statement(plan, engine.layout, engine.dialect).sql
