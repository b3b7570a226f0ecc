"""What an audit notes in the program's words is told in the reader's."""

import re

import numpy as np
import pytest

from sfumato.audit.event import Draws, events
from sfumato.release.noted import fact_words
from sfumato.words import speaker

LAWS = [
    "r: joint noise of 14 numbers, scale 256",
    "r: geometric, scale 10",
    "r: geometric, scale 10.5, cut at 120",
    "r: Gaussian (discrete), σ 3.5",
    "r: Gaussian (whole), σ 3.5",
    "70 of 100 guesses right, 400 canaries",
    "no guess",
    "error",
]


def marked(_, **facts):
    """Say every text as one sign, and its facts."""
    return " ".join(["中", *map(str, facts.values())])


@pytest.mark.parametrize("text", LAWS)
def test_no_word_of_the_program_is_left(text):
    """Each law is a text to be translated, and no number of it is lost."""
    told = fact_words(text, marked)

    assert not re.search("[A-Za-z]{2,}", told)
    numbers = re.compile(r"\d+(?:\.\d+)?")
    assert sorted(numbers.findall(told)) == sorted(numbers.findall(text))


def test_every_event_is_told_in_the_readers_words():
    """Whatever the black box looks for, of integers and of numbers that are missing."""
    rng = np.random.default_rng(0)
    numbers = {f"integer {i}.1": rng.normal(size=60).round(1) for i in (1, 2)}
    numbers["integer 1.1"][:30] = np.nan
    draws = Draws({}, numbers, 60)
    names = {event.name for event in events(draws, draws)}

    assert any("missing" in name for name in names)
    assert any("bit" in name for name in names)
    for name in names:
        assert not re.search("[A-Za-z]{2,}", fact_words(name, marked)), name


def test_in_english_nothing_is_lost():
    """The English words name the law as well."""
    told = fact_words("r: geometric, scale 10, cut at 99", speaker("en"))

    assert told == "r: two-sided geometric noise, scale 10, cut off at 99"
