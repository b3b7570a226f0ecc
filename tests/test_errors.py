"""What an error says is short, whatever was written."""

import pickle

import pytest

import sfumato as sf
from sfumato.errors import SfumatoError


def refusal(said, **facts):
    """Return an error of one fact."""
    return SfumatoError(said, hint="write {x} less", **facts)


@pytest.mark.parametrize(("value", "shown"), [
    ("1" * 40, "1" * 40), ("12345" + "0" * 36, "1.2345e40"), (f"ε {10**400}", "ε 1.0000e400"),
    ("a" * 99, "a" * 99), ("7" * 64 + "f", "7" * 64 + "f"), ("0." + "1" * 50, "0." + "1" * 50), (3, "3"),
])  # fmt: skip
def test_long_numbers_are_shortened(value, shown):
    """A number of more than 40 digits is told by its size; digests and fractions stand."""
    error = refusal("got {x}", x=value)

    assert error.fact == f"got {shown}"
    assert error.hint == f"write {shown} less"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_enormous_epsilon_is_refused_in_one_line():
    """It was told with 400 zeros."""
    data = sf.Dataset([{"x": 1}], schema=sf.Schema({"x": sf.Real(0, 2)}))
    session = sf.Session(data, "1")

    with pytest.raises(sf.SfumatoError) as refused:
        session.query().select(sf.count()).release("1e400")

    assert len(str(refused.value)) < 250
    assert "1.0000e400" in str(refused.value)


def test_whose_budget_is_too_small_is_said_in_the_language(monkeypatch):
    """`analyst` stood in the middle of a Chinese sentence."""
    monkeypatch.setattr("sfumato.errors.translate", lambda text, lang: f"{lang}:{text}")
    refused = refusal("{x} is left to {kind} {name}", x=1, kind="analyst", name="'Wu'")
    assert refused.say("zh")[0] == "zh:1 is left to zh:analyst 'Wu'"
    assert refusal("got {kind}", kind=[1], x=1).say("zh")[0] == "zh:got [1]"
