"""Releases on a terminal, with what they cost in words."""

from __future__ import annotations

import click

from sfumato.cli.carry import Done
from sfumato.cli.meaning import cost_words
from sfumato.cli.money import loss_words
from sfumato.cli.tongue import say, tongue
from sfumato.cli.width import wrap
from sfumato.project.outputs import Outputs
from sfumato.release.show import to_text
from sfumato.words import N_

__all__ = ["show"]

_WIDTH = 88


def show(done: Done, outputs: Outputs, *, delta: str, whole: bool = False) -> None:
    """Print releases, their cost in words, what is left, and the files.

    Args:
        done: The run.
        outputs: Its files.
        delta: The δ at which a cost in ρ is told.
        whole: Whether the budget ends with this run, so that nothing is left to tell.
    """
    for release in done.made:
        click.echo(to_text(release, lang=tongue()) + "\n")
    if done.cost is None:
        click.echo(say(N_("These releases were paid for before; nothing was spent.")))
    else:
        cost = loss_words(done.cost)
        click.echo(say(N_("These releases cost {cost} together."), cost=cost))
        for text in cost_words(done.cost, delta):
            click.echo("\n".join(wrap(text, _WIDTH)))
    if not whole:
        click.echo(say(N_("Left to spend: {left}."), left=loss_words(done.left)))
    click.echo("")
    for path in outputs.paths:
        click.echo(say(N_("written: {path}"), path=path))
    if outputs.owner:
        warning = say(
            N_("owner.html holds true values: FOR THE OWNER'S EYES, never publish it.")
        )
        click.secho(warning, fg="red", bold=True)
