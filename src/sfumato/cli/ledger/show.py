"""``sfumato ledger show``: budgets and the last debits."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

import click

from sfumato.cli.command import Command
from sfumato.cli.ledger.place import Place, anchor_option, find, ledger_argument
from sfumato.cli.money import balance_loss, loss_words, measure_words
from sfumato.cli.options import Whole, as_json, echo_json
from sfumato.cli.table import table
from sfumato.cli.tongue import say
from sfumato.ledger import Balance, Overview, export, show
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["command"]

_LAST = 10


def _show(ledger: str, *, anchor: Path | None, last: int, as_json: bool) -> None:
    place = find(ledger, anchor)
    found = show(place.path, anchor=place.anchor)
    debits = _debits(place, last)
    if as_json:
        echo_json(_data(found, debits))
    else:
        click.echo("\n".join(_words(found, debits)))


def _debits(place: Place, last: int) -> list[dict[str, Any]]:
    """Return what the last debits say, oldest first."""
    found: deque[dict[str, Any]] = deque(maxlen=last)
    for line in export(place.path, anchor=place.anchor):
        said = json.loads(line)["body"]
        if said["kind"] == "debit":
            found.append(said)
    return list(found)


def _words(found: Overview, debits: list[dict[str, Any]]) -> list[str]:
    lines = [
        say(
            N_(
                "ledger {identity}; entries: {entries}, debits: {debits}, answers: {answers}"
            ),
            identity=found.identity,
            entries=found.entries,
            debits=found.debits,
            answers=found.answers,
        ),
        say(N_("head {head}"), head=found.head),
        *_anchor(found),
        "",
        *_budgets(found.budgets),
    ]
    if debits:
        lines += ["", say(N_("The last debits:")), *_table(found.budgets, debits)]
    return lines


def _anchor(found: Overview) -> list[str]:
    if found.anchored is None:
        return [say(N_("There is no anchor: a restored backup would not be noticed."))]
    if found.anchored > found.entries:
        return [
            say(
                N_(
                    "The anchor knows entry {place}, which the ledger lacks: a backup was "
                    "restored. Nothing can be spent until: sfumato ledger reconcile"
                ),
                place=found.anchored,
            )
        ]
    return []


def _budgets(balances: tuple[Balance, ...]) -> list[str]:
    tops = {b.dataset: b for b in balances if b.kind == "dataset"}
    heads = [
        say(N_("budget")),
        say(N_("currency")),
        say(N_("cap")),
        say(N_("spent")),
        say(N_("left")),
    ]
    rows = []
    for b in balances:
        spent, delta = b.spent, b.delta_spent
        if b.kind == "block":  # also what was spent on all blocks together
            top = tops[b.dataset]
            spent, delta = spent + top.whole, delta + top.delta_whole
        amounts = (
            balance_loss(b, b.cap, b.delta_cap),
            balance_loss(b, spent, delta),
            balance_loss(b, b.cap - spent, b.delta_cap - delta),
        )
        rows.append([_name(b), measure_words(b.measure), *map(loss_words, amounts)])
    return table(heads, rows)


def _name(balance: Balance) -> str:
    texts = {
        "dataset": N_("data set {dataset}"),
        "analyst": N_("  analyst {name}"),
        "project": N_("  project {name}"),
        "block": N_("  block {name} ({label})"),
    }
    return say(
        texts[balance.kind],
        dataset=visible(balance.dataset),
        name=visible(balance.name),
        label=visible(balance.label),
    )


def _table(balances: tuple[Balance, ...], debits: list[dict[str, Any]]) -> list[str]:
    tops = {b.dataset: b for b in balances if b.kind == "dataset"}
    heads = [
        say(N_("debit")),
        say(N_("time")),
        say(N_("data set")),
        say(N_("cost")),
        say(N_("charged also to")),
        say(N_("plan")),
    ]
    rows = []
    for d in debits:
        cost = balance_loss(tops[d["dataset"]], d["units"], d["delta_units"])
        also = [f"{name}" for _, name in d["limits"]] + list(d["blocks"])
        rows.append(
            [
                str(d["debits"]),
                d["time"],
                visible(d["dataset"]),
                loss_words(cost),
                visible(say(N_(", ")).join(also)),
                d["plan"][:12],
            ]
        )
    return table(heads, rows, right=(0,))


def _data(found: Overview, debits: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "identity": found.identity,
        "entries": found.entries,
        "head": found.head,
        "debits": found.debits,
        "answers": found.answers,
        "anchored": found.anchored,
        "budgets": [_budget_data(b) for b in found.budgets],
        "last_debits": debits,
    }


def _budget_data(b: Balance) -> dict[str, Any]:
    return {
        "dataset": b.dataset,
        "kind": b.kind,
        "name": b.name,
        "label": b.label,
        "measure": b.measure,
        "cap": str(balance_loss(b, b.cap, b.delta_cap)),
        "spent": str(balance_loss(b, b.spent, b.delta_spent)),
        "spent_on_all_blocks": str(balance_loss(b, b.whole, b.delta_whole)),
    }


command = Command(
    "show",
    callback=_show,
    params=[
        ledger_argument(),
        anchor_option(),
        click.Option(
            ["--last"],
            type=Whole(),
            default=_LAST,
            metavar="N",
            help=N_("How many of the last debits to show. Default: 10."),
        ),
        as_json(),
    ],
    about=(
        N_("Show budgets, limits and blocks, what is left, and the last debits."),
        N_(
            "It also prints the head of the chain: note it down in a place where it is "
            "dated, and nobody can rewrite what came before."
        ),
    ),
    examples=(
        ("sfumato ledger show clinic.ledger", N_("a file")),
        ("sfumato ledger show project.toml --last 50", N_("the ledger of a project")),
    ),
)
