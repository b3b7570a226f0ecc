"""``sfumato synth PROJECT``: a synthetic table to share, within the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import click

from sfumato.cli.command import Command
from sfumato.cli.declared import remind
from sfumato.cli.options import FORCE, AnyPath, out, project_argument
from sfumato.cli.synthesize import (
    TableManner,
    asked_table,
    judge,
    made_before,
    synthesize,
)
from sfumato.cli.tongue import report_language, say, tongue
from sfumato.project import Project, load
from sfumato.release.promise import loss_words, promise, together
from sfumato.words import N_, speaker

__all__ = ["command"]

Paths: TypeAlias = "tuple[Path, ...]"


def _synth(
    project: Path, *, out: Path | None, held_out: Path | None, **flags: bool
) -> None:
    declared = load(project)
    asked = asked_table(declared)
    manner = TableManner(
        folder=out or declared.folder,
        lang=report_language(declared.language),
        ask=not flags["yes"],
        force=flags["force"],
        owner=flags["owner"] or flags["again"] or held_out is not None,
        held_out=held_out,
    )
    if not flags["again"]:
        remind(declared)
    carry = _linked if asked.table.tables else _alone
    promises, paths, owners = carry(declared, manner, again=flags["again"])
    for text in promises:
        click.echo(text)
    for path in owners if flags["again"] else (*paths, *owners):
        click.echo(say(N_("written: {path}"), path=path))
    for path in owners:
        text = N_("{name} holds true values: FOR THE OWNER'S EYES, never publish it.")
        click.secho(say(text, name=path.name), fg="red", bold=True)


def _alone(
    declared: Project, manner: TableManner, *, again: bool
) -> tuple[list[str], Paths, Paths]:
    """Make one table, or judge that of before: its promise and the files of either kind."""
    if again:
        made = made_before(declared, manner)
        judge(made, declared, manner)
    else:
        made = synthesize(declared, manner)
    terms = promise(made.release.claim, speaker(tongue()))
    cut = len(manner.paths) - manner.owner
    return [terms], manner.paths[:cut], manner.paths[cut:]


def _linked(
    declared: Project, manner: TableManner, *, again: bool
) -> tuple[list[str], Paths, Paths]:
    """Make linked tables, or judge those of before; as `_alone`."""
    from sfumato.cli.linked import (
        judge_linked,
        linked_before,
        linked_paths,
        synthesize_linked,
    )

    if again:
        made = linked_before(declared, manner)
        judge_linked(made, declared, manner)
    else:
        made = synthesize_linked(declared, manner)
    claims = {name: release.claim for name, release in made.releases.items()}
    speak = speaker(tongue())
    told = [f"{name}: {promise(claim, speak)}" for name, claim in claims.items()]
    text = N_("all tables together cost a person, with all her rows, {cost}")
    told.append(say(text, cost=loss_words(together(list(claims.values())), speak)))
    paths = linked_paths(declared, manner)
    cut = len(paths) - len(made.names) * manner.owner
    return told, paths[:cut], paths[cut:]


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
            ["--held-out"],
            type=AnyPath(),
            help=N_(
                "Rows of the same columns that are not in the table: attackers guess who "
                "was in it and what they hide, and the owner's page says how well."
            ),
        ),
        click.Option(
            ["--again"],
            is_flag=True,
            help=N_(
                "Spend nothing: judge the table of an earlier run, and write the owner's "
                "page alone."
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
        N_(
            "With [[synthetic.tables]] the tables of the same people are made together, "
            "patients and their visits: synthetic-NAME.csv for each, whose keys agree."
        ),
    ),
    examples=(
        ("sfumato synth project.toml", N_("asks before it spends")),
        ("sfumato synth project.toml --yes --owner", N_("with the owner's page")),
        (
            "sfumato synth project.toml --again --held-out others.csv",
            N_("attacks the table that was made before"),
        ),
    ),
)
