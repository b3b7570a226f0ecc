"""The catalogue of clinical bounds: found by name only, always usable."""

import pytest

from sfumato.declare.catalogue import CATALOGUE, suggest
from sfumato.declare.schema import Category, Real


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda e: e.english)
def test_an_entry_can_be_declared_and_names_its_source(entry):
    """Each entry makes a valid declaration, in both languages, with a source."""
    assert entry.english
    assert entry.chinese
    assert entry.source
    assert bool(entry.ranges) != bool(entry.keys)
    for bounds in entry.ranges:
        assert Real(bounds.lower, bounds.upper, step=bounds.step).width > 0
    assert bool(entry.native) <= bool(entry.keys)
    for keys in (*entry.keys, *filter(None, [entry.native])):
        assert Category(keys).values == keys


def test_every_name_leads_to_one_entry():
    """No alias is claimed twice."""
    names = [n for e in CATALOGUE for n in (e.english, e.chinese, *e.aliases)]

    for name in names:
        found = suggest(name)
        assert found is not None
        assert name in (found.entry.english, found.entry.chinese, *found.entry.aliases)


@pytest.mark.parametrize(
    "name", ["Glucose", "glucose", "GLUCOSE ", "fasting_glucose", "Fasting Glucose",
             "血糖", "空腹血糖", "FPG", "glucose (mg/dL)", "血糖（mmol/L）"]
)  # fmt: skip
def test_spelling_does_not_matter(name):
    """Case, blanks, underscores and width do not matter."""
    assert suggest(name).entry.english == "Glucose"


@pytest.mark.parametrize(
    "entry", [e for e in CATALOGUE if e.keys], ids=lambda e: e.english
)
def test_keys_are_spelt_in_the_language_of_the_column(entry):
    """A Chinese column begins with Chinese keys, and no spelling is lost either way."""
    for name in (entry.english, entry.chinese, *entry.aliases):
        found = suggest(name)
        chinese = any("\u4e00" <= sign <= "\u9fff" for sign in name)

        assert found.keys == (entry.native if chinese else entry.keys[0])
        assert {found.keys, *found.spellings} == {*entry.keys, entry.native}


def test_a_missing_code_is_no_plausible_value():
    """A code that means missing lies outside the plausible bounds."""
    for entry in CATALOGUE:
        for bounds in entry.ranges[:1]:
            assert all(not bounds.lower < code < bounds.upper for code in entry.missing)


@pytest.mark.parametrize("name", ["", "x", "glucoses2", "()", "(mg/dL)"])
def test_what_is_not_known_is_not_guessed(name):
    """An unknown name gets no suggestion."""
    assert suggest(name) is None
