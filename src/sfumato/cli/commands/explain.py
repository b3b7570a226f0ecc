"""``sfumato explain EPS``: what a value of ε means, in odds and in noise."""

from __future__ import annotations

from typing import Any

import click

from sfumato.account import Epsilon, Geometric, odds
from sfumato.account.meaning import Odds, upper_percent
from sfumato.cli.command import Argument, Command
from sfumato.cli.meaning import cost_words
from sfumato.cli.options import as_json, echo_json
from sfumato.cli.table import number, table
from sfumato.cli.tongue import say
from sfumato.cli.width import wrap
from sfumato.words import N_

__all__ = ["command"]

_CONFIDENCE = 0.95
_NEIGHBOURS = ((1, 4), (1, 2), (1, 1), (2, 1), (4, 1))


def _explain(epsilon: str, *, as_json: bool) -> None:
    if epsilon.startswith("--"):  # "-1" is a number to refuse, "--jsn" a slip
        raise click.NoSuchOption(epsilon, possibilities=["--json"])
    loss = Epsilon(epsilon)
    if as_json:
        echo_json(_data(odds(loss)))
    else:
        click.echo("\n".join(_words(odds(loss))))


def _words(known: Odds) -> list[str]:
    lines = [f"ε = {known.epsilon}", ""]
    for text in cost_words(known.epsilon):
        lines += wrap(text, 88)
    lines += wrap(
        say(
            N_(
                "An attacker who accuses 5 of 100 absent people wrongly finds at most "
                "{found} of 100 people who are in the table."
            ),
            found=number(100 * known.power),
        ),
        88,
    )
    lines += ["", say(N_("How far a belief about a person can rise:"))]
    heads = [say(N_("before")), say(N_("after, at most"))]
    beliefs = [
        [f"{upper_percent(b)} %", f"{upper_percent(a)} %"] for b, a in known.certainty
    ]
    lines += table(heads, beliefs, right=(0, 1))
    lines += [
        "",
        say(N_("The noise on a count of rows: a smaller ε means more of it.")),
    ]
    return [*lines, *_noise(known.epsilon)]


def _noise(epsilon: Epsilon) -> list[str]:
    rows = []
    for times, parts in _NEIGHBOURS:
        units = epsilon.units * times // parts
        if units:
            noise = Geometric(1, Epsilon.from_units(units))
            mark = "←" if times == parts else ""
            rows.append(
                [
                    str(noise.cost),
                    number(noise.mean_absolute_error),
                    number(noise.error(_CONFIDENCE)),
                    number(odds(noise.cost).factor),
                    mark,
                ]
            )
    heads = [
        "ε",
        say(N_("average error")),
        say(N_("95 of 100 errors within")),
        say(N_("factor of the odds")),
        "",
    ]
    return table(heads, rows, right=(0, 1, 2, 3))


def _data(known: Odds) -> dict[str, Any]:
    noise = Geometric(1, known.epsilon)
    return {
        "epsilon": str(known.epsilon),
        "odds_factor": known.factor,
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
    }


command = Command(
    "explain",
    callback=_explain,
    # "-1" must reach the check of epsilon, which says why it is refused.
    context_settings={"ignore_unknown_options": True},
    params=[
        Argument(
            ["epsilon"],
            metavar="EPS",
            help=N_("A privacy loss, such as 0.5, written as a decimal."),
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
        ("sfumato explain 0.01 --json", N_("for programs")),
    ),
)
