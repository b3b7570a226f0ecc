"""Logistic regression: what it learns, on which declarations, for which neighbours."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import sfumato as sf
from sfumato import models
from sfumato.models import LogisticRegression
from sfumato.models.search import _FINE, _Parts
from sfumato.models.table import labels_of

HUGE = "1000"


def halves(pima):
    """Return a public split of the Pima table."""
    return train_test_split(*pima, test_size=0.3, random_state=0, stratify=pima[1])


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("delta", [0, "1e-5"])
def test_both_solvers_learn_the_pima_table(pima, public, rho_budget, delta, neighbours):
    """At ε = 3 the AUC comes near the 0.84 of no privacy; below 0.75 once in a billion."""
    x, x_test, y, y_test = halves(pima)
    model = LogisticRegression(
        "3", delta, budget=rho_budget, neighbours=neighbours, **public
    )

    scores = model.fit(x, y).decision_function(x_test)

    assert roc_auc_score(y_test, scores) > 0.75
    assert model.solver_ == ("gnm" if delta else "hop")


def test_coefficients_are_those_of_the_features_as_measured(pima, public, budget):
    """decision_function is X·coef + intercept, with missing cells at the middle."""
    x, y = pima
    model = LogisticRegression("1", budget=budget, **public).fit(x, y)

    middle = np.mean(public["bounds"], axis=0)
    filled = np.where((x == 0) & [c == 0 for c in public["missing"]], middle, x)
    expected = filled @ model.coef_[0] + model.intercept_

    assert model.decision_function(x) == pytest.approx(expected)


def test_at_a_huge_epsilon_it_is_the_huberised_fit(pima, public, rho_budget):
    """Noise vanishes: both solvers rank as scikit-learn's fit does."""
    from sklearn.linear_model import LogisticRegression as Plain

    x, y = pima
    middle = np.mean(public["bounds"], axis=0)
    low, high = map(np.array, public["bounds"])
    filled = np.where((x == 0) & [c == 0 for c in public["missing"]], middle, x)
    scaled = 2 * (np.clip(filled, low, high) - low) / (high - low) - 1
    plain = roc_auc_score(y, Plain(C=100.0).fit(scaled, y).decision_function(scaled))

    for delta in (0, "1e-5"):
        model = LogisticRegression(HUGE, delta, budget=rho_budget, **public).fit(x, y)
        assert roc_auc_score(y, model.decision_function(x)) > plain - 0.01


@pytest.mark.parametrize("delta", [0, "1e-5"])
def test_several_classes(rho_budget, delta):
    """Three clouds: most rows find their class; probabilities sum to one."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 3000)
    x = rng.normal(size=(3000, 2)) * 0.15 + np.array([[-0.5, 0], [0.5, 0], [0, 0.6]])[y]
    names = np.array(["甲", "乙", "丙"])
    model = LogisticRegression(
        "10", delta, budget=rho_budget, bounds=(-1, 1), classes=names
    ).fit(x, names[y])

    probabilities = model.predict_proba(x)

    assert (model.predict(x) == names[y]).mean() > 0.8
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(3000))
    assert model.coef_.shape == (3, 2)


def test_squares_find_what_a_line_cannot(rho_budget):
    """degree=2: the middle against both ends."""
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (4000, 1))
    y = (np.abs(x[:, 0]) < 0.5).astype(int)
    options = {"bounds": (-1, 1), "classes": [0, 1], "budget": rho_budget}

    for delta in (0, "1e-5"):
        bent = LogisticRegression("20", delta, degree=2, **options).fit(x, y)
        assert roc_auc_score(y, bent.decision_function(x)) > 0.9


def test_public_prior_weights_remain_where_noise_drowns_the_rows(pima, public, budget):
    """At ε = 1e-4 HOP's ridge keeps the prior; the ranking is the prior's."""
    x, y = pima
    prior = [[0.1, 0.03, 0, 0, 0, 0.08, 0.9, 0.02]]
    scores = []
    for epsilon in ("0.0001", "0.0001"):
        model = LogisticRegression(
            epsilon, budget=budget, prior_coef=prior, prior_intercept=[-8.0], **public
        ).fit(x, y)
        scores.append(roc_auc_score(y, model.decision_function(x)))

    assert min(scores) > 0.7  # without a prior it is a coin


@pytest.mark.parametrize(
    "name",
    [
        "LogisticRegression",
        "GaussianNB",
        "RandomForestClassifier",
        "AdditiveClassifier",
    ],
)
def test_bc101_labels_are_declared(budget, name):
    """BC101: neighbours with and without the only 1 both fit, 50 times, with both classes."""
    kind = getattr(models, name)
    x = np.zeros((200, 1))
    one = np.zeros(200, int)
    one[0] = 1
    for y in (one, one[1:]):
        for _ in range(25):
            model = kind("1", budget=budget, bounds=(0, 1), classes=[0, 1])
            model.fit(x[: len(y)], y)
            assert model.classes_.tolist() == [0, 1]
            assert model.predict_proba(x[:2]).shape == (2, 2)
    text = kind("1", budget=budget, bounds=(0, 1), classes=["阴性", "阳性"])
    text.fit(x, np.where(one, "阳性", "阴性"))
    assert set(text.predict(x)) <= {"阴性", "阳性"}
    with pytest.raises(models.PrivacyLeakError, match="classes are not declared"):
        kind("1", budget=budget, bounds=(0, 1)).fit(x, one)


def test_rows_of_other_labels_do_not_count(budget):
    """A label outside the classes drops the row; no error, no class."""
    x = np.zeros((50, 1))
    y = np.array([0, 1, 2, 7, 1] * 10)

    model = LogisticRegression("1", budget=budget, bounds=(0, 1), classes=[0, 1]).fit(
        x, y
    )

    assert model.classes_.tolist() == [0, 1]


def test_no_cell_can_raise_an_error(budget):
    """NaN, infinities and huge numbers are read by the rule; NaN labels do not count."""
    x = np.array([[np.nan, np.inf], [-np.inf, 1e308], [1e-320, -0.0]] * 20)
    y = np.array([0.0, 1.0, np.nan] * 20)

    model = LogisticRegression("1", budget=budget, bounds=(0, 1), classes=[0, 1]).fit(
        x, y
    )

    assert np.isfinite(model.predict_proba(x)).all()


class Odd:
    """A cell that no rule knows."""

    def __float__(self):
        raise RuntimeError("patient 7")

    __eq__ = __hash__ = __str__ = __float__


def test_odd_cells_are_missing(budget):
    """Cells that raise whatever is done to them count as missing; odd labels not at all."""
    x = np.array([[0.5, "a"], [pd.NA, None], ["0.7", 3]] * 30, dtype=object)
    y = np.array([0, 1, None] * 30, dtype=object)
    schema = sf.Schema({"n": sf.Real(0, 1), "k": sf.Category(["a", "b"])})
    model = LogisticRegression("1", budget=budget, schema=schema, classes=[0, 1])

    model.fit(x, y)

    assert np.isfinite(model.predict_proba(x)).all()
    for cell in (Odd(), object(), b"x", float("nan"), 10**400, pd.NaT):
        x[0], y[0] = cell, cell
        model.fit(x, y)


@pytest.mark.parametrize("name", ["LogisticRegression", "KMeans"])
def test_bc099_scale_does_not_matter_where_bounds_travel(pima, public, budget, name):
    """BC099: X and 1000·X with bounds a thousand times larger give the same predictions."""
    from sfumato.testing import seeded

    x, y = pima
    found = []
    for factor in (1, 1000):
        bounds = [[b * factor for b in side] for side in public["bounds"]]
        kind = getattr(models, name)
        facts = {"epsilon": "1", "budget": budget, "bounds": bounds}
        facts |= {"missing": public["missing"], "classes": [0, 1]}
        known = kind().get_params()
        with seeded(5):
            model = kind(**{k: v for k, v in facts.items() if k in known}).fit(
                x * factor, y
            )
        found.append(model.predict(x * factor))

    # A row may be cut to the lattice one step of 2**-18 elsewhere, so a tie may turn.
    assert (found[0] != found[1]).mean() < 0.005


KINDS = [n for n in models.__all__ if hasattr(getattr(models, n), "_job")]


@pytest.mark.parametrize("name", KINDS)
def test_bc109_columns_are_known_by_name(budget, name):
    """BC109: bounds by name; another order, or a column more, is refused in any model."""
    frame = pd.DataFrame({"a": [0.0, 1.0] * 50, "b": [10.0, 20.0] * 50})
    y = pd.Series([0, 1] * 50, index=range(99, -1, -1))
    kind = getattr(models, name)
    facts = {
        "classes": [0, 1],
        "y_bounds": (0, 1),
        "bounds": {"b": (10, 20), "a": (0, 1)},
    }
    known = kind().get_params()
    options = {k: v for k, v in facts.items() if k in known}
    model = kind(epsilon=HUGE, budget=budget, **options).fit(frame, y)

    way = model.predict if hasattr(model, "predict") else model.transform
    if hasattr(model, "classes_") and "Forest" not in name and "Tree" not in name:
        assert (model.predict(frame) == y.to_numpy()).all()  # by position, not by index
    way(frame)
    with pytest.raises(ValueError, match="same order"):
        way(frame[["b", "a"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        way(frame.assign(c=0))


def test_a_schema_declares_everything(pima, budget):
    """Bounds, codes, classes and the unit come from the schema, by name."""
    x, y = pima
    names = ["preg", "glucose", "bp", "skin", "insulin", "bmi", "dpf", "age"]
    frame = pd.DataFrame(x, columns=names).assign(sex=["F", "M"] * 384)
    low, high = ([0, 50, 40, 5, 0, 15, 0, 20], [15, 200, 120, 60, 400, 50, 1.5, 80])
    columns = {
        n: sf.Real(a, b, missing=0 if n not in ("preg", "dpf", "age") else ())
        for n, a, b in zip(names, low, high)
    }
    schema = sf.Schema(
        {**columns, "sex": sf.Category(["F", "M"]), "outcome": sf.Category([0, 1])},
        unit=sf.Rows(neighbours="replace_one", size=768),
    )

    model = LogisticRegression("5", budget=budget, schema=schema).fit(
        frame, pd.Series(y, name="outcome")
    )

    assert model.privacy_claim_["neighbours"] == "replace_one"
    assert roc_auc_score(y, model.decision_function(frame)) > 0.75
    assert model.coef_.shape == (1, 10)  # eight numbers, two keys
    with pytest.raises(sf.DeclarationError, match="unknown column"):
        LogisticRegression("5", budget=budget, schema=schema).fit(
            frame.rename(columns={"bmi": "BMI2"}), y
        )


def test_persons_are_protected_when_their_rows_are_named(pima, public, budget):
    """privacy_ids: the first rows of each person count; the claim says person."""
    from sfumato.models.table import first_rows

    x, y = pima
    persons = np.repeat(np.arange(256), 3)
    model = LogisticRegression("3", budget=budget, rows_per_person=2, **public)

    model.fit(x, y, privacy_ids=persons)

    assert (model.privacy_claim_["unit"], model.privacy_claim_["rows"]) == ("person", 2)
    kept = first_rows(np.array([5, 1, 5, 5, 1, 2]), 2)
    assert kept.tolist() == [True, True, True, False, True, True]
    with pytest.raises(sf.DeclarationError, match="rows_per_person"):
        LogisticRegression("3", budget=budget, **public).fit(x, y, privacy_ids=persons)


def test_the_unit_of_a_schema_says_how_many_rows_count(pima, budget):
    """One schema serves questions and models; whose each row is must be said."""
    x, y = pima
    columns = {"glucose": sf.Real(50, 200, missing=0), "y": sf.Category([0, 1])}
    schema = sf.Schema(columns, unit=sf.Unit("id", max_rows=3, max_groups=1))
    frame, whole = pd.DataFrame({"glucose": x[:, 1]}), budget.left
    model = LogisticRegression("3", budget=budget, schema=schema, target="y")

    with pytest.raises(sf.DeclarationError, match=r"privacy_ids=table\['id'\]"):
        model.fit(frame, y)
    assert budget.left == whole
    model.fit(frame, y, privacy_ids=np.repeat(np.arange(256), 3))

    assert (model.privacy_claim_["unit"], model.privacy_claim_["rows"]) == ("person", 3)


@pytest.mark.parametrize(
    ("column", "labels", "classes"),
    [
        (sf.Boolean(true=["yes", "y"], false="no"), ["y", "no", "yes", "?"], ["no", "yes"]),
        (sf.Boolean(true=["yes", "y"], false="no"), ["yes", "no", "yes", None], ["no", "yes"]),
        (sf.Boolean(), ["TRUE", "false", "1", "?"], [False, True]),
        (sf.Boolean(), [1, 0, 1.0, float("nan")], [False, True]),
        (sf.Boolean(), [True, False, True, None], [False, True]),
        (sf.Boolean(true="yes", false="no"), [True, False, "yes", 2], ["no", "yes"]),
        (sf.Boolean(true="yes", false="no"), [1, 0, 1.0, "?"], ["no", "yes"]),
        (sf.Boolean(true=1, false=0), [1, "0", True, 2], [0, 1]),
        (sf.Boolean(true=2, false=1), [2.0, 1, True, 0], [1, 2]),
    ],
)  # fmt: skip
def test_labels_are_read_as_the_target_spells_them(column, labels, classes):
    """Each spelling of a Boolean is its class, and nothing else is a class."""
    schema = sf.Schema({"x": sf.Real(0, 1), "y": column})
    model = LogisticRegression("1", schema=schema, target="y")
    x = np.zeros((len(labels), 1))

    ready = model._check(x, np.array(labels, object))

    assert ready.facts.classes.tolist() == classes
    assert labels_of(ready.target, ready.facts.classes).tolist() == [1, 0, 1, -1]


@pytest.mark.parametrize(
    "column", [sf.Boolean(), sf.Boolean(true=["YES", "TRUE"], false="no")]
)
def test_a_test_and_a_search_read_labels_as_the_fit_does(column, budget):
    """No row of another spelling counted, and the whole price was spent."""
    schema = sf.Schema({"x": sf.Real(0, 1), "y": column})
    x = np.tile([0.1, 0.9], 1000)[:, None]
    y = pd.Series(np.tile([column.false[-1], "TRUE"], 1000), name="y")
    model = LogisticRegression("10", schema=schema, budget=budget).fit(x, y)

    test = models.evaluate(model, x, y, epsilon="10", budget=budget)
    folds = _Parts(x, y, None, 0.5, 1)

    assert test.rows == pytest.approx(2000, abs=20)
    assert test.accuracy > 0.9
    assert models.evaluate_for_owner(model, x, y).auc == 1
    assert folds.score(model) > 0.7 * _FINE * len(folds.scoring)


@pytest.mark.parametrize(
    "ids",
    [
        np.array([1.0, np.nan, 1.0, np.nan, 2.0, 1.0]),
        np.array([1, None, 1, float("nan"), 2, 1], object),
        np.array(["a", "", "a", "", "b", "a"]),
        pd.array(["a", pd.NA, "a", pd.NA, "b", "a"], dtype="string"),
        np.array([pd.Timestamp("2020"), pd.NaT, pd.Timestamp("2020"), pd.NaT,
                  pd.Timestamp("2021"), pd.Timestamp("2020")], object),
    ],
    ids=["floats", "objects", "texts", "pandas", "times"],
)  # fmt: skip
def test_rows_of_nobody_do_not_count(ids):
    """Behind one null stand several people: each would push out rows of the others."""
    from sfumato.models.table import first_rows

    assert first_rows(np.asarray(ids), 2).tolist() == [
        True, False, True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        (np.array([2**24, 2**24 + 1, 3, 3], np.float32), [0, 0, 1, 1]),
        (np.array([2**11 + 1, 2047, 3, 3], np.float16), [0, 1, 1, 1]),
        (np.array([2.0**53, 0.5, 3, 3]), [0, 0, 1, 1]),
        (np.array([np.float32(2**24), 2.0**53, 2**53, "3.0"], object), [0, 0, 1, 1]),
        (np.array(["M\ufffdller", "M\ufffdller", "a", "a"]), [0, 0, 1, 1]),
        (np.array(["a", "a\0", "None", None], object), [1, 1, 1, 0]),
        (np.array(["2020-01-01", "NaT", "NaT", "2020-01-02"], "M8[D]"), [1, 0, 0, 1]),
        (np.array([b"a", b"b", 3, 3.0], object), [1, 1, 1, 1]),
    ],
)
def test_merged_persons_do_not_count(ids, kept):
    """What may stand for two people is nobody, and nobody is no person's neighbour."""
    from sfumato.models.table import first_rows

    assert first_rows(ids, 2).tolist() == [bool(k) for k in kept]


def test_persons_are_routed_through_pipelines(pima, public, budget):
    """Metadata routing hands privacy_ids to the estimator."""
    import sklearn
    from sklearn.model_selection import cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    x, y = pima
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression(
            "3", budget=budget, rows_per_person=3, **public
        ).set_fit_request(privacy_ids=True)
        done = cross_validate(
            make_pipeline(FunctionTransformer(), model),
            x, y, cv=2, return_estimator=True,
            params={"privacy_ids": np.repeat(np.arange(256), 3)},
        )  # fmt: skip

    assert all(e[-1].privacy_claim_["unit"] == "person" for e in done["estimator"])


def test_the_target_is_no_feature(budget):
    """A whole table as X would let the model see what it shall predict."""
    frame = pd.DataFrame({"a": [0.0, 1.0] * 20, "ill": [0, 1] * 20})
    schema = sf.Schema({"a": sf.Real(0, 1), "ill": sf.Category([0, 1])})
    before = budget.spent

    with pytest.raises(sf.DeclarationError, match="feature too"):
        LogisticRegression("1", budget=budget, schema=schema).fit(frame, frame["ill"])

    assert budget.spent == before


def test_a_person_is_one_however_her_number_is_written():
    """1, 1.0 and "1" are one person; NaT and None are nobody."""
    from sfumato.models.table import first_rows, persons_of

    mixed = np.array([1, 1.0, "1", 2, None, float("nan")], object)
    days = np.array(["2020-01-01", "NaT", "NaT"], "M8[D]")

    assert persons_of(mixed, 6).tolist() == ["1", "1", "1", "2", None, None]
    kept = first_rows(persons_of(days, 3), 1)
    assert kept.tolist() == [True, False, False]
