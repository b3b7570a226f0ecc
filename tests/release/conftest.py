"""A small release with every shape of figure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.release import Claim, Figure, Measurement, Noise, Receipt, Release

NOISE = Noise("geometric", "4", 1.0, "0.25")
WIDE = Noise("geometric", "1000/3", 0.5, "0.125")
RECEIPT = Receipt(
    "pima", 3, "0.5", "0.8", "2", "9f2c" * 16, "2025-11-03T08:15:00Z"
)  # fmt: skip
CLAIM = Claim("0.5", "0", "row", "add_remove", None, RECEIPT)


@pytest.fixture
def release() -> Release:
    """Count, mean, sum, by group, two histograms."""
    figures = (
        Figure("count", "count", None, {}, 768, 756, 780, (NOISE,)),
        Figure("mean_Glucose", "mean", "Glucose", {}, 121.93, 118.71, 125.2, (WIDE, NOISE), "mg/dL"),
        Figure("mean_Age", "mean", "Age", {"Outcome": 0}, 31.2, 30.9, 31.5, (WIDE, NOISE), "a"),
        Figure("mean_Age", "mean", "Age", {"Outcome": 1}, 37.1, 36.4, 37.8, (WIDE, NOISE), "a"),
        Figure("histogram_Age", "histogram", "Age", {}, 12, 3, 21, (NOISE,), "", (20.0, 40.0)),
        Figure("histogram_Age", "histogram", "Age", {}, -4, -13, 5, (NOISE,), "", (40.0, 60.0)),
        Figure("histogram_Sex", "histogram", "Sex", {}, 400, 391, 409, (NOISE,), "", "女"),
        Figure("histogram_Sex", "histogram", "Sex", {}, 368, 359, 377, (NOISE,), "", "M"),
    )  # fmt: skip
    raw = (Measurement("count_rows", 1, NOISE, (768,)),)
    return Release(
        "Pima", "count, mean_Glucose where Age >= 30", figures, 0.95, CLAIM, raw
    )


@pytest.fixture
def seeded(release: Release) -> Release:
    """The same, made under a test seed."""
    return replace(release, claim=replace(release.claim, private=False))


HOSTILE = (
    "<script>alert(1)</script>",
    "=1+1",
    "@SUM(A1)",
    "a,b",
    "line\nbreak",
    "-2+3",
    "+cmd|' /C calc'!A0",
    "\t=1",
    "＝1",
    "'=kept",
    '"quoted"',
    "\x1b[31mred",
    "$5^2$",
    "",
)


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest, release: Release) -> tuple[str, Release]:
    """A text that would like to run, in every place a text can stand."""
    text = str(request.param)
    figures = (
        Figure(text, "count", text, {text or "k": text}, 5, 4, 6, (NOISE,), text, text),
        *release.figures,
    )
    receipt = replace(RECEIPT, dataset=text)
    claim = replace(CLAIM, receipt=receipt)
    return text, replace(
        release, title=text, question=text, figures=figures, claim=claim
    )
