"""``sfumato ledger profile``: how much privacy all debits together have used."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Any, final

import click

from sfumato.account.profile import CAVEAT
from sfumato.cli.command import Command
from sfumato.cli.ledger.place import Place, anchor_option, find, ledger_argument
from sfumato.cli.money import balance_loss, loss_words, small
from sfumato.cli.options import as_json, echo_json
from sfumato.cli.table import table
from sfumato.cli.tongue import say
from sfumato.cli.width import wrap
from sfumato.errors import LedgerError, nearest
from sfumato.ledger import Balance, descriptors, show
from sfumato.release.text import visible
from sfumato.spending import Spending, profile_of
from sfumato.words import N_

__all__ = ["command"]

_DELTAS = ("0", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5")
_SHARES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
_MARK = "1e-6"


@final
@dataclass(frozen=True, slots=True)
class _Report:
    balance: Balance
    spending: Spending
    at: tuple[tuple[str, float], ...]
    curve: tuple[tuple[str, float], ...]


def _profile(
    ledger: str,
    *,
    anchor: Path | None,
    dataset: str | None,
    delta: tuple[str, ...],
    as_json: bool,
) -> None:
    place = find(ledger, anchor)
    reports = [_report(place, b, delta or _DELTAS) for b in _chosen(place, dataset)]
    if as_json:
        echo_json({"caveat": CAVEAT, "datasets": [_data(r) for r in reports]})
        return
    lines = [f"*** {say(CAVEAT)} ***"]
    for report in reports:
        lines += ["", *_words(report)]
    advice = N_(
        "A report, never a guard: the ledger guards the sum of the charges, which holds "
        "also when each question was chosen after seeing earlier answers."
    )
    click.echo("\n".join([*lines, "", *wrap(say(advice), 88)]))


def _chosen(place: Place, dataset: str | None) -> list[list[Balance]]:
    """Return the budgets of each data set, its own first."""
    balances = show(place.path, anchor=place.anchor).budgets
    names = [b.dataset for b in balances if b.kind == "dataset"]
    if dataset is not None and dataset not in names:
        raise LedgerError(
            N_("the ledger has no data set {name}"),
            hint=N_("it has {near}"),
            name=repr(dataset),
            near=nearest(dataset, names),
        )
    return [
        sorted(
            (b for b in balances if b.dataset == name),
            key=lambda b: b.kind != "dataset",
        )
        for name in names
        if dataset in (None, name)
    ]


def _report(place: Place, balances: list[Balance], deltas: tuple[str, ...]) -> _Report:
    own = descriptors(place.path, dataset=balances[0].dataset, anchor=place.anchor)
    spending = profile_of(balances, own)
    at = tuple((d, spending.epsilon(d)) for d in deltas)
    middle = spending.epsilon(_MARK)
    grid = [f"{share * middle:.3g}" for share in _SHARES] if middle else []
    return _Report(
        balances[0], spending, at, tuple((e, spending.delta(e)) for e in grid)
    )


def _words(report: _Report) -> list[str]:
    b = report.balance
    lines = [
        say(
            N_("data set {dataset}: spent {spent} of {cap}; mechanisms: {count}"),
            dataset=visible(b.dataset),
            spent=loss_words(balance_loss(b, b.spent, b.delta_spent)),
            cap=loss_words(balance_loss(b, b.cap, b.delta_cap)),
            count=report.spending.mechanisms,
        )
    ]
    if report.spending.undescribed:
        text = N_(
            "{count} charges have no description; each counts as the worst mechanism of "
            "its size"
        )
        if report.spending.undescribed == 1:
            text = N_(
                "1 charge has no description; it counts as the worst mechanism of its size"
            )
        lines.append(say(text, count=report.spending.undescribed))
    lines += table(
        ["δ", say(N_("ε at this δ, at most"))],
        [[small(d), _epsilon(e)] for d, e in report.at],
        right=(0, 1),
    )
    if report.curve:
        lines += [
            "",
            *table(
                ["ε", say(N_("δ at this ε, at most"))],
                [[e, f"{d:.3g}"] for e, d in report.curve],
                right=(0, 1),
            ),
        ]
    return lines


def _epsilon(value: float) -> str:
    return say(N_("none")) if isinf(value) else f"{value:.6g}"


def _data(report: _Report) -> dict[str, Any]:
    b = report.balance
    return {
        "dataset": b.dataset,
        "measure": b.measure,
        "spent": str(balance_loss(b, b.spent, b.delta_spent)),
        "cap": str(balance_loss(b, b.cap, b.delta_cap)),
        "mechanisms": report.spending.mechanisms,
        "undescribed": report.spending.undescribed,
        "epsilon_at": [
            {"delta": d, "epsilon": None if isinf(e) else e} for d, e in report.at
        ],
        "delta_at": [{"epsilon": e, "delta": d} for e, d in report.curve],
    }


command = Command(
    "profile",
    callback=_profile,
    params=[
        ledger_argument(),
        anchor_option(),
        click.Option(
            ["--dataset"],
            metavar="NAME",
            help=N_("Of this data set only. Default: of each."),
        ),
        click.Option(
            ["--delta"],
            multiple=True,
            metavar="DELTA",
            help=N_("Tell ε at this δ; may be given several times."),
        ),
        as_json(),
    ],
    about=(
        N_("Report the privacy profile of all that was spent: ε at δ."),
        N_(
            "It composes the stored mechanisms exactly, so that it is often far smaller "
            "than the sum of the charges. It is valid only if the parameters of all "
            "questions were fixed before the first answer."
        ),
    ),
    examples=(
        ("sfumato ledger profile clinic.ledger", N_("for usual values of δ")),
        (
            "sfumato ledger profile clinic.ledger --delta 1e-6 --json",
            N_("for programs"),
        ),
    ),
)
