"""``sfumato run PROJECT``: spend budget, make the releases, write the results."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.carry import Manner, carry_out
from sfumato.cli.command import Command
from sfumato.cli.declared import remind
from sfumato.cli.failures import UsageFault
from sfumato.cli.options import FORCE, out, project_argument
from sfumato.cli.shown import show
from sfumato.cli.tongue import report_language
from sfumato.project import load
from sfumato.project.outputs import Outputs
from sfumato.words import N_

__all__ = ["command"]


def _run(
    project: Path, *, only: tuple[str, ...], out: Path | None, **flags: bool
) -> None:
    if flags["resume"] and (only or flags["force"]):
        raise UsageFault(
            N_("--resume takes the releases of the run that stopped"),
            hint=N_("leave {option} out"),
            option="--only" if only else "--force",
        )
    declared = load(project)
    releases = declared.chosen(only)
    outputs = Outputs(
        out or declared.folder,
        declared.formats,
        owner=flags["owner"],
        headline=declared.headline,
        project=declared.path,
    )
    manner = Manner(
        lang=report_language(declared.language),
        ask=not flags["yes"],
        force=flags["force"],
        resume=flags["resume"],
    )
    remind(declared)
    done = carry_out(declared, releases, outputs, manner)
    show(done, outputs, delta=declared.delta)


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
        click.Option(
            ["--resume"],
            is_flag=True,
            help=N_(
                "Go on with a run that stopped half-way: answers it paid for come back "
                "unchanged and free."
            ),
        ),
        FORCE,
    ],
    about=(
        N_("Make the releases of a project: spends budget, writes the results."),
        N_(
            "Everything that can be refused is refused before anything is spent: the "
            "file, the columns, existing results, the budget for all releases. Each "
            "release is then debited, durably, before its noise is drawn. What is spent "
            "is never given back, and a second run spends again; only a run that "
            "stopped half-way can be resumed."
        ),
    ),
    examples=(
        ("sfumato run project.toml", N_("asks before it spends")),
        ("sfumato run project.toml --only means --yes", N_("in a script")),
        ("sfumato run project.toml --resume", N_("after a crash")),
    ),
)
