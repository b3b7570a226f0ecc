"""``sfumato run PROJECT``: spend budget, make the releases, write the results."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.carry import Manner, carry_out
from sfumato.cli.command import Command
from sfumato.cli.options import FORCE, out, project_argument
from sfumato.cli.shown import show
from sfumato.cli.tongue import report_language
from sfumato.project import load, total_cost
from sfumato.project.outputs import Outputs
from sfumato.words import N_

__all__ = ["command"]


def _run(
    project: Path, *, only: tuple[str, ...], out: Path | None, **flags: bool
) -> None:
    declared = load(project)
    releases = declared.chosen(only)
    outputs = Outputs(out or declared.folder, declared.formats, owner=flags["owner"])
    manner = Manner(
        lang=report_language(declared.language),
        ask=not flags["yes"],
        force=flags["force"],
    )
    run, made = carry_out(declared, releases, outputs, manner)
    show(made, outputs, cost=total_cost(releases), left=run.left)


command = Command(
    "run",
    callback=_run,
    params=[
        project_argument(),
        click.Option(
            ["--only"],
            multiple=True,
            metavar="NAME",
            help=N_("Make this release only; may be given several times."),
        ),
        out(N_("Folder of the results. Default: the project's.")),
        click.Option(
            ["--owner"],
            is_flag=True,
            help=N_(
                "Also write owner.html with the true values: for the owner's eyes, "
                "never to publish."
            ),
        ),
        click.Option(
            ["--yes"], is_flag=True, help=N_("Spend the budget without being asked.")
        ),
        FORCE,
    ],
    about=(
        N_("Make the releases of a project: spends budget, writes the results."),
        N_(
            "Everything that can be refused is refused before anything is spent: the "
            "file, the columns, existing results, the budget for all releases. Each "
            "release is then debited, durably, before its noise is drawn. What is spent "
            "is never given back, and a second run spends again."
        ),
    ),
    examples=(
        ("sfumato run project.toml", N_("asks before it spends")),
        ("sfumato run project.toml --only means --yes", N_("in a script")),
    ),
)
