"""``sfumato ledger reconcile``: after a restored backup, what was lost stays spent."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click

from sfumato.cli.command import Command
from sfumato.cli.failures import UsageFault
from sfumato.cli.ledger.place import Place, anchor_option, find, ledger_argument
from sfumato.cli.money import balance_loss, loss_words
from sfumato.cli.tongue import say
from sfumato.errors import LedgerError
from sfumato.ledger import Balance, Reconciled, reconcile, show
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["command"]


def _reconcile(
    ledger: str, *, anchor: Path | None, operator: str | None, yes: bool
) -> None:
    if operator is None:
        raise UsageFault(
            N_("--operator is missing"),
            hint=N_("name who takes responsibility; the name is kept in the ledger"),
        )
    place = find(ledger, anchor)
    _confirm(place, operator, yes=yes)
    done = reconcile(place.path, operator=operator, anchor=place.anchor)
    click.echo("\n".join(_words(done)))


def _confirm(place: Place, operator: str, *, yes: bool) -> None:
    for line in _state(place):
        click.echo(line, err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageFault(
            N_("this raises what is spent, for ever, under the name {operator}"),
            hint=N_("add --yes to do it without being asked"),
            operator=repr(operator),
        )
    question = say(
        N_("This raises what is spent, for ever, under the name {operator}. Go on?"),
        operator=repr(operator),
    )
    click.confirm(question, abort=True, err=True)


def _state(place: Place) -> list[str]:
    """Say how far ledger and anchor have come, where there is a ledger to look at."""
    with suppress(LedgerError):
        found = show(place.path, anchor=place.anchor)
        if found.anchored is not None:
            text = N_("the ledger ends at entry {place}, its anchor at {anchored}")
            return [say(text, place=found.entries, anchored=found.anchored)]
    return []


def _words(done: Reconciled) -> list[str]:
    if not done.changed:
        return [say(N_("Ledger and anchor agree; nothing was written."))]
    before = {b.key: b for b in done.before}
    lines = [say(N_("Recorded. Lost entries: {count}."), count=done.lost)]
    for after in done.after:
        lines.append(_raised(before.get(after.key), after))  # noqa: PERF401  one by one
    return lines


def _raised(before: Balance | None, after: Balance) -> str:
    return say(
        N_("{name}: spent {before} before, {after} now, of {cap}"),
        name=visible(after.name or after.dataset),
        before=loss_words(balance_loss(after, before.spent if before else 0)),
        after=loss_words(balance_loss(after, after.spent)),
        cap=loss_words(balance_loss(after, after.cap)),
    )


command = Command(
    "reconcile",
    callback=_reconcile,
    params=[
        ledger_argument(),
        click.Option(
            ["--operator"],
            metavar="NAME",
            help=N_("Who takes responsibility; the name is kept in the ledger."),
        ),
        anchor_option(),
        click.Option(
            ["--yes"], is_flag=True, help=N_("Raise what is spent without being asked.")
        ),
    ],
    about=(
        N_("After a restored backup: record what was lost as spent."),
        N_(
            "A backup does not know the debits that came after it, though their answers "
            "were read. The anchor does: what it knows as spent is recorded. This can "
            "only add; docs/ledger.md says what is lost for good."
        ),
    ),
    examples=(
        (
            'sfumato ledger reconcile clinic.ledger --operator "Dr. Wu"',
            N_("asks before it writes"),
        ),
    ),
)
