"""Releases on a terminal, with what they cost in words."""

from __future__ import annotations

import click

from sfumato.account import Epsilon
from sfumato.cli.meaning import cost_words
from sfumato.cli.tongue import say, tongue
from sfumato.cli.width import wrap
from sfumato.project.outputs import Outputs
from sfumato.release import Release
from sfumato.release.show import to_text
from sfumato.words import N_

__all__ = ["show"]

_WIDTH = 88


def show(
    made: list[Release], outputs: Outputs, *, cost: Epsilon, left: Epsilon | None
) -> None:
    """Print releases, their cost in words, what is left, and the files."""
    for release in made:
        click.echo(to_text(release, lang=tongue()) + "\n")
    click.echo(say(N_("These releases cost ε {cost} together."), cost=cost))
    for text in cost_words(cost):
        click.echo("\n".join(wrap(text, _WIDTH)))
    if left is not None:
        click.echo(say(N_("Left to spend: ε {left}."), left=left))
    click.echo("")
    for path in outputs.paths:
        click.echo(say(N_("written: {path}"), path=path))
    if outputs.owner:
        warning = say(
            N_("owner.html holds true values: FOR THE OWNER'S EYES, never publish it.")
        )
        click.secho(warning, fg="red", bold=True)
