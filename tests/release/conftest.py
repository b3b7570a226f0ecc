"""A small release with every shape of figure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.account import Measure
from sfumato.release import Claim, Figure, Measurement, Noise, Receipt, Release

NOISE = Noise("geometric", "4", 1.0, "0.25")
WIDE = Noise("geometric", "1000/3", 0.5, "0.125")
RECEIPT = Receipt(
    "pima", 3, "0.5", "0.8", "2", "9f2c" * 16, "2025-11-03T08:15:00Z", "e1" * 32
)  # fmt: skip
CLAIM = Claim("epsilon", "0.5", "0.5", "0", "row", "add_remove", None, RECEIPT)


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


def _in_rho(measure: Measure, loss: str, epsilon: str | None, delta: str) -> Claim:
    receipt = replace(RECEIPT, cost=loss, spent="0.03", cap="0.088152688379")
    return replace(
        CLAIM, measure=measure, loss=loss, epsilon=epsilon, delta=delta, receipt=receipt
    )


KINDS = {
    "pure": (CLAIM, "geometric"),
    "approximate": (
        _in_rho("zcdp", "0.006641524356", "0.499999999974", "0.000001"),
        "discrete_gaussian",
    ),
    "rho": (_in_rho("zcdp", "0.01", None, "0"), "discrete_gaussian"),
    "gaussian": (
        _in_rho("gdp", "0.007701168113", "0.49999999998", "0.000001"),
        "gaussian",
    ),
    "gaussian_rho": (_in_rho("gdp", "0.01", None, "0"), "gaussian"),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of budget."""
    return str(request.param)


@pytest.fixture
def of_kind(release: Release, kind: str) -> Release:
    """The release, paid from that kind of budget and with its noise."""
    claim, law = KINDS[kind]
    noise = Noise(law, "8.67628148219", 1.0, claim.loss)
    return replace(
        release,
        figures=tuple(replace(f, noise=(noise,)) for f in release),
        claim=claim,
        measurements=(Measurement("count_rows", 2**0.5, noise, (768,)),),
    )


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
