"""One run for what is costly to make: models and synthetic tables, with canaries.

The made-up table consists of canaries alone: each is one protected unit of its own, in
the table or not by a fair coin. Whoever guesses the coins from what was released too well
refutes the claim (`sfumato.audit.one_run`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.account import ZCDP, Epsilon, Loss, epsilon_at
from sfumato.audit.black_box import Finding
from sfumato.audit.hostile import Row
from sfumato.audit.one_run import most_certified, one_run
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    Text,
)
from sfumato.declare.unit import Unit
from sfumato.engine.cell import key_index
from sfumato.models import ModelBudget
from sfumato.models.declared import classes_of
from sfumato.models.training import Order, Training
from sfumato.noise import default
from sfumato.synth import Synthesizer

__all__ = ["LearnedAudit", "canaries_of", "model_audit", "synthetic_audit"]

_DELTA = "1e-13"  # at which a loss ρ is compared
_PURSE = "1000"  # pays for one fit, of made-up rows
_GUESSED = 2  # of all canaries one half is guessed


@final
@dataclass(frozen=True, slots=True)
class LearnedAudit:
    """What one run certified.

    Attributes:
        finding: The certified bound beside the claim.
        canaries: How many there were.
        most: The ε that would have been certified, had every guess been right: what is
            claimed above it, this audit cannot refute.
    """

    finding: Finding
    canaries: int
    most: float


def canaries_of(schema: Schema, count: int) -> list[Row]:
    """Return rows of declared values: ends of ranges and keys, all picked at random.

    Where the unit is a person, each row is one of her own.
    """
    columns = dict(schema.columns)
    words = iter(default().words(count * len(columns)).tolist())
    rows: list[Row] = [
        {name: _cell(column, next(words)) for name, column in columns.items()}
        for _ in range(count)
    ]
    unit = schema.unit
    if isinstance(unit, Unit):
        return [{**row, unit.column: i + 1} for i, row in enumerate(rows)]
    return rows


def _cell(column: Column, word: int) -> object:
    match column:
        case Real() | Integer():
            return (column.lower, column.upper)[word & 1]
        case Category():
            return column.values[word % len(column.values)]
        case Boolean():
            return classes_of(column)[word & 1]
        case Text():
            return "ab"[word & 1]


def model_audit(
    order: Order, schema: Schema, *, canaries: int, confidence: float
) -> LearnedAudit:
    """Train a model once on canaries, and guess which it saw by its error on each.

    A fit with a δ is charged in ρ, and compared at the ε that ρ has at δ = 1e-13: above,
    one run certifies nothing (`sfumato.audit.one_run.chance_of_guesses`).

    Args:
        order: What shall be learned; its private test is left out.
        schema: The declarations. The number of rows must be private.
        canaries: How many rows are made up.
        confidence: 1 less the chance that a sound fit is accused.
    """
    rows = canaries_of(schema, canaries)
    order = replace(order, test_epsilon=None)

    def training(inside: list[int]) -> Training:
        made = Dataset([dict(rows[i]) for i in inside], schema=schema, name="audit")
        return Training(
            made, order, ModelBudget(ZCDP(_PURSE) if order.delta else _PURSE)
        )

    def fitted(inside: list[int]) -> NDArray[np.float64]:
        done = training(inside).run()
        return _closeness(done.model, done.features, rows, order.target)

    return _certified(fitted, canaries, training([]).cost, confidence)


def _closeness(
    model: Any, features: Sequence[str], rows: Sequence[Row], target: str
) -> NDArray[np.float64]:
    """Return how well a model tells the target of each row."""
    x = np.empty((len(rows), len(features)), dtype=object)
    for place, name in enumerate(features):
        x[:, place] = [row[name] for row in rows]
    x = x.astype(float) if all(isinstance(c, int | float) for c in x.flat) else x
    truths = [row[target] for row in rows]
    if not hasattr(model, "predict_proba"):
        held = np.array(truths, float)
        missed: NDArray[np.float64] = np.abs(np.asarray(model.predict(x), float) - held)
        return -missed
    places = {str(c): i for i, c in enumerate(model.classes_)}
    chances = np.asarray(model.predict_proba(x), float)
    return np.array([chances[i, places[str(t)]] for i, t in enumerate(truths)])


def synthetic_audit(
    maker: Synthesizer, schema: Schema, loss: Loss, *, canaries: int, confidence: float
) -> LearnedAudit:
    """Make a synthetic table once of canaries, and guess which are in it by likeness.

    The arguments are as in `model_audit`; `loss` is what the table costs.
    """
    rows = canaries_of(schema, canaries)

    def made(inside: list[int]) -> NDArray[np.float64]:
        table = Dataset([dict(rows[i]) for i in inside], schema=schema, name="audit")
        drawn = maker.fit(table, budget=loss).sample(canaries)
        alike = np.zeros((canaries, len(drawn)))
        for name in drawn.names:
            alike += _alike([row[name] for row in rows], drawn[name], schema[name])
        several = len(drawn.names)  # a row that is alike in all columns counts most
        return np.asarray(((alike / several) ** (2 * several)).sum(axis=1), float)

    return _certified(made, canaries, loss, confidence)


def _alike(
    truths: Sequence[object], drawn: Sequence[object], column: Column
) -> NDArray[np.float64]:
    """Return for each pair of cells 1 where they are alike: equal, or nearly."""
    if isinstance(column, Real | Integer):
        width = (column.upper - column.lower) / 4 or 1.0
        one = np.array(truths, float)[:, None]
        other = np.array([np.nan if c is None else c for c in drawn], float)[None, :]
        return np.asarray(np.abs(one - other) <= width, float)
    if isinstance(column, Boolean):
        truths = [key_index(c, column) == 1 for c in truths]
    texts = np.array([str(c) for c in drawn])[None, :]
    return np.asarray(np.array([str(c) for c in truths])[:, None] == texts, float)


def _certified(
    run: Callable[[list[int]], NDArray[np.float64]],
    canaries: int,
    cost: Loss,
    confidence: float,
) -> LearnedAudit:
    pure = isinstance(cost, Epsilon)
    told = epsilon_at(cost, _DELTA)
    claimed = float(str(told)) if told is not None else float("inf")
    delta = 0.0 if pure else float(_DELTA)
    guesses = canaries // _GUESSED
    found = one_run(
        run,
        lambda scores, i: float(scores[i]),
        canaries,
        claimed=claimed,
        delta=delta,
        guesses=(guesses, canaries // 10),
        confidence=confidence,
    )
    most = most_certified(guesses, canaries, delta=delta, risk=(1 - confidence) / 2)
    return LearnedAudit(found, canaries, most)
