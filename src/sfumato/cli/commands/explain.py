"""``sfumato explain EPS``: what a privacy loss means, in odds and in noise."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click

from sfumato.account import (
    GDP,
    ZCDP,
    ApproxDP,
    Epsilon,
    Gaussian,
    Geometric,
    Loss,
    odds,
)
from sfumato.account.deployment import DEPLOYMENTS, SCENARIOS, Deployment
from sfumato.account.loss import read_units
from sfumato.account.meaning import Odds, upper_percent
from sfumato.account.rho import read_delta
from sfumato.cli.command import Argument, Command
from sfumato.cli.failures import UsageFault
from sfumato.cli.meaning import TOLD, odds_words
from sfumato.cli.money import delta_words, loss_words, small, symbol
from sfumato.cli.options import as_json, echo_json
from sfumato.cli.table import number, table
from sfumato.cli.tongue import say
from sfumato.cli.width import wrap
from sfumato.words import N_

__all__ = ["command"]

_CONFIDENCE = 0.95
_NEIGHBOURS = ((1, 4), (1, 2), (1, 1), (2, 1), (4, 1))
_WIDTH = 88
_LARGE = 10**14  # δ = 1e-4, in units of 1e-18


def _explain(
    epsilon: str | None, *, rho: str | None, delta: str | None, as_json: bool
) -> None:
    if epsilon and epsilon.startswith(
        "--"
    ):  # "-1" is a number to refuse, "--jsn" a slip
        raise click.NoSuchOption(epsilon, possibilities=["--json", "--delta", "--rho"])
    asked, known = _read(epsilon, rho, delta)
    if as_json:
        echo_json(_data(asked, known))
    else:
        click.echo("\n".join(_words(asked, known)))


def _read(
    epsilon: str | None, rho: str | None, delta: str | None
) -> tuple[Loss | ApproxDP, Odds]:
    """Return the loss that is asked about, and what it means."""
    if (epsilon is None) == (rho is None):
        raise UsageFault(
            N_("name one loss: EPS or --rho"),
            hint=N_("write, for example: sfumato explain 0.5"),
        )
    read_delta(delta)
    if rho is not None:
        loss = ZCDP.from_units(read_units("rho", rho))
        return loss, odds(loss, delta=delta or TOLD)
    if epsilon is None or delta is None or not read_delta(delta):
        pure = Epsilon(epsilon or "")
        return pure, odds(pure)
    if read_delta(delta) > _LARGE:
        raise UsageFault(
            N_("delta {delta} is above 1e-4: no promise to a person fails so often"),
            hint=N_("write less than one over the number of persons, such as 1e-6"),
            delta=delta,
        )
    pair = ApproxDP(epsilon, delta)
    return pair, odds(pair)


def _words(asked: Loss | ApproxDP, known: Odds) -> list[str]:
    lines = [*_head(asked, known), ""]
    for text in odds_words(known):
        lines += wrap(text, _WIDTH)
    lines += wrap(
        say(
            N_(
                "An attacker who accuses 5 of 100 absent people wrongly finds at most "
                "{found} of 100 people who are in the table."
            ),
            found=number(100 * known.power),
        ),
        _WIDTH,
    )
    lines += ["", say(N_("How far a belief about a person can rise:"))]
    heads = [say(N_("before")), say(N_("after, at most"))]
    beliefs = [
        [f"{upper_percent(b)} %", f"{upper_percent(a)} %"] for b, a in known.certainty
    ]
    lines += table(heads, beliefs, right=(0, 1))
    lines += [
        "",
        say(N_("The noise on a count of rows: a smaller loss means more of it.")),
        *_noise(asked.cap),
        "",
        *_scenarios(known.epsilon),
        "",
        *_deployments(),
    ]
    return lines


def _head(asked: Loss | ApproxDP, known: Odds) -> list[str]:
    if isinstance(asked, Epsilon):
        return [f"ε = {asked}"]
    if isinstance(asked, ApproxDP):
        delta = delta_words(asked.delta_units)
        text = N_("ε = {epsilon} at δ = {delta}; a budget of that is kept as {cap}")
        return [
            say(text, epsilon=asked.epsilon, delta=delta, cap=loss_words(asked.cap))
        ]
    text = N_("ρ = {rho}, which is at most ε = {epsilon} at δ = {delta}")
    delta = small(str(known.delta))
    return [say(text, rho=asked, epsilon=number(float(known.epsilon)), delta=delta)]


def _noise(loss: Loss) -> list[str]:
    rows = []
    for times, parts in _NEIGHBOURS:
        units = loss.units * times // parts
        if units:
            near = type(loss).from_units(units)
            noise = _of_a_count(near)
            rows.append(
                [
                    str(near),
                    number(noise.mean_absolute_error),
                    number(noise.error(_CONFIDENCE)),
                    number(odds(near, delta=TOLD).factor),
                    "←" if times == parts else "",
                ]
            )
    heads = [
        symbol(loss.measure),
        say(N_("average error")),
        say(N_("95 of 100 errors within")),
        say(N_("factor of the odds")),
        "",
    ]
    return table(heads, rows, right=(0, 1, 2, 3))


def _of_a_count(loss: Loss) -> Geometric | Gaussian:
    if isinstance(loss, Epsilon):
        return Geometric(1, loss)
    return Gaussian(1, GDP.from_units(loss.units), law="whole")


def _scenarios(epsilon: Epsilon) -> list[str]:
    heads = [say(N_("use")), "ε", ""]
    rows = [
        [
            say(s.name),
            say(N_("{low} to {high}"), low=s.low, high=s.high),
            "←" if s.low <= epsilon <= s.high else "",
        ]
        for s in SCENARIOS
    ]
    lines = wrap(
        say(
            N_(
                "What tutorials suggest for one person and all releases together; what it "
                "buys for your figures: sfumato advise project.toml"
            )
        ),
        _WIDTH,
    )
    return [*lines, *table(heads, rows)]


def _deployments() -> list[str]:
    heads = [say(N_("public deployment")), "ε", "δ", say(N_("per"))]
    rows = [
        [say(d.name) + ("*" if d.source == "secondary" else ""), *_numbers(d), _unit(d)]
        for d in DEPLOYMENTS
    ]
    lines = wrap(
        say(
            N_(
                "What others have published. An ε means nothing without its unit: per "
                "action and day it is a far weaker promise than per person."
            )
        ),
        _WIDTH,
    )
    note = say(N_("* as told in a summary by others"))
    return [*lines, *table(heads, rows), f"  {note}"]


def _numbers(d: Deployment) -> list[str]:
    epsilon = d.epsilon
    if d.epsilon_to != d.epsilon:
        epsilon = say(N_("{low} to {high}"), low=d.epsilon, high=d.epsilon_to)
    return [epsilon, say(N_("not stated")) if d.delta is None else d.delta]


def _unit(d: Deployment) -> str:
    return say(N_("not stated")) if d.unit is None else say(d.unit)


def _data(asked: Loss | ApproxDP, known: Odds) -> dict[str, Any]:
    noise = _of_a_count(asked.cap)
    return {
        "measure": asked.measure,
        "loss": str(asked.cap),
        "epsilon": str(known.epsilon),
        "delta": known.delta,
        "odds_factor": known.factor if isfinite(known.factor) else None,
        "beliefs": [{"before": b, "after": a} for b, a in known.certainty],
        "right_of_100": known.of_100_with,
        "power_at_5_percent": known.power,
        "advantage": known.advantage,
        "count_noise": {
            "scale": str(noise.scale),
            "mean_absolute_error": noise.mean_absolute_error,
            "error": noise.error(_CONFIDENCE),
            "confidence": _CONFIDENCE,
        },
        "scenarios": [
            {"name": s.name, "low": str(s.low), "high": str(s.high)} for s in SCENARIOS
        ],
        "deployments": [
            {
                "name": d.name,
                "epsilon": d.epsilon,
                "epsilon_to": d.epsilon_to,
                "delta": d.delta,
                "unit": d.unit,
                "source": d.source,
            }
            for d in DEPLOYMENTS
        ],
    }


command = Command(
    "explain",
    callback=_explain,
    # "-1" must reach the check of epsilon, which says why it is refused.
    context_settings={"ignore_unknown_options": True},
    params=[
        Argument(
            ["epsilon"],
            required=False,
            metavar="EPS",
            help=N_("A privacy loss, such as 0.5, written as a decimal."),
        ),
        click.Option(
            ["--rho"],
            metavar="RHO",
            help=N_("Instead of EPS: a loss ρ of zero-concentrated privacy."),
        ),
        click.Option(
            ["--delta"],
            metavar="DELTA",
            help=N_("The δ beside EPS, or at which a ρ is told. Default for ρ: 1e-6."),
        ),
        as_json(),
    ],
    about=(
        N_("Say in odds what a value of epsilon means."),
        N_(
            "Epsilon bounds what anybody can learn about one person from a release, "
            "whatever they know already. It reads no data and spends nothing."
        ),
    ),
    examples=(
        ("sfumato explain 0.5", N_("a usual total for figures to be published")),
        ("sfumato explain 1 --delta 1e-6", N_("a budget with a δ")),
        ("sfumato explain --rho 0.02", N_("a budget in ρ")),
        ("sfumato explain 0.01 --json", N_("for programs")),
    ),
)
