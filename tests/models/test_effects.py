"""The lines of a model card: one number per output, of whatever the model has."""

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato import models
from sfumato.models.card import _promise
from sfumato.models.effects import effects, intercept_words, order_words

FRAME = pd.DataFrame({"age": [1.0, 9.0] * 50, "sex": ["F", "M"] * 50})
COLUMNS = {"age": sf.Real(0, 10), "sex": sf.Category(["F", "M"])}


def say(text, **values):
    """Return a text in English."""
    return text.format(**values)


def lines(model):
    """Return what the card says of each feature."""
    return list(effects(model, ["age", "sex"], say))


def fitted(name, budget, classes=("n", "y"), **options):
    """Return a model of a number and a category."""
    kind = getattr(models, name)
    options |= {"schema": sf.Schema(COLUMNS), "classes": list(classes)}
    y = [classes[i % len(classes)] for i in range(100)]
    return kind("5", budget=budget, **options).fit(FRAME, y)


def test_coefficients_are_told_per_unit_and_over_the_range(budget):
    """A number by its bounds, a key by itself."""
    model = fitted("LogisticRegression", budget)

    age, woman, man = lines(model)

    assert age.bounds == "0 – 10" and [woman.name, man.name] == ["sex = F", "sex = M"]
    assert float(age.coefficient) == pytest.approx(model.coef_[0, 0], rel=1e-3)
    assert float(age.effect) == pytest.approx(10 * model.coef_[0, 0], abs=0.006)
    assert float(man.coefficient) == pytest.approx(model.coef_[0, 2], rel=1e-3)
    assert order_words(model, say) == ""
    assert float(intercept_words(model)) == pytest.approx(model.intercept_[0], rel=1e-3)


def test_several_classes_have_several_numbers(budget):
    """One per class, and the card says in which order."""
    model = fitted("LogisticRegression", budget, classes=("a", "b", "c"))

    told = lines(model)[0].coefficient.split(" / ")

    assert [float(t) for t in told] == pytest.approx(model.coef_[:, 0], rel=1e-3)
    assert order_words(model, say).endswith("a / b / c")
    assert len(intercept_words(model).split(" / ")) == 3


def test_naive_bayes_has_the_coefficients_of_its_line(budget):
    """Its rule is linear, so that it can be told."""
    model = fitted("GaussianNB", budget)

    one, ten = (
        model.decision_function(pd.DataFrame({"age": [a], "sex": ["F"]}))[0]
        for a in (1.0, 10.0)
    )

    assert 9 * float(lines(model)[0].coefficient) == pytest.approx(ten - one, rel=1e-2)


def test_curves_are_told_by_how_far_they_swing(budget):
    """An additive model has no coefficients, but what each feature adds."""
    model = fitted("AdditiveClassifier", budget)
    curve = model.shapes()[0].adds[:, 0]

    age, _, man = lines(model)

    assert age.coefficient == ""
    assert float(age.effect) == pytest.approx(np.ptp(curve), abs=0.006)
    assert float(man.effect) == pytest.approx(model.shapes()[1].adds[1, 0], abs=0.006)


def test_a_forest_has_no_numbers_of_a_feature(budget):
    """The lines name the features all the same."""
    found = lines(fitted("RandomForestClassifier", budget))

    assert [e.coefficient + e.effect for e in found] == ["", "", ""]


@pytest.mark.parametrize("unit", ["row", "person"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_card_names_neighbours_of_its_unit(unit, neighbours):
    """Where persons are protected, tables differ by a person and not by a row."""
    claim = {"epsilon": "1", "delta": "0", "unit": unit, "neighbours": neighbours}

    told = _promise(claim, say).partition("tables: ")[2]

    assert unit in told and {"row": "person", "person": "one row"}[unit] not in told
