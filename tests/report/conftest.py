"""A release with every kind of picture in it, and one with texts that would like to run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.account import Measure
from sfumato.release import Claim, Figure, Measurement, Noise, Receipt, Release

NOISE = Noise("geometric", "4", 1.0, "0.25")
WIDE = Noise("geometric", "1000/3", 0.5, "0.125")
RECEIPT = Receipt(
    "pima", 3, "0.5", "0.8", "2", "9f2c" * 16, "2025-11-03T08:15:00Z", "e1" * 32
)
CLAIM = Claim("epsilon", "0.5", "0.5", "0", "row", "add_remove", None, RECEIPT)


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
BINS = tuple((20.0 * i, 20.0 * (i + 1)) for i in range(5))


def _around(estimate: float, half: float, *fields: object, **named: object) -> Figure:
    name, kind, column, group = fields
    return Figure(
        name, kind, column, group, estimate, estimate - half, estimate + half,  # type: ignore[arg-type]
        (NOISE,), **named,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture
def release() -> Release:
    """Singles, groups by one and two keys, histograms of numbers and categories."""
    figures = [
        _around(768, 12, "count", "count", None, {}),
        _around(121.9, 3.2, "mean_Glucose", "mean", "Glucose", {}, unit="mg/dL"),
    ]
    for outcome in (0, 1):
        group = {"Outcome": outcome}
        figures += [
            _around(31.5 + outcome, 0.3, "mean_Age", "mean", "Age", group),
            _around(900.0, 80, "sum_BMI", "sum", "BMI", group, unit="kg/m²"),
        ]
        figures += [
            _around(40.0 - i, 9, "by_bin", "histogram", "Age", group, bin=b)
            for i, b in enumerate(BINS)
        ]
    for ward in ("内科", "Surgery"):
        for sex in ("F", "M"):
            group = {"Ward": ward, "Sex": sex}
            figures.append(_around(99, 9, "visits", "count", None, group))
    figures += [
        _around(
            60 - 16 * i, 9, "histogram_Age", "histogram", "Age", {}, bin=b, unit="a"
        )
        for i, b in enumerate(BINS)
    ]
    figures += [
        _around(60, 9, "uneven", "histogram", "Age", {}, bin=b)
        for b in ((0.0, 10.0), (10.0, 50.0))
    ]
    figures += [
        _around(60, 9, "histogram_Sex", "histogram", "Sex", {}, bin=b)
        for b in ("女", "男", True, 3)
    ]
    raw = (Measurement("count_rows", 1, NOISE, (768,)),
           Measurement("centred_sum(Glucose)", 250, WIDE, (-31, 7)))  # fmt: skip
    return Release("Pima", "count by Outcome", tuple(figures), 0.95, CLAIM, raw)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of budget."""
    return str(request.param)


@pytest.fixture
def of_kind(release: Release, kind: str) -> Release:
    """A few figures, paid from that kind of budget and with its noise."""
    claim, law = KINDS[kind]
    noise = Noise(law, "8.67628148219", 1.0, claim.loss)
    return replace(
        release,
        figures=tuple(replace(f, noise=(noise,)) for f in release.figures[:2]),
        claim=claim,
        measurements=(Measurement("count_rows", 2**0.5, noise, (768,)),),
    )


@pytest.fixture
def seeded(release: Release) -> Release:
    """The same, made under a test seed."""
    return replace(release, claim=replace(release.claim, private=False))


@pytest.fixture(
    params=[
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "=1+1",
        "@SUM(A1)",
        "a,b",
        "line\nbreak",
        "]]> <!-- &amp; {{ 7*7 }} {title}",
        "$\\frac{1}{$",
        "\x00\x1b\u202e\ud800",
        "https://example.org/x.png",
        "名" * 200,
    ]
)
def hostile(request: pytest.FixtureRequest, release: Release) -> tuple[str, Release]:
    """A text that would like to run, in every place a text can stand."""
    text = str(request.param)
    figures = (
        _around(5, 1, text, "count", text, {}, unit=text),
        _around(5, 1, text + "2", "mean", text, {text: text, "k": text}, unit=text),
        _around(6, 1, text + "2", "mean", text, {text: text, "k": "z"}, unit=text),
        _around(5, 1, text + "3", "histogram", text, {}, bin=text),
        _around(
            5, 1, text + "4", "histogram", text, {text: 1}, bin=(0.0, 1.0), unit=text
        ),
        *release.figures,
    )
    noise = Noise(text, "4", 1.0, "0.25")
    receipt = replace(RECEIPT, dataset=text, plan=text, time=text)
    return text, Release(
        text, text, figures, 0.95,
        replace(CLAIM, receipt=receipt, unit=text, neighbours=text),
        (Measurement(text, 1, noise, (1,)),),
    )  # fmt: skip
