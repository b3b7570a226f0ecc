"""Faults of joins, unions and figures per person: the oracle finds each for certain.

They are planted before tables that show them: three people at the ends of the range,
with one row and with many, and rows of nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, TypeAlias
from unittest.mock import patch

from sfumato.account import Loss
from sfumato.amount import Amount
from sfumato.audit.sensitivity import Change, World, compare
from sfumato.declare import feature, lookup
from sfumato.declare import query as ask
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query, Statistic
from sfumato.declare.relation import Base, Joined, Looked, Part, PerPerson, United
from sfumato.declare.schema import Category, Integer, Known, Schema
from sfumato.declare.unit import Unit
from sfumato.engine import relate as rendered
from sfumato.engine.feature import Figures
from sfumato.plan import make_plan, matched
from sfumato.plan import relate as planned
from sfumato.testing.faults.fault import Caught, Fault

__all__ = [
    "FIGURES",
    "PEOPLE",
    "PLANTED",
    "REPLACED",
    "ROWS",
    "SITES",
    "faults",
    "largest",
]

Swap: TypeAlias = "Callable[[Any, str, Any], object]"
Asked: TypeAlias = "tuple[Base, Statistic, Schema]"

ROWS: Schema = Schema({"x": Integer(0, 7), "g": Category(["a", "b", "c"])})
PEOPLE = Schema(dict(ROWS.columns), unit=Unit("who", max_rows=2, max_groups=1))
REPLACED = Schema(
    dict(ROWS.columns),
    unit=Unit("who", max_rows=2, max_groups=1, neighbours="replace_one", size=3),
)
_ADDED: tuple[tuple[str, Known], ...] = (
    ("v", Integer(0, 7)),
    ("h", Category(["p", "q"])),
)
SITES = Lookup("t", ("k",), _ADDED, ((("a",), (7.0, 0)), (("b",), (0.0, 1))))
FIGURES = (("most", feature.max("x")), ("n", feature.count(most=3)))
_TABLE = [
    {"who": who, "x": x, "g": g}
    for who, several in {
        1: [(7, "a")] * 3,
        2: [(0, "b"), (0, "c"), (0, "a")],
        3: [(7, "b"), (0, "c")],
        None: [(7, "a"), (0, "b")],
    }.items()
    for x, g in several
]
_POOL = ([{"x": 7, "g": "a"}] * 3, [{"x": 0, "g": "b"}], [{"x": None, "g": "c"}])
"""Who may come where a person is replaced."""
_TABLES = (_TABLE, _TABLE[:6], _TABLE[3:], _TABLE[2:4], _TABLE[:1], _TABLE[-3:])


def largest(
    base: Base, statistic: Statistic, schema: Schema, loss: Amount | Loss = "1"
) -> list[Change]:
    """Return the largest changes over all units of some tables that show much."""
    plan = make_plan(Query().of(base).select(statistic), schema, loss)
    with World(plan.table) as world:
        return [c for rows in _TABLES for c in compare(plan, rows, _POOL, world.exact)]


def public_keys_not_checked(swap: Swap) -> None:
    """A key stands twice in a public table, and a row counts twice."""
    swap(lookup, "check_keys", lambda *_: None)
    swap(matched, "check_keys", lambda *_: None)


def union_of_stability_one(swap: Swap) -> None:
    """A person with a row in each of two tables is protected as one row."""
    swap(planned, "stability", lambda base: 1)


def pairs_across_people(swap: Swap) -> None:
    """A join in which rows of all people meet."""
    joined = rendered._Maker._joined

    def crossed(self: Any, base: Joined) -> Any:
        found = joined(self, base)
        return replace(found, sql=found.sql.replace("ON l.k = r.u", "ON TRUE"))

    swap(rendered._Maker, "_joined", crossed)


def a_person_in_many_rows(swap: Swap) -> None:
    """Figures about a person are grouped by more than the person."""
    select = Figures.select
    swap(Figures, "select", lambda self, rows: select(self, rows) + ", x0")


def last_row_of_everybody(swap: Swap) -> None:
    """A person's last row is looked for among everybody's."""
    swap(Figures, "_end", lambda self, i, one: f"MAX(o{i}) OVER () AS f{i}")


def many_rows_taken_for_one(swap: Swap) -> None:
    """A person's rows are taken for one row of hers, though no node made them one."""
    swap(planned, "is_one_row", lambda base: True)


def replaced_people_only_leave(swap: Swap) -> None:
    """Where people are replaced, those of a join are protected as if they only left."""

    def left(unit: Unit, rows: int, groups: int, missing: tuple[str, ...]) -> Unit:
        return Unit(unit.column, max_rows=rows, max_groups=groups, missing=missing)

    swap(planned, "_bounded", left)


def _twice() -> Asked:
    double = ((("a",), (7.0, 0)), (("a",), (7.0, 0)))
    return Looked(Part(), ("g",), Lookup("t", ("k",), _ADDED, double)), ask.count("v"), ROWS  # fmt: skip


_LAST = (("end", feature.last("x", by="x")),)
_BOTH = United((Part(), Part()))
PLANTED: tuple[tuple[Callable[[Swap], None], Callable[[], Asked]], ...] = (
    (public_keys_not_checked, _twice),
    (union_of_stability_one, lambda: (_BOTH, ask.sum("x"), ROWS)),
    (
        pairs_across_people,
        lambda: (Joined(Part(), Part(), "o_", 4, 1), ask.sum("o_x"), PEOPLE),
    ),
    (a_person_in_many_rows, lambda: (PerPerson(Part(), FIGURES), ask.count(), PEOPLE)),
    (last_row_of_everybody, lambda: (PerPerson(Part(), _LAST), ask.mean("end"), PEOPLE)),
    (many_rows_taken_for_one, lambda: (_BOTH, ask.count(), PEOPLE)),
    (
        replaced_people_only_leave,
        lambda: (Joined(Part(), Part(), "o_", 3, 1), ask.mean("o_x"), REPLACED),
    ),
)  # fmt: skip


def faults() -> list[Fault]:
    """Return the faults, each with its hunt."""
    return [
        Fault(
            plant.__name__.replace("_", " "),
            str(plant.__doc__),
            "audit.sensitivity",
            lambda plant=plant, asked=asked: _hunt(plant, asked),  # type: ignore[misc]
        )
        for plant, asked in PLANTED
    ]


def _hunt(plant: Callable[[Swap], None], asked: Callable[[], Asked]) -> Caught:
    with ExitStack() as stack:
        plant(lambda *where: stack.enter_context(patch.object(*where)))
        changes = largest(*asked())
    return Caught(not all(c.holds for c in changes), f"{len(_TABLES)} tables")
