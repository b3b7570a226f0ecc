"""The model card: what a model promises, what it learned, how good it is, one HTML page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sfumato.models.effects import effects, intercept_words, order_words
from sfumato.models.evaluation import Evaluation
from sfumato.models.residuals import RegressionEvaluation
from sfumato.models.training import Trained
from sfumato.release.loss import symbol
from sfumato.release.text import visible
from sfumato.release.tongue import language_asked
from sfumato.release.wording import NOT_PRIVATE
from sfumato.report.page import render
from sfumato.words import N_, speaker

__all__ = ["card", "measured_lines"]

Say: TypeAlias = Callable[..., str]
_NEIGHBOURS = {
    ("row", "add_remove"): N_("one row more or less"),
    ("row", "replace_one"): N_("another content of one row"),
    ("person", "add_remove"): N_("one person more or less, with all rows"),
    ("person", "replace_one"): N_("another person in the place of one, with all rows"),
}
_LIMITS = (
    N_("It finds associations in one table; it does not show causes."),
    N_("Coefficients carry noise; the smaller epsilon, the more."),
    N_("It is no medical device and must not decide about a person by itself."),
    N_(
        "Its figures hold for people like those of the table, and for the declared bounds."
    ),
)


def card(
    trained: Trained,
    *,
    title: str,
    intended_use: str = "",
    expected: float | None = None,
    lang: str | None = None,
) -> str:
    """Return the card of a trained model: one file, offline, no script.

    Everything on it is public or was paid for.

    Args:
        trained: The model and its private test.
        title: Title of the page.
        intended_use: What the model is for, in words.
        expected: The AUC or R² that was hoped for without privacy.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    claim = trained.model.privacy_claim_
    return render(
        "model.html",
        tongue,
        title=visible(title),
        alarm="" if claim["private"] else say(NOT_PRIVATE),
        promise=_promise(claim, say),
        receipt=claim["receipt"],
        spent=f"{symbol(trained.spent.measure)} = {trained.spent}",
        estimator=type(trained.model).__name__,
        intended=visible(intended_use),
        lines=list(effects(trained.model, trained.features, say)),
        order=order_words(trained.model, say),
        intercept=intercept_words(trained.model),
        utility=_utility(trained, expected, say),
        calibration=_calibration(trained),
        limits=[say(text) for text in _LIMITS],
    )


def _promise(claim: dict[str, Any], say: Say) -> str:
    return say(
        N_(
            "ε = {epsilon}, δ = {delta}; protected unit: {unit}; neighbouring tables: "
            "{neighbours}"
        ),
        epsilon=claim["epsilon"],
        delta=claim["delta"],
        unit=say(N_("one person") if claim["unit"] == "person" else N_("one row")),
        neighbours=say(_NEIGHBOURS[claim["unit"], claim["neighbours"]]),
    )


def _utility(trained: Trained, hoped: float | None, say: Say) -> list[tuple[str, str]]:
    found = []
    if hoped is not None:
        found.append((say(N_("hoped for, without privacy")), f"{hoped:.3f}"))
    found += _expected(trained, say)
    test, measured = trained.test, say(N_("measured, privately"))
    if test is None:
        return [*found, (measured, say(N_("not tested")))]
    found += [(measured, line) for line in measured_lines(test, say)]
    if isinstance(test, Evaluation):
        found.append((say(N_("accuracy")), f"{test.accuracy:.3f}"))
    paid = say(N_("ε = {epsilon}"), epsilon=test.claim["epsilon"])
    return [*found, (say(N_("price of the test")), paid)]


def _expected(trained: Trained, say: Say) -> list[tuple[str, str]]:
    """Say what noise would leave of the hope, and what the model itself expects."""
    found, made_up, test = [], trained.expectation, trained.test
    if made_up is not None:
        shown = {"middle": made_up.middle, "low": made_up.low, "high": made_up.high}
        text = N_("{middle} ({low} to {high}), by fits of {rows} made-up rows")
        told = say(text, rows=made_up.rows, **{k: f"{v:.3f}" for k, v in shown.items()})
        found.append((say(N_("expected with this noise")), told))
    if isinstance(test, Evaluation) and test.edges:
        name = say(N_("expected if its probabilities are true"))
        found.append((name, say(N_("AUC {auc}"), auc=f"{test.expected_auc:.3f}")))
    return found


def measured_lines(test: Evaluation | RegressionEvaluation, say: Say) -> list[str]:
    """Return what a private test measured, with what noise alone explains."""
    if isinstance(test, Evaluation):
        if not test.edges:
            return []
        return [_line_of("AUC", test.auc, test.auc_interval(), say)]
    found = []
    for name, value, ends in (
        ("RMSE", test.rmse, test.rmse_interval()),
        ("R²", test.r2, test.r2_interval()),
    ):
        if value is None or ends is None:
            found.append(say(N_("{name} is lost in the noise"), name=name))
        else:
            found.append(_line_of(name, value, ends, say))
    return found


def _line_of(name: str, value: float, ends: tuple[float, float], say: Say) -> str:
    text = N_("{name} {value} (noise alone explains {low} to {high})")
    figures = {"value": value, "low": ends[0], "high": ends[1]}
    return say(text, name=name, **{k: f"{v:.4g}" for k, v in figures.items()})


def _calibration(trained: Trained) -> list[tuple[str, str, str]]:
    test = trained.test
    if not isinstance(test, Evaluation) or not test.edges:
        return []
    return [
        (f"{c.low:.2f} – {c.high:.2f}", f"{c.rows:.0f}", f"{c.share:.2f}")
        for c in test.calibration
        if c.share is not None
    ]
