"""The oracle can fail: each classical fault, planted one at a time, is found."""

import math
from dataclasses import replace

import pytest

from sfumato.account import ZCDP, Epsilon, KNorm
from sfumato.audit.sensitivity import World, compare
from sfumato.declare import query as ask
from sfumato.declare.schema import Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine import duckdb
from sfumato.engine.render import Statement
from sfumato.engine.scan import Scan
from sfumato.engine.terms import Terms
from sfumato.errors import EngineError
from sfumato.plan import (
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    CountRows,
    Crossed,
    Level,
    allocate,
    bound,
    make_plan,
    sensitivity,
    squared_sensitivity,
)

REPLACE = Rows(neighbours="replace_one", size=2)
COLUMNS = {
    "x": Real("0.5", "2.5", step=1, missing=999),
    "s": Real(-10, 10, step=1, missing=999),
    "wide": Real(0, 2**20, step=1),
    "full": Integer(10, 20, complete=True),
    "g": Category(["a", "b"]),
}  # fmt: skip
CELLS = (-math.inf, 0.5, 1.5, 2.5, 3, 1e308, math.inf, math.nan, None, 999)
ROWS = [
    {"x": c, "s": c, "wide": c, "full": c, "g": "ab"[i % 2]}
    for i, c in enumerate(CELLS)
]


def wrong(monkeypatch, name, replacement):
    """Replace a primitive of the dialect."""
    monkeypatch.setattr(duckdb, "DUCKDB", replace(duckdb.DUCKDB, **{name: replacement}))


def bound_off_by_one(monkeypatch):
    """The width counted in fences instead of steps."""

    def short(aggregate):
        true = bound(aggregate)
        return true - 1 if isinstance(aggregate, CentredSum) else true

    monkeypatch.setattr(allocate, "bound", short)


def joint_rows_forgotten(monkeypatch):
    """Joint noise for one row although a replaced row is two."""
    monkeypatch.setattr(
        allocate, "KNorm", lambda bounds, cost, rows: KNorm(bounds, cost, rows=1)
    )


def half_even_rounding(monkeypatch):
    """Rounding as `round` does it, while the bounds are rounded by floor(y + 1/2)."""
    wrong(monkeypatch, "floor", "round_even(({x}) - 0.5::DOUBLE, 0)")


def square_not_shifted(monkeypatch):
    """A squared distance kept whole, while its bound is that of the shifted one."""
    wrong(monkeypatch, "shifted", "{x}")


def square_bound_as_if_centred_twice(monkeypatch):
    """The reach of a centred square halved once more."""

    def half(aggregate):
        true = bound(aggregate)
        return true // 2 if isinstance(aggregate, CentredSquare) else true

    monkeypatch.setattr(allocate, "bound", half)


def levels_as_if_a_replaced_row_kept_its_leaf(monkeypatch):
    """A replaced row leaves one node and enters another; one side forgotten."""

    def narrow(aggregate, unit, **kw):
        true = sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, Level) else true

    monkeypatch.setattr(allocate, "sensitivity", narrow)


def product_bound_as_if_floored_twice(monkeypatch):
    """The reach of a product halved: e lies in 0 to reach, its term in twice that."""

    def half(aggregate):
        true = bound(aggregate)
        return true // 2 if isinstance(aggregate, CentredProduct) else true

    monkeypatch.setattr(allocate, "bound", half)


def product_not_moved_above_zero(monkeypatch):
    """The offset forgotten that keeps a product from below 0."""
    product = Scan.product

    def bare(self, one):
        return product(self, one).replace(f"CAST('{one.most}' AS BIGINT)", "0")

    monkeypatch.setattr(Scan, "product", bare)


def choice_as_if_a_replaced_row_moved_one_way(monkeypatch):
    """A replaced row moves one count up and another down; taken for one way."""
    monkeypatch.setattr(
        allocate, "_selection",
        lambda one, cost, unit, groups: allocate.make_selection(1, cost, monotone=True),
    )  # fmt: skip


def pairs_as_if_a_replaced_row_kept_its_pair(monkeypatch):
    """A replaced row leaves one pair and enters another; one side forgotten."""

    def narrow(aggregate, unit, **kw):
        true = sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, Crossed) else true

    monkeypatch.setattr(allocate, "sensitivity", narrow)


def a_pair_counted_in_both_orders(monkeypatch):
    """A row counted in its pair and in the mirrored one."""
    add = Statement._add_bin

    def twice(self, totals, group, held, cells, rows):
        add(self, totals, group, held, cells, rows)
        if isinstance(held, Crossed):
            add(self, totals, group, held, cells[::-1], rows)

    monkeypatch.setattr(Statement, "_add_bin", twice)


def share_as_if_only_the_key_counted(monkeypatch):
    """A replaced row leaves the key and joins another: one side forgotten."""

    def narrow(aggregate, unit, **kw):
        true = squared_sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, CentredKey) else true

    monkeypatch.setattr(allocate, "squared_sensitivity", narrow)


def infinity_not_clamped(monkeypatch):
    """The upper clamp forgotten: infinity reaches the cast, large numbers the sum."""
    clamped = Terms.clamped

    def loose(self, name):
        *arms, last = clamped(self, name).split(" WHEN ")
        test = last.split(" THEN ")[0]
        return f"{' WHEN '.join(arms)} WHEN {test} THEN {test.split(' > ')[0]} END"

    monkeypatch.setattr(Terms, "clamped", loose)


def missing_summed_but_not_counted(monkeypatch):
    """A missing cell taken for the upper bound in the sum, and left out of the count."""
    wrong(
        monkeypatch, "sum_text", "CAST(COALESCE(SUM(COALESCE({x}, 20)), 0) AS VARCHAR)"
    )


def code_forgotten_in_the_sum(monkeypatch):
    """The missing code known to the count only."""
    render, clamped = Statement._render, Terms.clamped

    def without_code(self, name):
        arms = clamped(self, name).split(" WHEN ")
        return " WHEN ".join(a for a in arms if "999" not in a or "THEN NULL" not in a)

    def counted(self):
        q = "CASE WHEN q0 < 20 THEN q0 END"  # the code is clamped to the last step
        return render(self).replace("COUNT(q0)", f"COUNT({q})")

    monkeypatch.setattr(Terms, "clamped", without_code)
    monkeypatch.setattr(Statement, "_render", counted)


def groups_as_under_add_remove(monkeypatch):
    """A replaced row leaves one group and enters another; one side forgotten."""

    def narrow(aggregate, unit, **kw):
        true = sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, CountRows) else true

    monkeypatch.setattr(allocate, "sensitivity", narrow)


def rows_doubled_by_a_join(monkeypatch):
    """A join with two partners counts each row twice."""
    render = Statement._render
    monkeypatch.setattr(
        Statement, "_render",
        lambda self: render(self).replace("FROM data", "FROM data, range(2)"),
    )  # fmt: skip


def l2_of_groups_as_of_one(monkeypatch):
    """The L2 change of a replaced row taken from one cell only."""
    monkeypatch.setattr(
        allocate, "squared_sensitivity", lambda aggregate, unit, groups: 1
    )


FAULTS = [
    (bound_off_by_one, Rows(), (), ask.mean("x")),
    (joint_rows_forgotten, REPLACE, ("g",), ask.mean("s")),
    (half_even_rounding, Rows(), (), ask.mean("x")),
    (square_not_shifted, Rows(), (), ask.variance("wide")),
    (square_bound_as_if_centred_twice, REPLACE, ("g",), ask.std("s")),
    (levels_as_if_a_replaced_row_kept_its_leaf, REPLACE, (), ask.median("wide")),
    (product_bound_as_if_floored_twice, Rows(), ("g",), ask.covariance("s", "wide")),
    (product_not_moved_above_zero, Rows(), (), ask.covariance("s", "x")),
    (choice_as_if_a_replaced_row_moved_one_way, REPLACE, (), ask.mode("g")),
    (pairs_as_if_a_replaced_row_kept_its_pair, REPLACE, (),
     ask.crosstab("x", "g", edges=[0, 1, 3])),
    (a_pair_counted_in_both_orders, Rows(), (),
     ask.crosstab("x", "s", edges=[-1, 1, 9], other_edges=[-5, 1, 9])),
    (share_as_if_only_the_key_counted, REPLACE, (), ask.proportion("g", "a")),
    (infinity_not_clamped, Rows(), (), ask.sum("s")),
    (missing_summed_but_not_counted, Rows(), (), ask.mean("s")),
    (code_forgotten_in_the_sum, Rows(), (), ask.sum("s")),
    (groups_as_under_add_remove, REPLACE, ("g",), ask.count()),
    (rows_doubled_by_a_join, Rows(), ("g",), ask.count()),
    (l2_of_groups_as_of_one, REPLACE, ("g",), ask.count()),
]  # fmt: skip


def all_claims_hold(unit, keys, statistic):
    """Audit one question on every pair of adversarial rows; an error is a breach."""
    schema = Schema(COLUMNS, unit=unit)
    query = ask.Query().group_by(*keys).select(statistic)
    return all(_holds(make_plan(query, schema, loss)) for loss in (Epsilon(1), ZCDP(1)))


def _holds(plan):
    with World(plan.table) as world:
        try:
            return all(
                finding.holds
                for row in ROWS
                for finding in compare(plan, [row, ROWS[2]], ROWS, world.exact)
            )
        except EngineError:
            return False


@pytest.mark.parametrize(("fault", "unit", "keys", "statistic"), FAULTS, ids=lambda v: getattr(v, "__name__", ""))  # fmt: skip
def test_a_planted_fault_is_found(monkeypatch, fault, unit, keys, statistic):
    """The question passes as it is, and fails with the fault."""
    assert all_claims_hold(unit, keys, statistic)

    fault(monkeypatch)

    assert not all_claims_hold(unit, keys, statistic)
