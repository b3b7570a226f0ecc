"""Questions, measurements and units are told in the reader's language, not stored so."""

import re
from dataclasses import replace

import pytest

import sfumato as sf
from sfumato.declare.derived import read_derived
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.shown import Order, Shown
from sfumato.post.tell import _NAMES
from sfumato.release.asked import question_words
from sfumato.release.noted import measured_words
from sfumato.release.show import to_text
from sfumato.release.wording import measure_words
from sfumato.words import speaker

ENGLISH = speaker("en")


def marked(_, **facts):
    """Say every text as one sign, and its facts."""
    return " ".join(["中", *map(str, facts.values())])


@pytest.mark.parametrize(("question", "told"), [
    ("count by Sex", "Number of rows, for each Sex"),
    ("count by Sex where A > 3", "Number of rows, for each Sex; where A > 3"),
    ("count by Sex with old = (A > 9)", "Number of rows, for each Sex; with old = (A > 9)"),
    ("count by Sex having count > 9", "Number of rows, for each Sex; having count > 9"),
    ("count by Sex, first 3", "Number of rows, for each Sex; the first 3"),
    ("count by Sex; of labs", "Number of rows, for each Sex; of labs"),
    ("count by Sex (2 listed keys)", "Number of rows, for each Sex (2 listed keys)"),
    ("count by Sex; Age clipped to [0, 90], a b clipped to [-1, 2]",
     "Number of rows, for each Sex; Age clipped to [0, 90], a b clipped to [-1, 2]"),
    ("count by Sex (1 listed keys) and rest", "Number of rows, for each Sex (1 listed key); all other rows as rest"),
    ("something else", "something else"),
    ("mean_Age by Sex where A > 3, first 2", "mean_Age, for each Sex; where A > 3; the first 2"),
])  # fmt: skip
def test_a_question_is_told_in_words(question, told):
    """What the figures say is in words, what filters it in the notation of filters."""
    asked = (["Number of rows"], ["Sex"])

    assert question_words(question, ["count"], asked, ENGLISH) == told


LABS = sf.Schema({"x": sf.Integer(0, 9), "day": sf.Date("2020-01-01", "2024-01-01")})
VISITS = Part(Other("visits", LABS), condition=sf.col("x") > 2)
WORST = PerPerson(VISITS, (
    ("w", sf.feature.max("x")), ("n", sf.feature.count(most=3)),
    ("e", sf.feature.last("x", by="day")),
))  # fmt: skip
QUERY = Query(
    (sf.count(), sf.mean("w")), ("Sex",),
    sf.col("a b").is_in([" with ", "c"]) & sf.col("t").starts_with("("),
    derived=(read_derived("old", sf.col("x") > 3, None),),
    shown=Shown(sf.col("count") > 3, (Order("count", descending=True), Order("Sex")), 2),
)  # fmt: skip


@pytest.mark.parametrize("base", [
    None, Other("visits", LABS), WORST, Joined(VISITS, Part(WORST)), Joined(Part(), Part()),
    United((Part(), VISITS)), Looked(Part(), ("code",), Lookup("sites", ("code",), (), ())),
])  # fmt: skip
def test_nothing_of_the_programs_own_words_is_left(base):
    """Filters, order, and whose rows: each in words, names and filters as written."""
    question = f"{replace(QUERY, base=base)}"
    asked = (["n", "m"], ["Sex"])
    told = question_words(question, ["count", "mean_w"], asked, marked)
    english = question_words(question, ["count", "mean_w"], asked, ENGLISH)

    own = r"\b(where|having|ordered|descending|first|one row|the table|joined|on)\b"
    assert not re.search(own, told)
    kept = "a b in [' with ', 'c'] and t starts with '('", "old = (x > 3)", "count > 3"
    assert all(words in told for words in kept)
    assert base is None or english.endswith(f"; of {base}")


def test_found_bounds_are_told_in_words():
    """Each column that was clipped, by its own name, in the reader's language."""
    question = "count; Age clipped to [0, 90], a b clipped to [-1, 2]"
    told = question_words(question, ["count"], (["n"], []), marked)

    assert "clipped" not in told
    assert all(part in told for part in ("中 Age [0, 90]", "中 a b [-1, 2]"))


def test_a_release_shows_its_question_in_the_readers_words():
    """Not as the record stores it, which is the same in every language."""
    schema = sf.Schema({"Age": sf.Integer(0, 99), "Sex": sf.Category(["F", "M"])})
    data = sf.Dataset([{"Age": 30, "Sex": "F"}] * 9, schema=schema, name="t")
    ask = sf.Session(data, budget="1").query().where(sf.col("Age") >= 3).group_by("Sex")
    release = ask.select(sf.count(), sf.mean("Age")).release(epsilon="1")

    first = {lang: to_text(release, lang=lang).splitlines()[0] for lang in ("en", "zh")}

    assert release.question == "count, mean_Age by Sex where Age >= 3"
    assert first["en"] == "Number of rows, Mean of Age, for each Sex; where Age >= 3"
    assert not re.search(r"\b(by|count|mean_Age)\b", first["zh"])


@pytest.mark.parametrize("name", _NAMES.values())
def test_every_measurement_has_words(name):
    """The names that records use are words of the program."""
    told = measured_words(f"{name}(x | y)", marked)

    assert name not in told and "x" not in told.replace("中 x", "") and "y" in told


@pytest.mark.parametrize("kind", _NAMES)
def test_a_plan_and_its_record_name_a_measurement_alike(kind):
    """The plan by the class of the aggregate, the record by a name of its own."""
    plan, record = f"{kind.__name__}(x | y)", f"{_NAMES[kind]}(x | y)"

    assert measured_words(plan, ENGLISH) == measured_words(record, ENGLISH)
    assert kind.__name__ not in measured_words(plan, ENGLISH)


def test_an_unknown_measurement_keeps_its_name():
    """A record of another version is shown as it is."""
    assert measured_words("odd(x)", ENGLISH) == "odd(x)"


@pytest.mark.parametrize(("unit", "told"), [
    ("years", "中"), ("days²", "中²"), ("(mg/dL) · days", "(mg/dL) · 中"), ("mg/dL", "mg/dL"),
    ("days since 1970-01-01", "中"), ("light-years", "light-中"), ("", ""), ("rows", "中"),
])  # fmt: skip
def test_units_of_time_are_words(unit, told):
    """Units of measurement are international; those of time are not."""
    assert measure_words(unit, marked) == told


@pytest.mark.parametrize(("column", "told"), [
    ("Age", "years of age²"), ("age_at_death", "years of age²"), ("patientAge", "years of age²"),
    ("年龄", "years of age²"), ("duration", "years²"), ("Agent", "years²"), ("stage", "years²"),
])  # fmt: skip
def test_years_of_an_age_are_not_years_of_time(column, told):
    """Chinese has two words, 岁 and 年; English has one."""
    assert measure_words(
        "years²", lambda text: f"{text}!", "x", column
    ) == told.replace("²", "!²")
    assert measure_words("years²", ENGLISH, None, column) == "years²"


def test_a_hostile_question_is_told_soon():
    """A release may come from a stranger: a thousand of these took 18 seconds, by the cube."""
    question = f"count; of one row per person ({'first(a by ' * 4000}) of x"

    assert question_words(question, ["count"], (["Rows"], []), ENGLISH).endswith("of x")
