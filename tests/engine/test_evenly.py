"""Even bins are counted off by one division, and only where that is exact."""

from __future__ import annotations

from bisect import bisect_right
from math import floor, inf, nextafter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine.evenly import even_width
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.plan import make_plan

STEPS = st.sampled_from([0.1, 0.25, 1 / 3, 0.78125, 1.0, 3.7, 1e-5, 1e20])


@given(st.integers(8, 60), STEPS, st.floats(-1e6, 1e6), st.floats(0, 1))
def test_where_it_answers_it_is_the_edges(count, step, first, share) -> None:
    """For any double between the edges, division and search give the same bin."""
    edges = tuple(first + k * step for k in range(count + 1))
    if any(not a < b for a, b in zip(edges, edges[1:])):
        return
    width = even_width(edges)
    if width is None:
        return
    near = [
        e for edge in edges for e in (edge, nextafter(edge, -inf), nextafter(edge, inf))
    ]
    for x in [*near, first + share * (edges[-1] - first)]:
        if edges[0] <= x < edges[-1]:
            assert floor((x - edges[0]) / width) == bisect_right(edges, x) - 1


def test_uneven_or_inexact_edges_are_searched() -> None:
    """One edge moved by one bit is noticed."""
    edges = [k * 0.5 for k in range(257)]

    assert even_width(tuple(edges)) == 0.5
    for k in (1, 100, 256):
        moved = list(edges)
        moved[k] = nextafter(moved[k], inf)
        assert even_width(tuple(moved)) is None
    assert even_width(tuple(k * 0.1 for k in range(257))) is None


@pytest.mark.parametrize("edges", [np.linspace(0, 200, 257), np.arange(-8, 9, 0.5)])
def test_the_engine_agrees_with_the_reference(edges) -> None:
    """On edges, their neighbours, far outside, infinities and missing cells."""
    near = [x for e in edges for x in (e, np.nextafter(e, -9e9), np.nextafter(e, 9e9))]
    cells = [*near, -1e300, 1e300, np.inf, -np.inf, np.nan, 5e-324, -5e-324]
    schema = sf.Schema({"x": sf.Real(-1e40, 1e40, step=1e22)})
    plan = make_plan(sf.Query().select(sf.histogram("x", list(edges))), schema, 1)
    table = pd.DataFrame({"x": cells})

    with open_engine(sf.Dataset(table, schema=schema)) as engine:
        found = engine.run(plan).unseal()

    assert found == ReferenceEngine([{"x": c} for c in cells]).run(plan).unseal()
    assert sum(found[0]) > len(edges)
