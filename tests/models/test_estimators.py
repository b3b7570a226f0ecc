"""The other estimators: what they learn from Pima, and reported faults of their like."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import sfumato as sf
from sfumato import models
from sfumato.models.clusters import _squares
from sfumato.models.table import Columns, Encoder
from sfumato.testing import seeded

DELTAS = [0, "1e-5"]


def facts(public):
    """Return public facts without classes."""
    return {k: v for k, v in public.items() if k != "classes"}


def scaled(model, x):
    """Return features as the model scales them."""
    return Encoder(model.features_).encode(Columns(x), slice(None))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("GaussianNB", 0.7),
        ("AdditiveClassifier", 0.75),
        ("RandomForestClassifier", 0.65),
    ],
)
def test_classifiers_learn(pima, public, rho_budget, name, least, delta):
    """At ε = 5 on all rows the AUC is far above a coin's."""
    x, y = pima
    model = getattr(models, name)("5", delta, budget=rho_budget, **public).fit(x, y)

    assert roc_auc_score(y, model.predict_proba(x)[:, 1]) > least


@pytest.mark.parametrize("delta", DELTAS)
def test_regression_finds_a_line(rho_budget, delta):
    """Slopes of the right sign and size; predictions stay inside the bounds.

    Rows far from the centre are shortened, so slopes of evenly spread features come out
    too steep: by up to a half in two dimensions.
    """
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (5000, 2))
    y = 3 * x[:, 0] - x[:, 1] + 5
    model = models.LinearRegression(
        "5", delta, budget=rho_budget, bounds=(0, 10), y_bounds=(-10, 40)
    ).fit(x, y)

    assert 2 < model.coef_[0] < 6
    assert -3 < model.coef_[1] < -0.5
    assert model.score(x, y) > 0.6
    assert model.predict([[1e9, 0], [np.nan, -np.inf]]).tolist()[0] == 40


def test_bc103_predictions_stay_inside_the_bounds(budget):
    """BC103: 100 rows, ε = 0.5, 50 fits: all predictions in 0..500; switchable."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 1, (100, 3)), rng.uniform(0, 500, 100)
    options = {
        "epsilon": "0.5",
        "budget": budget,
        "bounds": (0, 1),
        "y_bounds": (0, 500),
    }
    for _ in range(50):
        model = models.LinearRegression(**options).fit(x, y)
        assert ((model.predict(x) >= 0) & (model.predict(x) <= 500)).all()
    free = models.LinearRegression(clip_predictions=False, **options).fit(x, y)

    assert np.abs(free.predict(x * 1e6)).max() > 500


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(
    "name", ["LogisticRegression", "GaussianNB", "RandomForestClassifier"]
)
def test_bc107_the_order_of_rows_does_not_matter(pima, public, rho_budget, name, delta):
    """BC107: sums are whole numbers, so a shuffled table gives the same model."""
    x, y = pima
    order = np.random.default_rng(2).permutation(len(y))
    found = []
    for rows in (slice(None), order):
        with seeded(3):
            model = getattr(models, name)("1", delta, budget=rho_budget, **public)
            found.append(model.fit(x[rows], y[rows]).predict_proba(x[:50]))

    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.parametrize("delta", DELTAS)
def test_bc107_a_regression_pairs_nothing_by_position(rho_budget, delta):
    """BC107: points on y = x, with one more at the front or at the end: the same slope."""
    x = np.arange(20.0).reshape(-1, 1)
    slopes = []
    for points in (np.vstack([[[50.0]], x]), np.vstack([x[::-1], [[50.0]]])):
        with seeded(4):
            model = models.LinearRegression(
                "1", delta, budget=rho_budget, bounds=(0, 100), y_bounds=(0, 100)
            ).fit(points, points[:, 0])
        slopes.append(model.coef_[0])

    assert slopes[0] == pytest.approx(slopes[1], abs=1e-6)


def test_bc105_an_additive_model_takes_columns_of_any_kind(rho_budget):
    """BC105: missing, constant, text, and at predict a key never seen; charged once."""
    frame = pd.DataFrame(
        {
            "gap": [1.0, None, 3.0, 4.0] * 50,
            "same": [7] * 200,
            "text": ["a", "b", "b", None] * 50,
        }
    )
    schema = sf.Schema(
        {
            "gap": sf.Real(0, 5),
            "same": sf.Integer(0, 10),
            "text": sf.Category(["a", "b"]),
        }
    )
    before = rho_budget.spent
    model = models.AdditiveClassifier(
        "1", "1e-5", budget=rho_budget, schema=schema, classes=[0, 1]
    ).fit(frame, [0, 1, 1, 0] * 50)

    unseen = pd.DataFrame({"gap": [9.0], "same": [None], "text": ["zebra"]})
    assert rho_budget.spent.units - before.units == model.privacy_spent_.units
    assert model.importances_.shape == (3,)
    assert np.isfinite(model.predict_proba(unseen)).all()
    assert [s.name for s in model.shapes()] == ["gap", "same", "text"]
    assert model.shapes()[2].at == ("a", "b")


def test_the_curves_of_an_additive_model_are_what_it_predicts(pima, public, rho_budget):
    """The sum of the curves, at each row's values, plus the offset, is the score."""
    x, y = pima
    model = models.AdditiveClassifier("3", "1e-5", budget=rho_budget, order=3, **public)
    model.fit(x, y)
    middle = np.mean(public["bounds"], axis=0)
    filled = np.where((x == 0) & [c == 0 for c in public["missing"]], middle, x)

    parts = [
        np.interp(filled[:, j], s.at, s.adds[:, 0])
        for j, s in enumerate(model.shapes())
    ]
    offset = model.decision_function([middle]) - sum(
        np.interp(middle[j], s.at, s.adds[:, 0]) for j, s in enumerate(model.shapes())
    )
    assert model.decision_function(x) == pytest.approx(sum(parts) + offset, abs=0.02)
    figure = model.plot_shapes()
    assert len(figure.axes) == 8


@pytest.mark.parametrize("delta", DELTAS)
def test_components_capture_variance(pima, public, rho_budget, delta):
    """At ε = 3 two private axes keep nine tenths of what the best two keep."""
    x, _ = pima
    pca = models.PCA(
        2, epsilon="3", delta=delta, budget=rho_budget, **facts(public)
    ).fit(x)
    rows = scaled(pca, x)
    rows = rows - rows.mean(axis=0)
    best = (np.linalg.svd(rows, compute_uv=False)[:2] ** 2).sum()

    assert ((rows @ pca.components_.T) ** 2).sum() / best > 0.9
    assert pca.transform(x).shape == (768, 2)
    assert pca.inverse_transform(pca.transform(x)).shape == x.shape
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1"]


@pytest.mark.parametrize("delta", DELTAS)
def test_clusters_beat_one_centre(pima, public, rho_budget, delta):
    """At ε = 3 four private centres have less inertia than the best single one."""
    x, _ = pima
    model = models.KMeans(
        4, epsilon="3", delta=delta, budget=rho_budget, **facts(public)
    ).fit(x)
    rows = scaled(model, x)

    inertia = _squares(rows, model.cluster_centers_).min(axis=1).sum()
    assert inertia < ((rows - rows.mean(axis=0)) ** 2).sum()
    assert set(model.predict(x)) <= {0, 1, 2, 3}


def test_nothing_exact_is_kept(pima, public, budget):
    """No labels, inertia, counts or scores of the rows that were fitted."""
    x, y = pima
    exact = {
        "labels_",
        "inertia_",
        "n_samples_",
        "n_samples_seen_",
        "class_count_",
        "loss_",
    }
    for name in models.__all__:
        kind = getattr(models, name)
        if not hasattr(kind, "fit"):
            continue
        known = kind().get_params()
        if "param_grid" in known:  # a search keeps the estimators that stand here
            continue
        options = {k: v for k, v in public.items() if k in known}
        if "y_bounds" in known:
            options["y_bounds"] = (0, 1)
        model = kind(epsilon="1", budget=budget, **options).fit(x, y)
        assert not exact & set(vars(model)), name


def test_a_scaler_says_what_it_gives(pima, public, budget):
    """Means near the true ones at ε = 5; output bounds are those of what comes out."""
    x, _ = pima
    bounds = {"bounds": public["bounds"]}
    scaler = models.StandardScaler("5", budget=budget, **bounds).fit(x)
    low, high = scaler.output_bounds_

    found = scaler.transform(np.array(public["bounds"], float))
    assert found == pytest.approx(np.array([low, high]))
    assert scaler.inverse_transform(found) == pytest.approx(np.array(public["bounds"]))
    plain = models.StandardScaler(
        "5", budget=budget, with_mean=False, with_std=False, **bounds
    ).fit(x)
    assert plain.transform([[1, 100, 70, 20, 80, 30, 0.5, 40]])[0][1] == pytest.approx(
        100
    )


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        (models.KMeans, {"n_clusters": 0}, "n_clusters"),
        (models.KMeans, {"n_clusters": 10**9}, "n_clusters"),
        (models.PCA, {"n_components": 9}, "n_components"),
        (models.RandomForestClassifier, {"max_depth": 99}, "max_depth"),
        (models.AdditiveClassifier, {"order": 0}, "order"),
        (models.AdditiveClassifier, {"smoothness": 0}, "smoothness"),
        (models.LinearRegression, {"ridge": -1, "y_bounds": (0, 1)}, "ridge"),
        (models.LinearRegression, {"y_bounds": (1, 0)}, "y_bounds"),
        (models.LinearRegression, {}, "bounds of the target"),
    ],
)
def test_bad_arguments_cost_nothing(pima, public, kind, options, text):
    """A refusal with a hint, before anything is spent."""
    known = kind().get_params()
    budget = models.ModelBudget("1", dataset="demo")
    own = {k: v for k, v in public.items() if k in known}

    with pytest.raises(sf.DeclarationError, match=text):
        kind(epsilon="1", budget=budget, **{**own, **options}).fit(*pima)

    assert budget.spent.units == 0


def test_numbers_only_where_it_must_be(budget):
    """PCA and the scaler refuse a category, before anything is spent."""
    schema = sf.Schema({"sex": sf.Category(["F", "M"])})
    frame = pd.DataFrame({"sex": ["F", "M"]})

    for model in (models.PCA(epsilon="1"), models.StandardScaler("1")):
        with pytest.raises(sf.DeclarationError, match="numbers only"):
            model.set_params(budget=budget, schema=schema).fit(frame)
    assert budget.spent.units == 0


def test_a_ridge_shrinks(rho_budget):
    """A large public ridge leaves little of the slope."""
    x = np.linspace(0, 1, 2000).reshape(-1, 1)
    for delta in DELTAS:
        slopes = [
            models.LinearRegression(
                "5", delta, ridge=ridge, budget=rho_budget, bounds=(0, 1), y_bounds=(0, 1)
            ).fit(x, x[:, 0]).coef_[0]
            for ridge in (0, 1e5)
        ]  # fmt: skip
        assert abs(slopes[1]) < 0.3 < slopes[0]
