"""Audits of unknown keys: sound thresholds pass, and broken ones are refuted."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf
from sfumato.account import ZCDP, Epsilon, Threshold
from sfumato.audit import sensitivity
from sfumato.audit.unknown import keys_found, threshold_laws
from sfumato.audit.whole import ReleaseAudit
from sfumato.declare.expr import col
from sfumato.declare.query import Query, count, mean
from sfumato.declare.schema import Category, Integer, Real, Schema, Text
from sfumato.declare.unit import Rows, Unit
from sfumato.engine import chosen
from sfumato.plan import lower, make_plan

COLUMNS = {"city": Text(longest=8), "x": Real(0, 9, step=1), "g": Category(["a", "b"])}
ADD, REPLACE = Rows(), Rows(neighbours="replace_one", size=500)
PEOPLE = Unit("who", max_rows=2, max_groups=2)
LOSSES = [Epsilon("1", "1e-6"), ZCDP("0.1", "1e-6")]
QUERIES = [
    Query().group_by("city").select(count()),
    Query().group_by("city", "g", other="rest").select(count(), mean("x")),
]
FEW = 1000


def broken(patch, change):
    """Give every threshold another least count."""
    build = Threshold.__init__

    def made(self, *args, **kw):
        build(self, *args, **kw)
        object.__setattr__(self, "least", change(self.least))

    patch.setattr(Threshold, "__init__", made)


@pytest.mark.parametrize(
    ("unit", "loss", "query"),
    [
        (ADD, LOSSES[0], QUERIES[1]),
        (REPLACE, LOSSES[0], QUERIES[0]),
        (REPLACE, LOSSES[1], QUERIES[0]),
        (PEOPLE, LOSSES[0], QUERIES[0]),
    ],
    ids=["add", "replace", "rho", "people"],
)
def test_a_sound_release_of_unknown_keys_passes(unit, loss, query):
    """Sensitivities, the cut noise and the shown keys: three kinds of checks, no alarm."""
    audit = ReleaseAudit("r", query, Schema(COLUMNS, unit=unit), loss, draws=1000, tables=3)  # fmt: skip

    found = [check for stage in audit.checks() for check in stage]

    assert {c.kind for c in found} == {"sensitivity", "noise", "keys"}
    assert not [c for c in found if c.violated]
    assert not audit.skipped


@pytest.mark.parametrize("query", QUERIES)
def test_the_oracle_reaches_the_claim_of_unknown_keys(query):
    """A key that one table lacks counts as zeros: the whole charge is used, and no more."""
    found = sensitivity(query, Schema(COLUMNS), loss=Epsilon("1", "1e-6"), tables=12)

    assert not found.violated and found.tight
    assert found.pairs > 10


def test_a_forgotten_threshold_is_refuted(monkeypatch):
    """Every key is shown: one row makes the difference, far beyond δ."""
    plan = make_plan(QUERIES[0], Schema(COLUMNS), Epsilon("1", "1e-6"))
    sound = keys_found(plan, FEW, delta="1e-6", confidence=1 - 1e-9)
    broken(monkeypatch, lambda _: 1)

    plan = make_plan(QUERIES[0], Schema(COLUMNS), Epsilon("1", "1e-6"))
    found = keys_found(plan, FEW, delta="1e-6", confidence=1 - 1e-9)

    assert not sound.violated
    assert found.violated and "key" in found.event


def test_noise_of_half_the_scale_is_refuted(monkeypatch):
    """The counts of keys have the noise of ε = 2."""
    monkeypatch.setattr(
        "sfumato.gate._draw_threshold",
        lambda threshold, n: drawn(Threshold(Epsilon("2", "1e-6")), n),
    )
    from sfumato.gate import _noise_vector

    def drawn(threshold, n):
        return _noise_vector(threshold.noise, n)

    plan = make_plan(QUERIES[0], Schema(COLUMNS), Epsilon("1", "1e-6"))
    laws = list(threshold_laws(plan, FEW, risk=1e-9))

    assert [law.fit.alarm for law in laws] == [True]


def test_a_row_that_counts_twice_is_found(monkeypatch):
    """The oracle sees a key whose count moves by two."""
    spread = chosen._spread
    doubled = lambda *a: tuple(tuple(2 * x for x in v) for v in spread(*a))  # noqa: E731
    monkeypatch.setattr(chosen, "_spread", doubled)

    found = sensitivity(QUERIES[0], Schema(COLUMNS), loss=Epsilon("1", "1e-6"), tables=4)  # fmt: skip

    assert found.violated


def test_one_key_for_a_replaced_row_is_found(monkeypatch):
    """A replaced row changes two keys; the noise is for one."""
    select = lower.with_threshold
    monkeypatch.setattr(
        lower,
        "with_threshold",
        lambda s, part, delta, unit: select(s, part, delta, ADD),
    )

    found = sensitivity(
        QUERIES[0], Schema(COLUMNS, unit=REPLACE), loss=Epsilon("1", "1e-6"), tables=8
    )

    assert found.violated


def test_a_filter_that_no_row_passes_is_said():
    """Nothing can be shown, so nothing is claimed to have been tested."""
    query = QUERIES[0].where((col("x") > 3) & (col("x") < 3))
    audit = ReleaseAudit("r", query, Schema(COLUMNS), Epsilon("1", "1e-6"), draws=1000, tables=3)  # fmt: skip

    found = [check.kind for stage in audit.checks() for check in stage]

    assert "keys" not in found
    assert audit.skipped == [("r", "its filter drops every made-up row: no key can be shown")]  # fmt: skip


def test_joined_tables_are_said_not_to_be_compared():
    """Sensitivities and noise are tested; which keys are shown is not, and is said so."""
    columns = {"city": Text(longest=4), "site": Integer(0, 9)}
    region = {"region": Category(["north", "south"])}
    sites = sf.PublicTable(
        pd.DataFrame({"site": [1, 2], "region": ["north", "south"]}),
        key="site",
        columns=region,
    )
    table = sf.Dataset(
        pd.DataFrame({"site": [1], "city": ["a"]}),
        schema=Schema(columns),
        tables={"sites": sites},
    )
    session = sf.Session(table, budget=Epsilon("5", "1e-5"))
    question = session.query().join("sites").group_by("city").select(count())
    audit = ReleaseAudit("r", question.query, Schema(columns), LOSSES[0], draws=1000, tables=3)  # fmt: skip

    found = [check for stage in audit.checks() for check in stage]

    assert {c.kind for c in found} == {"sensitivity", "noise"}
    assert not [c for c in found if c.violated]
    assert "it joins tables" in audit.skipped[0][1]
