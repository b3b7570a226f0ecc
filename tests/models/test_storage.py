"""Models kept as JSON, and as plain scikit-learn objects, predict as they did."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx

import sfumato as sf
from sfumato import models
from sfumato.errors import DeclarationError
from sfumato.models import load, save, to_sklearn
from sfumato.models.storage import from_json, to_json

KINDS = [n for n in models.__all__ if hasattr(getattr(models, n), "fit")]
KINDS = [n for n in KINDS if n != "PrivateSearchCV"]


def fit(name, pima, public, budget, delta=0, **more):
    """Return a fitted model of a kind."""
    kind = getattr(models, name)
    known = kind().get_params()
    options = {k: v for k, v in public.items() if k in known}
    if "y_bounds" in known:
        options["y_bounds"] = (0, 1)
    return kind(epsilon="1", delta=delta, budget=budget, **options, **more).fit(*pima)


def answers(model, x):
    """Return what a model says of rows."""
    ways = ("predict_proba", "transform", "predict")
    return next(np.asarray(getattr(model, w)(x)) for w in ways if hasattr(model, w))


@pytest.mark.parametrize("name", KINDS)
def test_json_keeps_a_model_whole(pima, public, budget, tmp_path, name):
    """Saved and loaded, each kind answers the same, bit for bit, and keeps its claim."""
    model = fit(name, pima, public, budget)

    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")

    x = np.vstack([pima[0][:50], [[np.nan] * 8]])
    assert np.array_equal(answers(model, x), answers(again, x))
    assert again.privacy_claim_ == model.privacy_claim_
    assert again.privacy_spent_ == model.privacy_spent_
    assert again.budget is None
    assert "pickle" not in (tmp_path / "model.json").read_text()


def test_text_classes_and_keys_survive(budget):
    """Chinese labels, a category and a boolean come back as they were."""
    frame = pd.DataFrame({"sex": ["F", "M"] * 50, "smoker": ["yes", "no"] * 50})
    schema = sf.Schema(
        {"sex": sf.Category(["F", "M"]), "smoker": sf.Boolean(true="yes", false="no")}
    )
    model = models.LogisticRegression(
        "5", budget=budget, schema=schema, classes=["阳性", "阴性"]
    ).fit(frame, ["阳性", "阴性"] * 50)

    again = from_json(to_json(model))

    assert (again.predict(frame) == model.predict(frame)).all()
    assert list(again.feature_names_in_) == ["sex", "smoker"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"format": "sfumato-model", "version": 1, "estimator": "os"}',
        '{"format": "sfumato-model", "version": 2, "estimator": "PCA"}',
    ],
)  # fmt: skip
def test_other_texts_are_refused(text):
    """An error with a hint, whatever the text holds."""
    with pytest.raises(sf.DeclarationError, match="no model"):
        from_json(text)


def test_only_fitted_attributes_are_read(pima, public, budget):
    """A file cannot put anything into a model but fitted numbers."""
    told = json.loads(to_json(fit("PCA", pima, public, budget)))
    told["fitted"]["fit"] = 1

    with pytest.raises(sf.DeclarationError, match="no model"):
        from_json(json.dumps(told))


def test_an_unfitted_model_is_not_saved(tmp_path):
    """There is nothing to save yet, and no file appears."""
    with pytest.raises(sf.DeclarationError, match="fitted"):
        save(models.PCA(), tmp_path / "m.json")

    assert not list(tmp_path.iterdir())


PLAIN = [
    "LogisticRegression",
    "LinearRegression",
    "GaussianNB",
    "KMeans",
    "PCA",
    "StandardScaler",
]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_objects_answer_the_same(pima, public, budget, name):
    """Missing codes and NaN included; nothing of sfumato is in the plain pipeline."""
    more = {"clip_predictions": False} if name == "LinearRegression" else {}
    model = fit(name, pima, public, budget, **more)

    plain = to_sklearn(model)

    x = np.vstack([pima[0][:50], [[np.nan] * 8]])
    got = answers(plain[:-1] and plain, x) if name != "KMeans" else plain.predict(x)
    want = answers(model, x) if name != "KMeans" else model.predict(x)
    assert got == pytest.approx(want)
    assert {type(s).__module__.partition(".")[0] for _, s in plain.steps} == {"sklearn"}


def test_plain_objects_take_frames_of_whole_numbers(budget):
    """A frame with names and integers, as hospitals have them, warns of nothing."""
    frame = pd.DataFrame({"age": [20, 40, 60, 0] * 50, "bmi": [20.5, 30, 40, 25] * 50})
    model = models.LogisticRegression(
        "1",
        budget=budget,
        bounds=([0, 10], [100, 50]),
        missing=[0, None],
        classes=[0, 1],
    ).fit(frame, [0, 1, 1, 0] * 50)

    plain = to_sklearn(model)

    for table in (frame, frame[["age", "bmi"]].astype({"bmi": int})):
        assert plain.predict_proba(table) == pytest.approx(model.predict_proba(table))


@pytest.mark.parametrize("delta", [0, "1e-5"])
def test_plain_objects_of_several_classes(rho_budget, delta):
    """One against the rest, or softmax, as the solver was."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 600)
    x = rng.normal(size=(600, 2)) * 0.2 + np.array([[-0.5, 0], [0.5, 0], [0, 0.6]])[y]
    model = models.LogisticRegression(
        "5", delta, budget=rho_budget, bounds=(-1, 1), classes=["a", "b", "c"]
    ).fit(x, np.array(["a", "b", "c"])[y])

    plain = to_sklearn(model)

    assert plain.predict_proba(x) == pytest.approx(model.predict_proba(x))
    assert (plain.predict(x) == model.predict(x)).all()


@pytest.mark.parametrize("name", ["RandomForestClassifier", "AdditiveClassifier"])
def test_what_has_no_plain_counterpart_says_so(pima, public, budget, name):
    """An error with a hint instead of something that predicts otherwise."""
    with pytest.raises(sf.DeclarationError, match="no plain counterpart"):
        to_sklearn(fit(name, pima, public, budget))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.filterwarnings("ignore")
def test_onnx_takes_the_plain_objects(pima, public, budget, name):
    """The graph that skl2onnx makes answers as the plain object does, in 32 bits.

    Not on the rows themselves, where a missing cell is exactly 0 in any precision, but
    on rows between the bounds, so that no answer hangs on the last bit.
    """
    model = fit(name, pima, public, budget)
    low, high = map(np.array, public["bounds"])
    rows = low + (high - low) * np.random.default_rng(0).uniform(0.2, 0.8, (40, 8))
    x = rows.astype(np.float32)

    plain = to_sklearn(model)
    graph = skl2onnx.to_onnx(plain, x[:1])
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    found = session.run(None, {session.get_inputs()[0].name: x})

    way = "transform" if name in ("PCA", "StandardScaler") else "predict"
    wanted = np.ravel(getattr(plain, way)(x.astype(float)))
    if way == "predict" and name != "LinearRegression":  # one label may be a tie
        assert (np.ravel(found[0]) == wanted).sum() >= len(x) - 1
    else:
        assert np.ravel(found[0]) == pytest.approx(wanted, rel=1e-3, abs=1e-3)
    if hasattr(plain, "predict_proba"):
        chances = [[each[0], each[1]] for each in found[1]]
        assert np.array(chances) == pytest.approx(
            plain.predict_proba(x.astype(float)), abs=1e-4
        )


def test_onnx_takes_missing_codes_and_nan(pima, public, budget):
    """Filled with the public middle inside the graph."""
    model = fit("LogisticRegression", pima, public, budget)
    plain = to_sklearn(model)
    x = np.vstack([pima[0][:30], [[np.nan] * 8]]).astype(np.float32)

    graph = skl2onnx.to_onnx(plain, x[:1])
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    (_, chances) = session.run(None, {session.get_inputs()[0].name: x})

    wanted = model.predict_proba(x.astype(float))[:, 1]
    assert [each[1] for each in chances] == pytest.approx(wanted, abs=1e-4)


def test_a_search_is_not_saved_but_its_model(tmp_path):
    """What was written could not predict."""
    x = np.linspace(-1, 1, 40).reshape(-1, 1)
    found = models.PrivateSearchCV(
        models.LogisticRegression(bounds=(-1, 1), classes=[0, 1]), {"degree": [1, 2]},
        epsilon="4", budget=models.ModelBudget("4"),
    ).fit(x, (x[:, 0] > 0).astype(int))  # fmt: skip

    with pytest.raises(sf.DeclarationError, match="its model is"):
        save(found, tmp_path / "m.json")
    save(found.best_estimator_, tmp_path / "m.json")
    assert load(tmp_path / "m.json").predict(x).shape == (40,)


def test_a_file_that_is_no_text_is_no_model(tmp_path):
    """One error, whatever the bytes."""
    (tmp_path / "m.json").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(sf.DeclarationError, match="no model"):
        load(tmp_path / "m.json")


def test_an_endless_number_is_written_as_json_knows_it():
    """A model that read facts from rows has spent without end."""
    x = np.linspace(-1, 1, 40).reshape(-1, 1)
    model = models.LogisticRegression(
        "1", budget=models.ModelBudget("1"), classes=[0, 1], on_leak="warn"
    )
    with pytest.warns(models.PrivacyLeakWarning):
        text = to_json(model.fit(x, (x[:, 0] > 0).astype(int)))

    assert "Infinity" not in text
    assert from_json(text).privacy_spent_ == float("inf")


def test_a_file_that_is_not_there_is_told_as_elsewhere(tmp_path):
    """A fact and a hint, not the system's bare words."""
    with pytest.raises(
        DeclarationError, match="cannot be read: No such file"
    ) as refused:
        load(tmp_path / "nothing.model.json")

    assert "check the path" in refused.value.hint
