"""``sfumato synth PROJECT``: a synthetic table to share, within the budget."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.command import Command
from sfumato.cli.options import FORCE, out, project_argument
from sfumato.cli.synthesize import TableManner, asked_table, synthesize
from sfumato.cli.tongue import report_language, say, tongue
from sfumato.project import load
from sfumato.release.promise import promise
from sfumato.words import N_, speaker

__all__ = ["command"]


def _synth(project: Path, *, out: Path | None, **flags: bool) -> None:
    declared = load(project)
    asked_table(declared)
    manner = TableManner(
        folder=out or declared.folder,
        lang=report_language(declared.language),
        ask=not flags["yes"],
        force=flags["force"],
        owner=flags["owner"],
    )
    made = synthesize(declared, manner)
    click.echo(promise(made.release.claim, speaker(tongue())))
    for path in manner.paths:
        click.echo(say(N_("written: {path}"), path=path))
    if manner.owner:
        text = N_("{name} holds true values: FOR THE OWNER'S EYES, never publish it.")
        warning = say(text, name=manner.paths[-1].name)
        click.secho(warning, fg="red", bold=True)


command = Command(
    "synth",
    callback=_synth,
    params=[
        project_argument(),
        out(N_("Folder of the results. Default: the project's.")),
        click.Option(
            ["--owner"],
            is_flag=True,
            help=N_(
                "Also write synthetic-owner.html, which compares with the true rows: "
                "for the owner's eyes, never to publish."
            ),
        ),
        click.Option(
            ["--yes"], is_flag=True, help=N_("Spend the budget without being asked.")
        ),
        FORCE,
    ],
    about=(
        N_("Make a synthetic table to share: spends budget, writes rows and a page."),
        N_(
            "The project says under [synthetic] what it may cost. Columns are counted in "
            "the database, noise is added to the counts, a model is fitted to them, and "
            "rows are drawn from it: synthetic.csv. The page beside it says how it was "
            "made and what is promised; synthetic.synth holds the model, from which more "
            "rows can be drawn for nothing."
        ),
    ),
    examples=(
        ("sfumato synth project.toml", N_("asks before it spends")),
        ("sfumato synth project.toml --yes --owner", N_("with the owner's page")),
    ),
)
