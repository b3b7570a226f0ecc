"""``sfumato ledger``: what an operator does with a ledger."""

from __future__ import annotations

import click

from sfumato.cli.command import Group
from sfumato.words import N_

__all__ = ["command"]

_COMMANDS = {
    "show": (
        "sfumato.cli.ledger.show",
        N_("Show budgets, limits and blocks, what is left, and the last debits."),
    ),
    "verify": (
        "sfumato.cli.ledger.verify",
        N_("Recompute every hash and balance; check a published receipt."),
    ),
    "profile": (
        "sfumato.cli.ledger.profile",
        N_("Report the privacy profile of all that was spent: ε at δ."),
    ),
    "export": (
        "sfumato.cli.ledger.export",
        N_("Write every entry as a JSON line, which a stranger can check."),
    ),
    "reconcile": (
        "sfumato.cli.ledger.reconcile",
        N_("After a restored backup: record what was lost as spent."),
    ),
}


@click.pass_context
def _start(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), color=context.color)


command = Group(
    name="ledger",
    lazy=_COMMANDS,
    callback=_start,
    about=(
        N_("Look into a ledger: show, verify, profile, export, reconcile."),
        N_(
            "Nothing here spends, creates or repairs a ledger. Only reconcile writes, "
            "under an operator's name, and it can only raise what is spent."
        ),
    ),
    examples=(
        ("sfumato ledger show clinic.ledger", N_("what is left, and the last debits")),
        (
            "sfumato ledger verify clinic.ledger --receipt results/release.json",
            N_("is the published release in it, and is nothing changed?"),
        ),
    ),
)
