"""JSON and CSV hold a release exactly; nothing in them runs."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import re
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Measure, epsilon_at
from sfumato.account.loss import ATTO, decimal_text
from sfumato.errors import ArgumentError, MissingExtraError
from sfumato.release import (
    Claim,
    Figure,
    Measurement,
    Noise,
    Receipt,
    Release,
    from_json,
    tables,
)
from sfumato.release.loss import read

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers()
amounts = st.decimals(0, 100, places=12).map(lambda d: f"{d:f}")
keys = st.text() | st.integers() | st.booleans()
pairs = st.tuples(numbers, numbers).map(lambda p: (min(p), max(p)))
noises = st.builds(Noise, st.text(), amounts, numbers, amounts, st.integers(1))


@st.composite
def figures(draw: st.DrawFn) -> Figure:
    low, high = draw(pairs)
    return Figure(
        draw(st.text()),
        draw(st.sampled_from(("count", "sum", "mean", "histogram"))),
        draw(st.none() | st.text()),
        draw(st.dictionaries(st.text(), keys, max_size=3)),
        draw(numbers),
        low,
        high,
        tuple(draw(st.lists(noises, max_size=2))),
        draw(st.text()),
        draw(st.none() | keys | pairs),
    )


deltas = st.integers(0, ATTO - 1).map(lambda n: decimal_text(n, 18))
rhos = amounts | st.tuples(amounts, deltas).map(" + delta ".join)


@st.composite
def claims(draw: st.DrawFn) -> Claim:
    measure = draw(st.sampled_from(get_args(Measure)))
    losses = rhos if measure == "zcdp" else amounts
    loss, paid, spent, cap = (draw(losses) for _ in range(4))
    receipt = Receipt(
        draw(st.text()), draw(st.integers(1)), paid, spent, cap, draw(st.text()),
        draw(st.text()), draw(st.text()),
    )  # fmt: skip
    pure = measure == "epsilon"
    return Claim(
        measure,
        loss,
        loss if pure else draw(st.none() | amounts),
        "0" if pure else draw(deltas),
        draw(st.text()),
        draw(st.text()),
        draw(st.none() | st.integers(1)),
        receipt,
        draw(st.booleans()),
    )


measurements = st.builds(
    Measurement, st.text(), numbers, noises,
    st.lists(st.integers(), max_size=4).map(tuple),
)  # fmt: skip
releases = st.builds(
    Release,
    st.text(),
    st.text(),
    st.lists(figures(), max_size=4).map(tuple),
    st.floats(0, 1, exclude_min=True, exclude_max=True),
    claims(),
    st.lists(measurements, max_size=2).map(tuple),
)


def refuse(token: str) -> None:
    raise AssertionError(token)


@settings(deadline=None)
@given(releases)
def test_json_round_trip(release: Release) -> None:
    """Reading what was written gives an equal release, types and all."""
    text = release.to_json()

    again = from_json(text)

    assert again == release
    assert again.to_json() == text
    assert [type(f.bin) for f in again] == [type(f.bin) for f in release]
    assert json.loads(text, parse_constant=refuse) == release.to_dict()


@settings(deadline=None)
@given(releases)
def test_csv_holds_every_number(release: Release) -> None:
    """Numbers read back from CSV are the numbers of the release."""
    rows = list(csv.DictReader(io.StringIO(release.to_csv(), newline="")))

    assert [float(r["estimate"]) for r in rows] == [float(f.estimate) for f in release]
    assert [float(r["low"]) for r in rows] == [float(f.low) for f in release]


def test_json_keys(release: Release) -> None:
    """The document has the published keys and a figure per line."""
    document = json.loads(release.to_json(), parse_constant=refuse)

    assert list(document) == [
        "schema_version", "title", "question", "confidence", "figures", "claim",
        "measurements",
    ]  # fmt: skip
    assert document["schema_version"] == 1
    assert document["figures"][4] == {
        "name": "histogram_Age",
        "kind": "histogram",
        "column": "Age",
        "group": {},
        "estimate": 12,
        "interval": [3, 21],
        "noise": [
            {
                "law": "geometric",
                "scale": "4",
                "step": 1.0,
                "loss": "0.25",
                "joint": 1,
            }
        ],
        "unit": "",
        "bin": [20.0, 40.0],
    }
    assert (
        sum('"name": "mean_Age"' in line for line in release.to_json().split("\n")) == 2
    )


def test_json_claim_keys(release: Release) -> None:
    """Claim, receipt and measurement have the published keys: schema version 1."""
    document = release.to_dict()

    assert list(document["claim"]) == [
        "measure", "loss", "epsilon", "delta", "unit", "neighbours", "size", "receipt",
        "private",
    ]  # fmt: skip
    assert list(document["claim"]["receipt"]) == [
        "dataset", "sequence", "cost", "spent", "cap", "plan", "time", "head",
    ]  # fmt: skip
    (measurement,) = document["measurements"]
    assert list(measurement) == ["name", "sensitivity", "noise", "values"]
    assert list(measurement["noise"]) == ["law", "scale", "step", "loss", "joint"]


def test_every_budget_round_trips(of_kind: Release) -> None:
    """JSON keeps the amounts of each kind of budget to the last digit."""
    text = of_kind.to_json()

    assert from_json(text) == of_kind
    assert from_json(text).to_json() == text


def test_every_budget_in_tables(of_kind: Release) -> None:
    """CSV and frames hold currency and loss; an ε that no δ names is left empty."""
    claim = of_kind.claim
    rows = list(csv.DictReader(io.StringIO(of_kind.to_csv(), newline="")))
    pandas, polars = of_kind.to_pandas(), of_kind.to_polars()

    for name in ("measure", "loss", "delta"):
        held = getattr(claim, name)
        assert rows[0][name] == pandas[name][0] == polars[name][0] == held
    assert rows[0]["epsilon"] == (claim.epsilon or "")
    assert polars["epsilon"][0] == claim.epsilon
    assert pandas["epsilon"].isna().all() == (claim.epsilon is None)
    assert rows[0]["noise_loss"] == claim.loss
    assert "None" not in of_kind.to_csv()


def test_the_kinds_are_consistent(of_kind: Release) -> None:
    """The ε of each claim in these tests is the one that its loss implies at its δ."""
    claim = of_kind.claim

    implied = epsilon_at(read(claim.measure, claim.loss), claim.delta)

    assert claim.epsilon == (None if implied is None else str(implied))


def test_json_refuses_nan(release: Release) -> None:
    """A number that JSON has no token for is never written."""
    broken = replace(release.figures[0], estimate=float("nan"))

    with pytest.raises(ValueError, match="JSON"):
        replace(release, figures=(broken,)).to_json()


def test_json_reads_bytes_with_a_mark(release: Release) -> None:
    """Bytes from an editor that adds a byte-order mark are read."""
    assert from_json(release.to_json().encode("utf-8-sig")) == release


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ('"schema_version": 1', '"schema_version": 2', "schema version 2"),
        ('"schema_version": 1', '"schema_version": 0', "schema_version is not a known"),
        ('"schema_version": 1', '"schema_version": true', "must be a whole number"),
        ('"schema_version": 1,', "", "schema_version is missing"),
        ('"title": "Pima"', '"title": 7', "title must be text"),
        ('"title"', '"titel"', "titel is not a field"),
        ('"estimate": 768', '"estimate": NaN', "NaN is not a number"),
        ('"estimate": 768', '"estimate": 1e999', r"estimate must be a finite number"),
        ('"estimate": 768', '"estimate": true', "estimate must be a number"),
        ('"estimate": 768', '"estimate": 1, "estimate": 2', "given twice"),
        ('"interval": [756, 780]', '"interval": [780, 756]', r"figures\[0\].interval"),
        ('"interval": [756, 780]', '"interval": [756]', "two numbers in order"),
        ('"kind": "count"', '"kind": "guess"', "not a statistic"),
        ('"bin": "M"', '"bin": 1.5', r"figures\[7\].bin"),
        ('"epsilon": "0.5"', '"epsilon": "ten"', "claim.epsilon"),
        ('"epsilon": "0.5"', '"epsilon": "-1"', "0 or more"),
        ('"epsilon": "0.5"', '"epsilon": "0.4"', "claim.epsilon must be the loss"),
        ('"epsilon": "0.5"', '"epsilon": null', "claim.epsilon must be the loss"),
        ('"delta": "0"', '"delta": "0.1"', "claim.delta must be that of the loss"),
        ('"delta": "0"', '"delta": "1"', "claim.delta must lie in"),
        ('"delta": "0"', '"delta": "1e-19"', "in steps of 1e-18"),
        ('"measure": "epsilon"', '"measure": "bits"', "not a currency"),
        ('"cap": "2"', '"cap": "2 + delta 0.1 + delta 0.1"', "cap must be the text"),
        ('"head": "', '"tail": "', "tail is not a field"),
        ('"private": true', '"private": "yes"', "true or false"),
        ('"confidence": 0.95', '"confidence": 95', "between 0 and 1"),
        ('"values": [768]', '"values": 768', "must be a list"),
        ('"group": {"Outcome": 0}', '"group": [0]', "must be an object"),
        ("{", "", "not a JSON text"),
    ],
)
def test_json_refuses(release: Release, old: str, new: str, fact: str) -> None:
    """A document that is not a release is refused, and the place is named."""
    text = release.to_json()
    assert old in text

    with pytest.raises(ArgumentError, match=fact) as caught:
        from_json(text.replace(old, new, 1))

    assert caught.value.hint


@pytest.mark.parametrize("text", ["[]", "null", "7", '"x"', "[" * 100_000, b"\xff\xfe"])
def test_json_refuses_other_documents(text: str | bytes) -> None:
    """Nothing but an object is a release; depth does not crash the reader."""
    with pytest.raises(ArgumentError):
        from_json(text)


def test_csv_golden(release: Release) -> None:
    """The table of a small release, line by line."""
    lines = release.to_csv().split("\r\n")

    assert lines[0] == (
        "name,kind,column,Outcome,key,bin_low,bin_high,estimate,low,high,confidence,"
        "unit,noise_law,noise_scale,noise_step,noise_loss,measure,loss,epsilon,delta,"
        "protected_unit,neighbours,size,dataset,debit,time,title,question,status"
    )
    assert lines[3] == (
        "mean_Age,mean,Age,0,,,,31.2,30.9,31.5,0.95,a,geometric; geometric,"
        "1000/3; 4,0.5; 1,0.125; 0.25,epsilon,0.5,0.5,0,row,add_remove,,pima,3,"
        '2025-11-03T08:15:00Z,Pima,"count, mean_Glucose where Age >= 30",private'
    )
    assert lines[6].startswith("histogram_Age,histogram,Age,,,40,60,-4,-13,5,")


def test_csv_runs_nothing(hostile: tuple[str, Release]) -> None:
    """No text cell starts like a formula; taking one apostrophe off restores it."""
    text, release = hostile

    head, row, *_ = csv.reader(io.StringIO(release.to_csv(), newline=""))

    cells = dict(zip(head, row, strict=True))
    for name in ("name", "column", "unit", "key", "dataset", "title", "question"):
        assert not re.match(r"[=+\-@\t\r＝＋－＠]", cells[name])
        assert text in (cells[name], cells[name].removeprefix("'"))
    assert not any(re.match(r"[=+\-@\t\r]", name) for name in head)


def test_csv_keeps_our_columns_apart(release: Release) -> None:
    """A grouping column called like one of ours does not overwrite it."""
    group = {"estimate": "x", "group.estimate": "y", "name": 1}
    figure = replace(release.figures[0], group=group)

    rows = csv.DictReader(io.StringIO(replace(release, figures=(figure,)).to_csv()))

    row = next(rows)
    assert (row["estimate"], row["group.estimate"], row["group.name"]) == (
        "768",
        "x",
        "1",
    )
    assert row["group.group.estimate"] == "y"


def test_csv_marks_a_seeded_release(seeded: Release) -> None:
    """Every row of a release under a test seed says so."""
    rows = list(csv.DictReader(io.StringIO(seeded.to_csv())))

    assert {row["status"] for row in rows} == {"NOT PRIVATE"}


def test_frames_agree(release: Release) -> None:
    """pandas and polars hold the same table with sensible types."""
    pandas, polars = release.to_pandas(), release.to_polars()

    assert list(pandas.columns) == polars.columns == list(tables.to_columns(release))
    assert pandas["estimate"].tolist() == polars["estimate"].to_list()
    assert str(pandas["estimate"].dtype) == "float64"
    assert str(pandas["Outcome"].dtype) == "Int64"
    assert polars["Outcome"].to_list() == [None, None, 0, 1, None, None, None, None]
    assert polars["key"].to_list()[-2:] == ["女", "M"]
    assert len(pandas) == len(polars) == len(release)


def test_frames_of_mixed_keys(release: Release) -> None:
    """Keys of several types are kept in pandas and become text in polars."""
    first, second = release.figures[6:]
    mixed = replace(release, figures=(replace(first, bin=True), replace(second, bin=7)))

    assert mixed.to_pandas()["key"].tolist() == [True, 7]
    assert mixed.to_polars()["key"].to_list() == ["true", "7"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_library(
    release: Release, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library the error says how to get it."""
    monkeypatch.setitem(__import__("sys").modules, library, None)

    with pytest.raises(MissingExtraError, match=f"pip install {library}"):
        getattr(release, f"to_{library}")()


def test_records_travel(release: Release) -> None:
    """A release can be pickled and copied; a figure's group cannot be changed."""
    assert pickle.loads(pickle.dumps(release)) == release
    assert copy.deepcopy(release) == release
    assert hash(release.figures[2]) == hash(copy.copy(release.figures[2]))
    with pytest.raises(TypeError):
        release.figures[2].group["Outcome"] = 5  # type: ignore[index]
