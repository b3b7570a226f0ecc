"""The owner's comparison: right on tables whose answer is known, and marked."""

import pickle
from dataclasses import replace
from math import comb, e

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.report.synthetic import quality_html, synthetic_html
from sfumato.synth import Synthesizer
from sfumato.synth.predict import auc, fit_logistic
from sfumato.synth.quality import (
    _attack,
    attack_bound,
    cramer,
    ks,
    owner_quality,
    portrait,
)

SCHEMA = sf.Schema(
    {"x": sf.Real(0, 100, step=1), "sex": sf.Category(["F", "M"]), "ill": sf.Boolean()}
)


def table(rows=3000, seed=0, name="t"):
    """Return a table in which illness depends on x, and x is missing now and then."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 101, rows).astype(float)
    frame = pd.DataFrame(
        {"x": np.where(rng.random(rows) < 0.1, np.nan, x),
         "sex": np.where(rng.random(rows) < 0.4, "F", "M"),
         "ill": rng.random(rows) < x / 100}
    )  # fmt: skip
    return sf.Dataset(frame, schema=SCHEMA, name=name)


@pytest.fixture(scope="module")
def made():
    """A synthesis with a budget so large that noise hardly shows."""
    return Synthesizer(complete=["sex", "ill"]).fit(table(), budget=sf.Epsilon("100"))


def test_a_faithful_table_is_close_and_predicts(made):
    """Small distances, the true shares of missing cells, the true AUC."""
    found = owner_quality(
        made, table(), held_out=table(seed=1, name="held"), target="ill",
        quasi_identifiers=["x", "sex"],
    )  # fmt: skip

    assert {c.name: round(c.true_missing, 1) for c in found.columns} == {
        "x": 0.1, "sex": 0, "ill": 0
    }  # fmt: skip
    assert all(c.distance < 0.05 for c in found.columns)
    assert all(t.distance < 0.1 for t in found.tables)
    assert found.tables[0].distance == max(t.distance for t in found.tables)
    assert found.true_auc == pytest.approx(0.8, abs=0.05)
    assert found.made_auc == pytest.approx(found.true_auc, abs=0.03)
    assert found.true_association[0][2] == pytest.approx(
        found.made_association[0][2], abs=0.1
    )
    assert [a.name for a in found.attacks] == ["membership", "attribute"]
    assert all(a.bound <= 1 for a in found.attacks)
    assert len(found.classes) == 3
    assert all("say nothing about ε" in str(one) for one in found.classes)
    chinese = quality_html(found, lang="zh")
    for english in (
        "protected unit",
        "say nothing about",
        "stand alone",
        "distance of",
    ):
        assert english not in chinese
    for part in (found, found.columns, found.tables, found.attacks):
        assert "FOR THE OWNER'S EYES" in repr(part)
        assert "0." not in repr(part)
        with pytest.raises(TypeError, match="owner's eyes"):
            pickle.dumps(part)


def test_without_held_out_rows_there_are_no_attacks(made):
    """And the page says so."""
    found = owner_quality(made, table(), target="ill")

    assert found.attacks == ()
    assert not found.held_out
    page = quality_html(found, lang="en")
    assert "held out" in page
    assert "FOR THE OWNER" in page


def test_attacks_are_bounded_by_all_losses_together(made):
    """A synthesis that goes on with an earlier release tells of its counts too."""
    claim = replace(made.release.claim, epsilon="0.25", delta="0.01")
    earlier = replace(claim, epsilon="0.75", delta="0.02")
    release = replace(made.release, claim=claim, start=(earlier,))

    assert attack_bound(release) == pytest.approx((e - 1 + 0.06) / (e + 1))
    unknown = replace(earlier, epsilon=None)
    assert attack_bound(replace(release, start=(unknown,))) == pytest.approx(1)


def test_a_copy_of_the_rows_is_caught():
    """The membership attack can succeed: on rows that are the private rows themselves."""
    schema = sf.Schema({f"c{i}": sf.Integer(0, 9) for i in range(8)})
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame(rng.integers(0, 10, (400, 8)), columns=list(schema))
        for _ in range(2)
    ]
    own, other = (
        sf.Dataset(f, schema=schema, name=n) for f, n in zip(frames, ("own", "other"))
    )
    made = Synthesizer("independent", complete=True).fit(own, budget=sf.Epsilon("50"))

    from sfumato.synth import quality

    honest = owner_quality(made, own, held_out=other).attacks[0]
    original = quality.coded
    quality.coded = lambda schema, drawn, skipped: {
        n: frames[0][n].to_numpy(float) for n in schema
    }
    try:
        leaked = owner_quality(made, own, held_out=other).attacks[0]
    finally:
        quality.coded = original

    assert leaked.gain > 0.5
    assert abs(honest.gain) < 0.3
    assert leaked.inside + leaked.outside == pytest.approx(1)


def test_ties_favour_neither_side():
    """Where all rows are as near, half of them are said to be inside, on both sides."""
    from sfumato.synth.quality import _half

    one, other = _half(np.zeros(6), np.zeros(6))
    near, far = _half(np.array([0.0, 0, 1, 1]), np.array([1.0, 2, 2, 2]))

    assert one.tolist() == other.tolist() == [0.5] * 6
    assert near.sum() + far.sum() == pytest.approx(4)
    assert near.mean() > far.mean()


def test_the_target_has_two_keys(made):
    """A number cannot be predicted by a logistic regression."""
    with pytest.raises(sf.DeclarationError, match="cannot be predicted"):
        owner_quality(made, table(), target="x")


def test_the_page_says_what_is_promised(made):
    """The claim, the columns and the model's association, in both languages, no script."""
    for lang in ("en", "zh"):
        page = synthetic_html(made.release, portrait(made), rows=10, lang=lang)

        assert "ε = 100" in page
        assert "<script" not in page
        assert page.count('class="heat"') == 1


def test_the_measures_of_known_tables():
    """Cramér's V, KS, AUC and the regression on cases done by hand."""
    assert cramer(np.array([[0.5, 0.0], [0.0, 0.5]])) == 1
    assert cramer(np.array([[0.25, 0.25], [0.25, 0.25]])) == 0
    assert ks(np.array([0.0, 1]), np.array([1.0, 2])) == 0.5
    assert auc(np.array([1.0, 2, 2]), np.array([0.0, 0, 1])) == 0.75
    x = np.linspace(-3, 3, 400)[:, None]
    y = (x[:, 0] > 0).astype(float)
    weights = fit_logistic(x, y)
    assert weights[0] > 1
    assert abs(weights[1]) < 0.1


@pytest.mark.parametrize(("right", "wrong"), [(0.99, 0.01), (0.5, 0.5), (0.98, 0.95)])
def test_the_margin_of_an_attack_holds_the_gain(right, wrong):
    """Exactly summed: in 94 of 100 tables of 20 rows, also where all guesses are right."""

    def chance(k, p):
        return comb(20, k) * p**k * (1 - p) ** (20 - k)

    told = [np.arange(20) < k for k in range(21)]
    held = 0.0
    for i, inside in enumerate(told):
        for j, outside in enumerate(told):
            found = _attack("membership", inside, outside, 1.0)
            if abs(found.gain - (right - wrong)) <= found.margin:
                held += chance(i, right) * chance(j, wrong)

    assert held >= 0.94
