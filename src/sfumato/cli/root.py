"""The program `sfumato`: what its first page says, and which commands there are."""

from __future__ import annotations

import os

import click

from sfumato import __version__
from sfumato.cli.command import Root
from sfumato.words import N_

__all__ = ["cli"]

_COMMANDS = {
    "demo": (
        "sfumato.cli.commands.demo",
        N_("Release a public table privately: the quickest way to see what this does."),
    ),
    "init": (
        "sfumato.cli.commands.init",
        N_("Begin a project file for a table, from its header line only."),
    ),
    "check": (
        "sfumato.cli.commands.check",
        N_("Check a project file; reads no row and spends nothing."),
    ),
    "plan": (
        "sfumato.cli.commands.plan",
        N_("Show the cost and the expected error of every figure; spends nothing."),
    ),
    "run": (
        "sfumato.cli.commands.run",
        N_("Make the releases of a project: spends budget, writes the results."),
    ),
    "synth": (
        "sfumato.cli.commands.synth",
        N_("Make a synthetic table to share: spends budget, writes rows and a page."),
    ),
    "train": (
        "sfumato.cli.commands.train",
        N_("Fit the models of a project privately: spends budget, writes model cards."),
    ),
    "advise": (
        "sfumato.cli.commands.advise",
        N_("Find the smallest budget that meets wished errors; spends nothing."),
    ),
    "tune": (
        "sfumato.cli.commands.tune",
        N_(
            "Simulate a project on a public table: errors for losses, clipping, groups."
        ),
    ),
    "audit": (
        "sfumato.cli.commands.audit",
        N_("Test every privacy claim of a project on made-up tables; spends nothing."),
    ),
    "ledger": (
        "sfumato.cli.ledger.group",
        N_("Look into a ledger: show, verify, profile, export, reconcile."),
    ),
    "explain": (
        "sfumato.cli.commands.explain",
        N_("Say in odds what a value of epsilon means."),
    ),
}


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(f"sfumato {__version__}")
        context.exit()


@click.pass_context
def _start(context: click.Context) -> None:
    if os.environ.get("NO_COLOR"):
        context.color = False
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), color=context.color)


cli = Root(
    name="sfumato",
    lazy=_COMMANDS,
    callback=_start,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help=N_("Show the version."),
        )
    ],
    about=(
        N_(
            "Differential privacy for tables: exact noise, one budget, figures to publish."
        ),
        N_(
            "The usual order: init writes a project file, you complete it; check and "
            "plan cost nothing; run spends budget and writes the results."
        ),
    ),
    examples=(
        ("sfumato demo", N_("a private release of a public diabetes table")),
        ("sfumato init patients.csv", N_("writes project.toml to complete")),
        (
            "sfumato plan project.toml",
            N_("what each release costs and how exact it is"),
        ),
        ("sfumato explain 0.5", N_("what epsilon 0.5 means for one patient")),
        (
            'eval "$(_SFUMATO_COMPLETE=bash_source sfumato)"',
            N_("completes words in bash; for zsh and fish: zsh_source, fish_source"),
        ),
    ),
)
