"""What the functions of synthetic tables cannot use is refused before anything is done."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError, quoted
from sfumato.synth import LinkedSynthesis, LinkedSynthesizer, Synthesis, Synthesizer
from sfumato.testing import seeded

ROWS = [{"Age": i % 90, "Sex": "FM"[i % 2], "g": i % 3 == 0} for i in range(300)]
SCHEMA = sf.Schema(
    {"Age": sf.Integer(0, 90), "Sex": sf.Category(["F", "M"]), "g": sf.Boolean()}
)
BIG = 10**5000


def session():
    return sf.Session(sf.Dataset(ROWS, schema=SCHEMA, name="t"), budget="9")


@pytest.fixture(scope="module")
def made():
    with seeded(7):
        return Synthesizer("independent").fit(session(), epsilon="5")


REFUSED = {
    "a column twice": (lambda m: m.marginal("Age", "Age"), "each named once"),
    "no column": (lambda m: m.marginal(), "each named once"),
    "no value": (lambda m: m.sample(5, where={"Sex": []}), "lists no value"),
    "no mapping": (lambda m: m.sample(5, where="Sex"), "given by column"),
    "a number of conditions": (lambda m: m.sample(5, where=3), "given by column"),
    "a large key": (lambda m: m.sample(5, where={"Sex": BIG}), "no declared key"),
    "a large number": (lambda m: m.sample(5, where={"Age": BIG}), "is forbidden"),
    "a seed of text": (lambda m: m.sample(5, seed="x"), "a seed is a whole number"),
    "half a seed": (lambda m: m.sample(5, seed=1.5), "a seed is a whole number"),
    "a true seed": (lambda m: m.sample(5, seed=True), "a seed is a whole number"),
    "a large seed": (lambda m: m.sample(5, seed=BIG), "a seed is a whole number"),
    "many rows": (lambda m: m.sample(BIG), "number of rows must be"),
    "no path": (lambda m: m.save(None), "a file has a path"),
    "a path of numbers": (lambda _: Synthesis.load([1]), "a file has a path"),
    "no path of rows": (lambda m: m.sample(5).save(3), "a file has a path"),
    "no linked path": (lambda _: LinkedSynthesis.load(3), "a file has a path"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_made_table_refuses(made, name):
    """With a fact and a hint, in both languages."""
    act, text = REFUSED[name]

    with pytest.raises(SfumatoError, match=text) as refused:
        act(made)

    assert all(refused.value.say("zh"))


def test_what_is_right_is_taken(made):
    """A seed of numpy, a list of one value, columns in any order."""
    first, again = (made.sample(5, seed=s) for s in (np.int64(7), 7))

    assert first.to_pandas().equals(again.to_pandas())
    assert len(made.sample(5, where={"Sex": ["F"], "g": None})) == 5
    assert pytest.approx(made.marginal("Age", "Sex")) == made.marginal("Sex", "Age").T


SETTINGS = ("columns", "complete", "forbid", "marginals", "weights", "ways", "rounds",
            "surrogates", "memory", "dependent", "cells", "bins", "method")  # fmt: skip
WRONG = (3, -1, BIG, 1.5, float("nan"), [3], {1: 2}, (1, 2), object())


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_is_refused_or_taken(setting):
    """No setting ends in an error of Python."""
    for value in WRONG:
        if setting in ("ways", "rounds", "cells", "bins") and value == 3:
            continue
        with pytest.raises(SfumatoError):
            Synthesizer(**{setting: value}).plan(session(), epsilon="5")


def test_a_set_of_names_has_a_fixed_order():
    """Python's order of a set changes with each process: the receipt's digest must not."""
    names = [f"c{i:02}" for i in range(14)]  # in order by luck once in 10^10 processes
    pairs = [frozenset(pair) for pair in zip(names, names[1:])]

    sets = Synthesizer(columns=set(names), marginals=set(pairs),
                       weights={frozenset(names[:9]): 2}, surrogates=set(names))  # fmt: skip
    lists = Synthesizer(columns=names, marginals=[tuple(sorted(p)) for p in pairs],
                        weights={tuple(names[:9]): 2}, surrogates=names)  # fmt: skip

    assert sets.options.settings == lists.options.settings


@pytest.mark.parametrize("wrong", [3, "x", BIG, [1]], ids=["3", "x", "big", "list"])
@pytest.mark.parametrize("argument", ["start", "title", "progress", "public"])
def test_a_fit_is_refused_before_the_debit(argument, wrong):
    """Progress above all: after the debit it would cost the answer."""
    if argument == "title" and wrong == "x":
        return
    paying = session()

    with pytest.raises(SfumatoError):
        Synthesizer().fit(paying, epsilon="1", **{argument: wrong})
    if argument == "progress":
        with pytest.raises(SfumatoError, match="progress is a function"):
            Synthesizer().plan(paying, epsilon="1").fit(wrong)

    assert paying.left == sf.Epsilon("9")


@pytest.mark.parametrize(
    "others", [3, "visits", BIG, [1], [BIG]], ids=["3", "text", "big", "1", "in"]
)
def test_linked_tables_are_given_by_name(others):
    """As sessions by name, or as names of private tables."""
    unit = sf.Unit("id", max_rows=1, max_groups=1)
    rows = [{"id": i, "g": i % 3 == 0} for i in range(30)]
    data = sf.Dataset(rows, schema=sf.Schema({"g": sf.Boolean()}, unit), name="t")
    paying = sf.Session(data, budget="9")

    with pytest.raises(SfumatoError):
        LinkedSynthesizer().fit(paying, others, epsilon="1")

    assert paying.left == sf.Epsilon("9")


@pytest.mark.parametrize("setting", ["head", "others", "shared", "weights"])
def test_settings_of_linked_tables_are_refused_by_name(setting):
    """Before anything is opened."""
    wrong = [3, BIG, "x", [1], {"visits": "x"}]
    for value in wrong[: 4 if setting in ("shared", "weights") else 5]:
        with pytest.raises(SfumatoError, match=f"with {setting}="):
            LinkedSynthesizer(**{setting: value})


@pytest.mark.parametrize("rows", [-1, "x", None, BIG, float("nan"), [1]], ids=quoted)
def test_a_guess_of_rows_is_a_number(rows):
    """Of what is expected of a plan, and of its warnings."""
    plan = Synthesizer().plan(session(), epsilon="1")

    for act in (plan.expected, plan.warnings):
        with pytest.raises(SfumatoError, match="the guess of the number of rows"):
            act(rows=rows)
