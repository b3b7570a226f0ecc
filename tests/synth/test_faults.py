"""The tests of synthesis can fail: each classical fault, planted, is found."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato import gate
from sfumato.account import ZCDP, Epsilon
from sfumato.audit import one_run
from sfumato.declare.schema import Category
from sfumato.declare.unit import Rows
from sfumato.engine.contingency import FINE, Choose, Measure
from sfumato.gate import Purse
from sfumato.plan.contingency import TablePlan
from sfumato.release import Receipt
from sfumato.release.once import grant
from sfumato.secret import Secret
from sfumato.synth import Synthesizer, layout, run
from sfumato.synth.estimate import Noisy, total_of
from sfumato.testing import seeded

SCHEMA = sf.Schema(
    {"code": sf.Category(["a", "b", "c", "d"]), "n": sf.Integer(0, 3)}, Rows()
)


def purse(loss):
    """Return a purse that holds a loss."""
    plan, text = TablePlan("t", SCHEMA, (), loss), str(loss)
    return Purse(plan, grant(Receipt("t", 1, text, text, text, plan.digest, "now")))


def table(rows):
    """Return rows as a dataset."""
    frame = pd.DataFrame(rows, columns=list(SCHEMA))
    return sf.Dataset(frame, schema=SCHEMA, name="t")


def check_support():
    """Whatever the count, outputs are whole numbers: one support for all neighbours."""
    for loss in (Epsilon("200"), ZCDP("200")):
        share = type(loss)("1")
        for count in (0, 1):
            held = Secret((np.full(100, count, np.int64),))
            (noisy,) = purse(loss).measure(held, Measure((0,), (share,)))
            assert all(type(value) is int for value in noisy)


def check_shape():
    """Neighbouring tables are released with the same cells, columns and labels."""
    rows = [("a", i % 4) for i in range(50)]
    shapes = []
    for extra in ([], [("c", 2)], [("zzz", None)]):
        made = Synthesizer("independent").fit(
            table(rows + extra), budget=sf.Epsilon("50")
        )
        shapes.append(
            ([c.labels[:4] for c in made.release.columns if c.name == "code"],
             [t.shape for t in made.release.tables])
        )  # fmt: skip
    assert shapes[0] == shapes[1] == shapes[2]


def check_total():
    """The number of rows that is told follows from the noisy counts that are told."""
    rows = [("a", i % 4) for i in range(500)]

    made = Synthesizer("independent").fit(table(rows), budget=sf.Epsilon("1"))

    told = [
        Noisy((i,), np.array(t.counts, float), float(Fraction(t.noise.scale)) * 2**0.5)
        for i, t in enumerate(made.release.tables)
    ]
    assert made.release.total == pytest.approx(total_of(told), abs=1e-3 * 500**0.5)


def check_choice(monkeypatch):
    """A row more moves a score, times the rate, times two, by at most ε: exactly.

    The noise is replaced by a recorder; two neighbours differ in one cell, by which each
    score moves as far as it can.
    """
    seen = []
    monkeypatch.setattr(
        gate.noise, "permute_and_flip", lambda s, rate: seen.append((s, rate)) or 0
    )
    for counts in ([3, 5], [3, 6]):
        held = Secret((np.array(counts, np.int64),))
        predicted = (np.array([3, 5]) * FINE,)
        asked = Choose((0,), predicted, (7,), (0,), Epsilon("1"))
        purse(Epsilon("1")).choose(held, asked)
    (one, rate), (other, _) = seen
    moved = abs(one[0] - other[0])
    assert 2 * rate * moved <= 1
    assert 2 * rate * moved == 1  # and no more noise than needed


def check_spent():
    """What is measured never costs more than was paid."""
    held = Secret((np.array([1, 2]),))
    paid = purse(Epsilon("1"))
    paid.measure(held, Measure((0,), (Epsilon("0.7"),)))
    with pytest.raises(sf.SfumatoError):
        paid.measure(held, Measure((0,), (Epsilon("0.7"),)))


def test_sound_code_passes(monkeypatch):
    """No check accuses what is right."""
    check_support()
    check_shape()
    check_total()
    check_spent()
    check_choice(monkeypatch)


def test_float_noise_is_found(monkeypatch):
    """Noise drawn around 0.0 and added in floating point tells 0 from 1."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(
        gate,
        "_noise_vector",
        lambda m, cells: tuple(rng.normal(0, float(m.scale), cells)),
    )

    with pytest.raises(AssertionError):
        check_support()


def test_categories_read_from_the_data_are_found(monkeypatch):
    """A key gets its cell only if somebody has it."""
    true_grids, seen = layout.grids, []
    true_fit = Synthesizer.plan

    def peek(self, source, *args, **kwargs):
        seen[:] = [set(source.source["code"])]
        return true_fit(self, source, *args, **kwargs)

    def read(schema, names, **settings):
        present = [v for v in schema["code"].values if v in seen[0]]
        columns = {**dict(schema.columns), "code": Category(present)}
        return true_grids(sf.Schema(columns, schema.unit), names, **settings)

    monkeypatch.setattr(Synthesizer, "plan", peek)
    monkeypatch.setattr(layout, "grids", read)

    with pytest.raises(AssertionError):
        check_shape()


def test_the_exact_number_of_rows_is_found(monkeypatch):
    """The model is given the true n instead of an estimate."""
    monkeypatch.setattr(run, "total_of", lambda noisy: 500.0)
    monkeypatch.setattr("sfumato.synth.search.total_of", lambda noisy: 500.0)
    with seeded(1), pytest.raises(AssertionError):
        check_total()


def test_half_the_sensitivity_of_scores_is_found(monkeypatch):
    """The rate of a choice for scores that move by half of what they do."""
    monkeypatch.setattr(gate, "FINE", FINE // 2)

    with pytest.raises(AssertionError):
        check_choice(monkeypatch)


def test_a_purse_that_never_empties_is_found(monkeypatch):
    """Shares are handed out without being taken."""
    monkeypatch.setattr(Purse, "_take", lambda self, share: share)

    with pytest.raises(pytest.fail.Exception):
        check_spent()


CANARIES = 400


def lower_bound(epsilon, factor=1):
    """Audit one run: 400 rows of 400 rare codes, each in the table by a coin."""
    schema = sf.Schema({"code": sf.Category(range(CANARIES)), "ill": sf.Boolean()})

    def mechanism(inside):
        rows = [{"code": i, "ill": i % 2 == 0} for i in inside]
        data = sf.Dataset(
            rows + [{"code": 0, "ill": True}] * 200, schema=schema, name="t"
        )
        loss = sf.Epsilon(str(epsilon * factor))
        return Synthesizer("independent").fit(data, budget=loss)

    def score(made, canary):
        return float(made.release.tables[0].counts[canary])

    return one_run(
        mechanism, score, CANARIES, claimed=float(epsilon), confidence=1 - 1e-9
    )


@pytest.mark.slow
def test_one_run_finds_no_more_than_was_paid():
    """A sound synthesis is accused once in 10^9 runs."""
    found = lower_bound(2)

    assert found.lower <= 2


@pytest.mark.slow
def test_one_run_finds_noise_that_is_too_small():
    """Eight times the price of what is claimed: the audit proves more than the claim."""
    found = lower_bound(1, factor=8)

    assert found.lower > 1
