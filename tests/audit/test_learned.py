"""Audits by one run of models and synthetic tables, with canaries only."""

from __future__ import annotations

import resource

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit.learned import canaries_of, model_audit, synthetic_audit
from sfumato.models.logistic import LogisticRegression
from sfumato.models.training import Order
from sfumato.synth import Synthesizer

SCHEMA = sf.Schema({
    **{f"x{i}": sf.Real(0, 1, step=0.01) for i in range(6)},
    "g": sf.Category(["a", "b", "c"]),
    "y": sf.Category([0, 1]),
})  # fmt: skip
SURE = 1 - 1e-9


def test_canaries_are_declared_rows():
    """Ends of ranges and keys; people are told apart."""
    rows = canaries_of(SCHEMA, 50)
    own = sf.Schema({"x": sf.Integer(0, 9)}, unit=sf.Unit("who", max_rows=1, max_groups=1))  # fmt: skip

    assert {row["x0"] for row in rows} == {0, 1}
    assert {row["g"] for row in rows} == {"a", "b", "c"}
    assert [row["who"] for row in canaries_of(own, 3)] == [1, 2, 3]


def test_canaries_spell_a_boolean_as_the_table_does():
    """Any other spelling is a missing cell: no canary with one would be seen."""
    spelt = sf.Boolean(true="yes", false="no")
    schema = sf.Schema({"x": sf.Real(0, 1), "y": spelt})
    order = Order("LogisticRegression", "y", epsilon="1")

    assert {row["y"] for row in canaries_of(schema, 50)} == {"yes", "no"}
    assert not model_audit(order, schema, canaries=50, confidence=SURE).finding.violated


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_a_sound_model_is_not_accused(delta):
    """One fit; what it could have shown at most stands beside it."""
    order = Order("LogisticRegression", "y", epsilon="1", delta=delta, test_epsilon="1")

    found = model_audit(order, SCHEMA, canaries=100, confidence=SURE)

    assert not found.finding.violated
    assert found.canaries == 100 and found.most > 0.6
    assert found.finding.delta == (1e-13 if delta else 0)
    assert found.finding.claimed >= 1


def test_a_model_that_remembers_is_refuted(monkeypatch):
    """Planted: the model's chances are right for the rows it saw and wrong for others."""
    fit = LogisticRegression.fit

    def fitted(self, x, y, **kw):
        fit(self, x, y, **kw)
        self._seen = {(*map(str, row), str(label)) for row, label in zip(x, y)}
        return self

    def chances(self, x):
        ones = np.array([(*map(str, row), "1") in self._seen for row in x], float)
        zeros = np.array([(*map(str, row), "0") in self._seen for row in x], float)
        return np.column_stack([zeros, ones])

    monkeypatch.setattr(LogisticRegression, "fit", fitted)
    monkeypatch.setattr(LogisticRegression, "predict_proba", chances)
    columns = {**dict(SCHEMA.columns), **{f"z{i}": sf.Real(0, 1) for i in range(12)}}
    order = Order("LogisticRegression", "y", epsilon="0.5")

    found = model_audit(order, sf.Schema(columns), canaries=200, confidence=SURE)

    assert found.finding.violated, found.finding


def test_a_sound_synthetic_table_is_not_accused():
    """Of a table of canaries."""
    found = synthetic_audit(
        Synthesizer("independent"),
        SCHEMA,
        sf.Epsilon("1"),
        canaries=100,
        confidence=SURE,
    )

    assert not found.finding.violated and found.most > 0.6


def test_a_copied_table_is_refuted(monkeypatch):
    """Planted: the synthetic table is the private one."""
    columns = {f"z{i}": sf.Real(0, 1) for i in range(20)}

    class Copied:
        names = tuple(columns)

        def __init__(self, rows):
            self._rows = rows

        def __len__(self):
            return len(self._rows)

        def __getitem__(self, name):
            return [row[name] for row in self._rows]

        def sample(self, _):
            return self

    monkeypatch.setattr(
        Synthesizer, "fit", lambda self, table, **_: Copied(table.source)
    )

    found = synthetic_audit(
        Synthesizer(),
        sf.Schema(columns),
        sf.Epsilon("0.5"),
        canaries=200,
        confidence=SURE,
    )

    assert found.finding.violated, found.finding


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LogisticRegression", "RandomForestClassifier"])
def test_a_thousand_canaries(name):
    """One fit on a thousand canaries: no accusation, within ten minutes of processor."""
    order = Order(name, "y", epsilon="1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime

    found = model_audit(order, SCHEMA, canaries=1000, confidence=SURE)

    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    print(f"{name}: {found.finding}, at most {found.most:.3g}; {spent:.1f} s")
    assert not found.finding.violated
    assert found.most > 3
