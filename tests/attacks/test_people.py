"""A person who tries to count more than her unit says."""

import pytest

from sfumato.account import ZCDP
from sfumato.audit.sensitivity import World, compare
from sfumato.declare import query as ask
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.declare.unit import Unit
from sfumato.plan import make_plan


@pytest.mark.parametrize("loss", [1, ZCDP("0.1")], ids=["epsilon", "rho"])
@pytest.mark.parametrize(("rows", "groups"), [(1, 2), (2, 3)])
def test_many_undeclared_keys_are_one_group_of_others(rows, groups, loss):
    """Attack: a person in many undeclared pairs of keys, all of them told as "rest"."""
    columns = {"g": Category(["a", "b"]), "h": Category(["c", "d"]), "x": Integer(0, 9)}
    schema = Schema(columns, unit=Unit("who", max_rows=rows, max_groups=groups))
    query = ask.Query().group_by("g", "h", other="rest")
    plan = make_plan(
        query.select(ask.count(), ask.sum("x"), ask.people()), schema, loss
    )
    table = [
        {"g": g, "h": h, "x": 9, "who": 1}
        for g in ("a", "zz", "yy", None)
        for h in ("c", "d", "zz", None)
    ]

    for some in (table, table[4:], table[4:6], [r for r in table if r["g"] == "zz"]):
        with World(plan.table) as world:
            for finding in compare(plan, some, (), world.exact):
                assert finding.holds, finding
