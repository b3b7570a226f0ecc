"""Faults reported of other systems about joins: named for their cases."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.declare.query import Query, count
from sfumato.declare.relation import Joined, Other, Part
from sfumato.engine.load import open_engine
from sfumato.plan import make_plan

WHO = {"max_rows": 3, "max_groups": 3}
ACTORS = sf.Schema({"sex": sf.Category(["M", "F"])}, unit=sf.Unit("actor", **WHO))
ROLES = sf.Schema({"part": sf.Category(["a", "b", "c"])}, unit=sf.Unit("who", **WHO))
CAST = [(1, "M"), (2, "F"), (3, "F")]
PLAYED = [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (3, "b"), (9, "a"), (None, "b")]


def theatre(actors, roles):
    """A session of two private tables about the same people."""
    first = pd.DataFrame(actors, columns=["actor", "sex"])
    second = pd.DataFrame(roles, columns=["who", "part"])
    data = sf.Dataset(
        first,
        schema=ACTORS,
        name="actors",
        tables={"roles": sf.Dataset(second, schema=ROLES)},
    )
    return sf.Session(data, budget="100000"), first, second


def plain(first, second):
    """What pandas says: pairs of rows with one key, which is not missing, by sex."""
    pairs = first.dropna().merge(second.dropna(), left_on="actor", right_on="who")
    return [int((pairs["sex"] == sex).sum()) for sex in ("M", "F")]


def test_bc089_join_then_group():
    """Only matched rows count: M 3, F 2; missing keys match nothing."""
    session, first, second = theatre(CAST, PLAYED)
    text = "SELECT sex, COUNT(*) FROM actors JOIN roles ON actors.actor = roles.who GROUP BY sex"

    found = session.sql(text).release(epsilon="500")

    assert [round(f.estimate) for f in found] == [3, 2] == plain(first, second)


@pytest.mark.parametrize("seed", range(30))
def test_bc089_as_a_plain_join_within_the_bounds(seed):
    """Random fixtures of people within the cap, as pandas joins and groups them."""
    draw = np.random.default_rng(seed)
    actors = [(i, "MF"[draw.integers(2)]) for i in range(1, draw.integers(2, 9))]
    roles = [
        (None if draw.integers(9) == 0 else int(i), "abc"[draw.integers(3)])
        for i in range(1, 11)
        for _ in range(draw.integers(0, 4))
    ]
    session, first, second = theatre(actors, roles)

    ask = session.query().join("roles").group_by("sex").select(sf.count())
    found = ask.release(epsilon="500")  # so that rounding recovers every count

    assert [round(f.estimate) for f in found] == plain(first, second)


def test_bc089_many_to_many_keeps_the_cap():
    """A person with 9 pairs counts for 3, and the sensitivity is 3, not 9."""
    session, *_ = theatre([(1, "M")] * 3, [(1, "a")] * 3)
    plan = session.query().join("roles").select(sf.count()).plan("500")

    (step,) = plan.plan.steps

    assert step.mechanism.sensitivity == 3 << 20  # in units of 2^-20 rows
    assert round(plan.release()["count"].estimate) == 3


KEYS = {
    "float": ([1.0, math.nan, 2.0], [1.0, math.nan, math.nan], pa.float64()),
    "text": (["1", None, "2"], ["1", None, None], pa.string()),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("nullable", list(product([True, False], repeat=2)), ids=str)
def test_bc091_join_nan_key(kind, nullable):
    """Missing keys match nothing, whether or not a side says it may have them: 1 pair."""
    one, other, stored = KEYS[kind]
    schema = sf.Schema({"x": sf.Integer(0, 9)}, unit=sf.Unit("id", max_rows=9, max_groups=1))  # fmt: skip
    sides = []
    for ids, may in zip((one, other), nullable, strict=True):
        held = ids if may else [i if i == i and i is not None else "" if kind == "text" else math.nan for i in ids]  # fmt: skip
        fields = [pa.field("id", stored, nullable=may), pa.field("x", pa.int64())]
        arrays = [pa.array(held, stored, from_pandas=False), pa.array([1, 2, 3])]
        sides.append(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))
    data = sf.Dataset(sides[0], schema=schema, name="a", tables={"b": sf.Dataset(sides[1], schema=schema)})  # fmt: skip
    query = Query().of(Joined(Part(), Part(Other("b", schema)), "b_")).select(count())

    with open_engine(data) as engine:
        found = engine.run(make_plan(query, schema, 1)).unseal()

    assert found == ((1 << 20,),)


@pytest.mark.parametrize(("on", "said", "hint"), [
    (None, "no column 'code' to be compared with the key of 'sites'", "key 'code': on="),
    ("sit", "no column 'sit' to be compared", 'on="site"'),
    (3, "got 3", 'on="site"'),
])  # fmt: skip
def test_a_join_that_finds_no_key_says_how_to_name_it(on, said, hint):
    """The key of a public table is often called otherwise in the private one."""
    columns = {"region": sf.Category(["n", "s"])}
    rows = [{"code": "a", "region": "n"}]
    sites = sf.PublicTable(rows, key="code", columns=columns, name="sites")
    schema = sf.Schema({"site": sf.Category(["a", "b"])})
    data = sf.Dataset([{"site": "a"}], schema=schema, name="t", tables={"sites": sites})
    session = sf.Session(data, budget="1")

    with pytest.raises(sf.SfumatoError) as refused:
        session.query().join("sites", on=on).select(sf.count()).plan("0.1")

    assert said in refused.value.fact
    assert hint in refused.value.hint
    assert session.spent == sf.Epsilon.from_units(0)
