"""Unknown keys as an outcome: which are shown of a made-up table and of its neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sfumato.account import Epsilon, epsilon_at
from sfumato.audit.black_box import Finding, compare_draws
from sfumato.audit.hostile import Row, Table, hostile_rows
from sfumato.audit.laws import LawFit, fits
from sfumato.audit.outcome import Draws, read
from sfumato.audit.sensitivity import World
from sfumato.declare.schema import Boolean, Category, Key, Schema, Text
from sfumato.declare.unit import PrivacyUnit, Rows, Unit
from sfumato.engine import Exact, Integers, Keyed
from sfumato.gate import difference_for_audit, shown_for_audit
from sfumato.plan import Group, Plan
from sfumato.secret import Secret

__all__ = ["keys_found", "threshold_laws"]

_ROWS = 24  # made-up rows that are tried for one that counts
_SURE = 1 << 40  # rows of a key that every threshold shows


def threshold_laws(plan: Plan, draws: int, *, risk: float) -> Iterator[LawFit]:
    """Test the noise of a plan with unknown keys, that of its threshold first.

    One made-up key has so many rows that it is always shown; all else is zero.

    Args:
        plan: The question.
        draws: How often its noise is drawn.
        risk: Rate of false alarms of each step.
    """
    part, group = plan.selecting or 0, _made_up(plan)
    several = 1 + (plan.query.other is not None)
    integers = tuple((0,) * (p.cells * several) for p in plan.parts)
    counts = (_SURE, *integers[part][1:])
    held = Keyed((group,), (*integers[:part], counts, *integers[part + 1 :]))
    sealed: Secret[Exact] = Secret(held)
    drawn: list[Integers] = []
    for made, noisy in shown_for_audit(plan, sealed, draws):
        shown = group in made.groups
        count = (noisy[part][0] - _SURE,) if shown else (-_SURE,)
        drawn.append((*noisy[:part], count, *noisy[part + 1 :]))
    yield from fits(plan, drawn, risk=risk)


def _made_up(plan: Plan) -> Group:
    """Return one combination of keys."""
    found: list[Key] = []
    for _, column in plan.grouping.columns:
        match column:
            case Text():
                found.append("a")
            case Category() | Boolean():
                found.append(column.values[0])
    return tuple(found)


def keys_found(
    plan: Plan, draws: int, *, delta: str, confidence: float
) -> Finding | None:
    """Certify how well the shown keys and their counts tell neighbouring tables apart.

    Tried are a key of one row against the table without it, and a key with as many rows
    as the threshold against one row less: there a row decides most often whether it is
    shown. The worse finding is returned; none where no made-up row counts, because the
    question's filter drops them all.

    Args:
        plan: The question.
        draws: Releases drawn of each table.
        delta: The δ at which a loss ρ is compared, beside that of the threshold.
        confidence: 1 less the chance that a sound release is accused.
    """
    threshold = plan.threshold
    if threshold is None:
        return None
    plan = _roomy(plan, threshold.least)
    cost = threshold.cost
    claimed, failing = float(cost.value), float(cost.delta)
    if not isinstance(cost, Epsilon):
        told = epsilon_at(type(cost).from_units(cost.units), delta)
        claimed = float(str(told)) if told is not None else float("inf")
        failing += float(delta)
    with World(plan.table) as world:
        row = _counting(plan, world)
        if row is None:
            return None
        pairs = [_tables(plan, row, n) for n in (1, threshold.least)]
        found = [
            compare_draws(
                *(_shown(plan, world.exact(plan, rows), draws) for rows in pair),
                claimed=claimed,
                delta=failing,
                confidence=1 - (1 - confidence) / 2,
            )
            for pair in pairs
        ]
    worst = max(found, key=lambda f: f.lower)
    return replace(worst, confidence=confidence)


def _roomy(plan: Plan, least: int) -> Plan:
    """Return the plan for a table in which a key can have as many rows as are needed."""
    unit = plan.schema.unit
    if unit.size is None:
        return plan
    size = max(unit.size, least)
    roomy: PrivacyUnit = Rows(neighbours=unit.neighbours, size=size)
    if isinstance(unit, Unit):
        roomy = Unit(
            unit.column, max_rows=unit.max_rows, max_groups=unit.max_groups,
            neighbours=unit.neighbours, size=size, missing=unit.missing,
        )  # fmt: skip
    return replace(plan, schema=Schema(dict(plan.schema.columns), unit=roomy))


def _counting(plan: Plan, world: World) -> Row | None:
    """Return a made-up row that is counted for some key."""
    size, part = plan.schema.unit.size or 1, plan.selecting or 0
    for row in hostile_rows(plan.table, plan.query, _ROWS):
        with_key, without = _tables(plan, row, size)
        moved = difference_for_audit(
            plan, world.exact(plan, with_key), world.exact(plan, without)
        )
        if any(moved[part][: plan.parts[part].cells]):
            return row
    return None


def _tables(plan: Plan, row: Row, rows: int) -> tuple[Table, Table]:
    """Return a table where a key has so many rows, and its neighbour with one less."""
    unit = plan.schema.unit
    texts = [n for n, c in plan.grouping.columns if isinstance(c, Text)]
    nowhere = {**row, **dict.fromkeys(texts)}
    rest = (unit.size or rows) - rows
    before = [row] * (rows - 1) + [nowhere] * rest
    tables = [*before, row], before + [nowhere] * (unit.size is not None)
    if isinstance(unit, Unit):  # each row is a person's only one
        own = unit.column
        return (
            [{**r, own: i} for i, r in enumerate(tables[0])],
            [{**r, own: i} for i, r in enumerate(tables[1])],
        )
    return tables


def _shown(plan: Plan, exact: Secret[Exact], draws: int) -> Draws:
    """Return what releases show: keys, as labels, and their noisy counts."""
    part = plan.selecting or 0
    return Draws.of(
        [
            read(dict(zip(map(str, made.groups), noisy[part], strict=False)))
            for made, noisy in shown_for_audit(plan, exact, draws)
        ]
    )
