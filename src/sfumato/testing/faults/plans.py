"""Faults of plans and engines: each is found by the sensitivity oracle, for certain."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias
from unittest.mock import patch

from sfumato.account import ZCDP, Epsilon, KNorm, Loss, Selection
from sfumato.audit.sensitivity import sensitivity as audit
from sfumato.declare import query as ask
from sfumato.declare.query import Query, Statistic
from sfumato.declare.schema import Category, Column, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine import duckdb
from sfumato.engine.dialect import DUCKDB
from sfumato.engine.render import Statement
from sfumato.engine.scan import Scan
from sfumato.engine.terms import Terms
from sfumato.plan import (
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    CountRows,
    Crossed,
    Level,
    allocate,
    reach,
    sensitivity,
    squared_sensitivity,
)
from sfumato.testing.faults.fault import Caught, Fault

__all__ = ["COLUMNS", "PLANTED", "faults", "question"]

Swap: TypeAlias = "Callable[[Any, str, Any], object]"
"""Puts a broken thing in the place of a sound one: of an object, by name."""
Planted: TypeAlias = "tuple[Callable[[Swap], None], Rows, tuple[str, ...], Statistic]"

REPLACE = Rows(neighbours="replace_one", size=2)
COLUMNS: dict[str, Column] = {
    "x": Real("0.5", "2.5", step=1, missing=999),
    "s": Real(-10, 10, step=1, missing=999),
    "wide": Real(0, 2**20, step=1),
    "full": Integer(10, 20, complete=True),
    "g": Category(["a", "b"]),
}  # fmt: skip


def _dialect(swap: Swap, name: str, replacement: str) -> None:
    """Replace a primitive of the dialect."""
    swap(duckdb, "DUCKDB", replace(DUCKDB, **{name: replacement}))  # type: ignore[arg-type]


def bound_off_by_one(swap: Swap) -> None:
    """The width counted in fences instead of steps."""

    def short(aggregate: Any, unit: Any) -> int:
        true = reach(aggregate, unit)
        return true - 1 if isinstance(aggregate, CentredSum) else true

    swap(allocate, "reach", short)


def joint_rows_forgotten(swap: Swap) -> None:
    """Joint noise for one row although a replaced row is two."""
    swap(allocate, "KNorm", lambda bounds, cost, **_: KNorm(bounds, cost, rows=1))


def half_even_rounding(swap: Swap) -> None:
    """Rounding as `round` does it, while the bounds are rounded by floor(y + 1/2)."""
    _dialect(swap, "floor", "round_even(({x}) - 0.5::DOUBLE, 0)")


def square_not_shifted(swap: Swap) -> None:
    """A squared distance kept whole, while its bound is that of the shifted one."""
    _dialect(swap, "shifted", "{x}")


def square_bound_as_if_centred_twice(swap: Swap) -> None:
    """The reach of a centred square halved once more."""

    def half(aggregate: Any, unit: Any) -> int:
        true = reach(aggregate, unit)
        return true // 2 if isinstance(aggregate, CentredSquare) else true

    swap(allocate, "reach", half)


def levels_as_if_a_replaced_row_kept_its_leaf(swap: Swap) -> None:
    """A replaced row leaves one node and enters another; one side forgotten."""

    def narrow(aggregate: Any, unit: Any, **kw: Any) -> int:
        true = sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, Level) else true

    swap(allocate, "sensitivity", narrow)


def product_bound_as_if_floored_twice(swap: Swap) -> None:
    """The reach of a product halved: e lies in 0 to reach, its term in twice that."""

    def half(aggregate: Any, unit: Any) -> int:
        true = reach(aggregate, unit)
        return true // 2 if isinstance(aggregate, CentredProduct) else true

    swap(allocate, "reach", half)


def product_not_moved_above_zero(swap: Swap) -> None:
    """The offset forgotten that keeps a product from below 0."""
    product = Scan.product

    def bare(self: Any, one: Any) -> str:
        return product(self, one).replace(f"CAST('{one.most}' AS BIGINT)", "0")

    swap(Scan, "product", bare)


def choice_as_if_a_replaced_row_moved_one_way(swap: Swap) -> None:
    """A replaced row moves one count up and another down; taken for one way."""
    swap(
        allocate, "_selection",
        lambda one, cost, unit, groups: Selection(1, cost, monotone=True),
    )  # fmt: skip


def pairs_as_if_a_replaced_row_kept_its_pair(swap: Swap) -> None:
    """A replaced row leaves one pair and enters another; one side forgotten."""

    def narrow(aggregate: Any, unit: Any, **kw: Any) -> int:
        true = sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, Crossed) else true

    swap(allocate, "sensitivity", narrow)


def a_pair_counted_in_both_orders(swap: Swap) -> None:
    """A row counted in its pair and in the mirrored one."""
    read = Statement.read

    def twice(self: Any, rows: Any) -> Any:
        totals = read(self, rows)
        for held, counts in totals.bins.items():
            if isinstance(held, Crossed):
                _add_mirrored(counts, held.first.count, held.second.count)
        return totals

    swap(Statement, "read", twice)


def _add_mirrored(counts: list[int], rows: int, columns: int) -> None:
    """Add each pair's count to the pair in the other order, where there is one."""
    for place, count in enumerate(tuple(counts)):
        group, inner = divmod(place, rows * columns)
        i, j = divmod(inner, columns)
        if j < rows and i < columns:
            counts[group * rows * columns + j * columns + i] += count


def share_as_if_only_the_key_counted(swap: Swap) -> None:
    """A replaced row leaves the key and joins another: one side forgotten."""

    def narrow(aggregate: Any, unit: Any, **kw: Any) -> int:
        true = squared_sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, CentredKey) else true

    swap(allocate, "squared_sensitivity", narrow)


def infinity_not_clamped(swap: Swap) -> None:
    """The upper clamp forgotten: infinity reaches the cast, large numbers the sum."""
    clamped = Terms.clamped

    def loose(self: Any, name: str) -> str:
        *arms, last = clamped(self, name).split(" WHEN ")
        test = last.split(" THEN ")[0]
        return f"{' WHEN '.join(arms)} WHEN {test} THEN {test.split(' > ')[0]} END"

    swap(Terms, "clamped", loose)


def missing_summed_but_not_counted(swap: Swap) -> None:
    """A missing cell taken for the upper bound in the sum, and left out of the count."""
    _dialect(swap, "sum_text", "CAST(COALESCE(SUM(COALESCE({x}, 20)), 0) AS VARCHAR)")


def code_forgotten_in_the_sum(swap: Swap) -> None:
    """The missing code known to the count only."""
    render, clamped = Statement._render, Terms.clamped

    def without_code(self: Any, name: str) -> str:
        arms = clamped(self, name).split(" WHEN ")
        return " WHEN ".join(a for a in arms if "999" not in a or "THEN NULL" not in a)

    def counted(self: Any) -> str:
        q = "CASE WHEN q0 < 20 THEN q0 END"  # the code is clamped to the last step
        return render(self).replace("COUNT(q0)", f"COUNT({q})")

    swap(Terms, "clamped", without_code)
    swap(Statement, "_render", counted)


def groups_as_under_add_remove(swap: Swap) -> None:
    """A replaced row leaves one group and enters another; one side forgotten."""

    def narrow(aggregate: Any, unit: Any, **kw: Any) -> int:
        true = sensitivity(aggregate, unit, **kw)
        return 1 if isinstance(aggregate, CountRows) else true

    swap(allocate, "sensitivity", narrow)


def rows_doubled_by_a_join(swap: Swap) -> None:
    """A join with two partners counts each row twice."""
    render = Statement._render
    swap(
        Statement, "_render",
        lambda self: render(self).replace("FROM data", "FROM data, range(2)"),
    )  # fmt: skip


def l2_of_groups_as_of_one(swap: Swap) -> None:
    """The L2 change of a replaced row taken from one cell only."""
    swap(allocate, "squared_sensitivity", lambda aggregate, unit, groups: 1)


PLANTED: tuple[Planted, ...] = (
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
)  # fmt: skip


def question(planted: Planted) -> tuple[Query, Schema]:
    """Return the question in which a fault shows, and its table."""
    _, unit, keys, statistic = planted
    query = ask.Query().group_by(*keys).select(statistic)
    return query, Schema(COLUMNS, unit=unit)


def faults() -> list[Fault]:
    """Return the faults, each with its hunt."""
    return [
        Fault(
            one[0].__name__.replace("_", " "),
            str(one[0].__doc__),
            "audit.sensitivity",
            lambda one=one: _hunt(one),  # type: ignore[misc]
        )
        for one in PLANTED
    ]


def _hunt(planted: Planted) -> Caught:
    """Plant the fault, audit the question in both currencies, and take it out."""
    query, schema = question(planted)
    pairs, violated = 0, False
    with ExitStack() as stack:
        planted[0](lambda *where: stack.enter_context(patch.object(*where)))
        losses: tuple[Loss, ...] = (Epsilon(1), ZCDP(1))
        for tables, loss in product((8, 40), losses):
            found = audit(query, schema, loss=loss, tables=tables, pool=4)
            pairs, violated = pairs + found.pairs, violated or found.violated
            if violated:
                break
    return Caught(violated, f"{pairs} pairs of neighbours")
