"""Audit a whole release: its sensitivities, its noise, its ε as a black box, its budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np

from sfumato.account import GDP, Epsilon, Loss, epsilon_at, loss_text
from sfumato.audit.attacks.asking import budget_race
from sfumato.audit.black_box import Finding, compare_draws
from sfumato.audit.hostile import Table, hostile_rows
from sfumato.audit.laws import LawFit, fits
from sfumato.audit.outcome import Draws
from sfumato.audit.sensitivity import (
    World,
    every_row,
    made_tables,
    neighbours,
    others_of,
    sensitivity,
    share,
    small_schema,
)
from sfumato.audit.unknown import keys_found, threshold_laws
from sfumato.declare.dataset import Dataset
from sfumato.declare.query import Query
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine import Exact, Integers
from sfumato.gate import difference_for_audit, draws_for_audit
from sfumato.plan import Plan, make_plan
from sfumato.plan.relate import others_in
from sfumato.release.audited import Check, Kind
from sfumato.secret import Secret
from sfumato.session import Session
from sfumato.words import N_

__all__ = ["STAGES", "ReleaseAudit", "race"]

STAGES: tuple[Kind, ...] = ("sensitivity", "noise", "release")  # of each release
_RISK = 1e-9
_PUBLIC = N_("it tells public numbers only: there is no noise and no loss")
_TOO_WIDE = N_("the law of its noise is too wide to be summed here")
_PERSONS = N_("its number of people is public: the audit makes tables of any number")
_JOINED = N_("it joins tables: which of its unknown keys are shown was not compared")
_NO_ROW = N_("its filter drops every made-up row: no key can be shown")
_SOME = 10_000  # draws of a release with unknown keys: each is dear
_NUMBERS = 64  # of one release that the black box looks at
_THREADS, _EACH, _ANSWERS = 8, 2, 5


@final
class ReleaseAudit:
    """The checks of one release, on tables made of its declarations.

    No row of a private table is read, and nothing is spent.

    Args:
        name: The release, for reports.
        query: Its question.
        schema: The public facts of the table.
        loss: What it spends.
        delta: The δ at which a loss ρ is compared, ``"0"`` for one millionth.
        draws: Releases drawn of each of two neighbouring tables.
        tables: Hostile tables whose neighbours are all compared.
    """

    def __init__(  # noqa: PLR0913  a release, and how hard to look
        self,
        name: str,
        query: Query,
        schema: Schema,
        loss: Loss,
        *,
        delta: str = "0",
        draws: int = 4000,
        tables: int = 12,
    ) -> None:
        """Keep what is audited; reads nothing."""
        self._name, self._query, self._schema, self._loss = name, query, schema, loss
        self._draws, self._tables = draws, tables
        self._delta = delta
        small = small_schema(query, schema, loss)
        self._plan = make_plan(query, small, loss)
        self.skipped: list[tuple[str, str]] = []

    def checks(self) -> Iterator[tuple[Check, ...]]:
        """Yield the checks of each of the stages, one after the other."""
        out = None if self._plan.steps else _PUBLIC
        if isinstance(self._schema.unit, Unit) and self._schema.unit.size is not None:
            out = _PERSONS
        if out is not None:
            self.skipped.append((self._name, out))
            yield from [()] * len(STAGES)
            return
        yield (self._sensitivity(),)
        yield tuple(self._noise())
        unknown = self._plan.selecting is not None
        yield tuple(self._keys()) if unknown else (self._black_box(),)

    def _sensitivity(self) -> Check:
        found = sensitivity(
            self._query, self._schema, loss=self._loss, tables=self._tables, pool=3
        )
        used = max(
            (c.change for c in found.changes if c.aggregate is None),
            default=Fraction(0),
        )
        return Check(
            "sensitivity",
            self._name,
            "1",
            f"{float(used):.6g}" if not found.failures else "error",
            {
                "tables": str(found.tables),
                "pairs": str(found.pairs),
                "parts": str(len(self._plan.parts)),
                "steps": str(len(self._plan.steps)),
            },
            found.violated,
        )

    def _noise(self) -> Iterator[Check]:
        for law in self._laws():
            subject = f"{self._name}: {law.name}"
            if law.fit is None:
                self.skipped.append((subject, _TOO_WIDE))
                continue
            facts = {
                "draws": str(law.fit.draws),
                "tests": str(law.fit.tests),
                "risk": f"{_RISK:.0e}",
            }
            yield Check(
                "noise", subject, f"p > {_RISK:.0e}", f"p = {law.fit.p:.3g}", facts,
                law.fit.alarm,
            )  # fmt: skip

    def _laws(self) -> Iterator[LawFit]:
        if self._plan.selecting is not None:
            some = min(self._draws, _SOME)
            return threshold_laws(self._plan, some, risk=_RISK)
        zeros: Secret[Exact] = Secret(
            tuple((0,) * part.cells for part in self._plan.parts)
        )
        drawn = draws_for_audit(self._plan, zeros, self._draws)
        return fits(self._plan, drawn, risk=_RISK)

    def _keys(self) -> Iterator[Check]:
        if self._plan.query.base is not None:
            self.skipped.append((self._name, _JOINED))
            return
        delta = self._delta if float(self._delta) else "0.000001"
        found = keys_found(
            self._plan, min(self._draws, _SOME), delta=delta, confidence=1 - _RISK
        )
        if found is None:
            self.skipped.append((self._name, _NO_ROW))
        else:
            yield self._told("keys", found)

    def _told(self, kind: Kind, found: Finding) -> Check:
        claimed = f"ε {found.claimed:.6g}"
        claimed += f", δ {found.delta:.3g}" if found.delta else ""
        facts = {
            "draws": str(found.draws),
            "risk": f"{1 - found.confidence:.0e}",
            "event": found.event,
            "loss": loss_text(self._plan.cost),
        }
        lower = f"ε ≥ {found.lower:.3g}"
        return Check(kind, self._name, claimed, lower, facts, found.violated)

    def _black_box(self) -> Check:
        epsilon, delta = self._claim()
        return self._told("release", self._compare(epsilon, delta))

    def _claim(self) -> tuple[float, float]:
        if isinstance(self._plan.cost, Epsilon):
            return float(self._plan.cost.value), 0.0
        delta = self._delta if float(self._delta) else "0.000001"
        told = epsilon_at(self._plan.cost, delta)
        return float(str(told)) if told is not None else float("inf"), float(delta)

    def _compare(self, epsilon: float, delta: float) -> Finding:
        plan = self._plan
        with World(plan.table, others_of(plan)) as world:
            one, other = _farthest(plan, world, self._query)
            drawn = [
                draws_for_audit(plan, world.exact(plan, table), self._draws)
                for table in (one, other)
            ]
        places = _moving(drawn[0])
        held = [_columns(d, places) for d in drawn]
        return compare_draws(*held, claimed=epsilon, delta=delta, confidence=1 - _RISK)


def _farthest(plan: Plan, world: World, query: Query) -> tuple[Table, Table]:
    """Return the neighbours, of those tried, that use up most of the charge."""
    others = others_of(plan)
    rows = every_row(plan, query, 4)
    best: tuple[Any, Table, Table] = (-1, rows, rows)
    for table in made_tables(rows, 6, plan.table.unit, most=2, others=others):
        here = world.exact(plan, table)
        for other in neighbours(table, plan.table.unit, rows, others):
            moved = difference_for_audit(plan, here, world.exact(plan, other))
            used = sum(share(plan, s, moved) * plan.charge(s).units for s in plan.steps)
            best = max(best, (used, table, other), key=lambda b: b[0])
    return best[1], best[2]


def _moving(drawn: Sequence[Integers]) -> list[tuple[int, int]]:
    """Return the places of the integers that the black box looks at."""
    places = [(p, c) for p, part in enumerate(drawn[0]) for c in range(len(part))]
    return places[:_NUMBERS]


def _columns(drawn: Sequence[Integers], places: Sequence[tuple[int, int]]) -> Draws:
    numbers = {
        f"integer {p + 1}.{c + 1}": np.array([float(one[p][c]) for one in drawn])
        for p, c in places
    }
    return Draws({}, numbers, len(drawn))


def race(name: str, query: Query, schema: Schema, loss: Loss) -> Check:
    """Let threads race for the budget of a session on a ledger file, on made-up rows.

    Args:
        name: The release, for reports.
        query: What they ask.
        schema: The public facts.
        loss: What each answer costs; the budget buys five.
    """
    small = small_schema(query, schema, loss)
    rows = hostile_rows(small, query, 4)
    size = small.unit.size
    table = [dict(row) for row in (rows * (size or 1))[: size or len(rows)]]
    cap: Any = GDP.from_units(loss.units * _ANSWERS)
    if not isinstance(loss, GDP):  # whose δ, of unknown keys, is raced for too
        costs = loss.units * _ANSWERS, loss.delta_units * _ANSWERS
        cap = type(loss).from_units(*costs)
    with TemporaryDirectory() as folder:
        others = {
            one.name: Dataset([], schema=one.schema) for one in others_in(query.base)
        }
        data = Dataset(table, schema=small, name="audit", tables=others)
        session = Session(data, budget=cap, ledger=Path(folder) / "audit.ledger")
        plan = session.ask(query).plan(loss)
        given = budget_race(plan.release, threads=_THREADS, each=_EACH)
        left = session.left.units
    return Check(
        "race",
        name,
        str(_ANSWERS),
        str(given),
        {"threads": str(_THREADS), "asked": str(_THREADS * _EACH)},
        given != _ANSWERS or left != 0,
    )
