"""Carry out a run on a terminal: check, ask, release, write; in this order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import click

from sfumato.cli.failures import UsageFault
from sfumato.cli.tongue import say
from sfumato.project import Asked, Project, total_cost
from sfumato.project.outputs import Outputs, json_text
from sfumato.project.run import Run
from sfumato.project.source import check_source
from sfumato.release import Release
from sfumato.words import N_

__all__ = ["Manner", "carry_out"]


@final
@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is carried out.

    Attributes:
        lang: Language of titles and pages.
        ask: Whether to ask before the budget is spent.
        force: Whether existing files may be overwritten.
        in_memory: Whether the budget is kept in memory: for a public table only.
    """

    lang: str
    ask: bool = True
    force: bool = False
    in_memory: bool = False


def carry_out(
    project: Project, releases: tuple[Asked, ...], outputs: Outputs, manner: Manner
) -> tuple[Run, list[Release]]:
    """Make releases and write their files.

    All that can be refused is refused before the first debit. What was paid for is
    written even when a later release fails.
    """
    if not manner.force:
        outputs.refuse_existing()
    check_source(project)
    run = Run(project, releases, lang=manner.lang, in_memory=manner.in_memory)
    if manner.ask:
        _confirm(run, releases)
    outputs.prepare()
    made: list[Release] = []
    try:
        for release in _reporting(run, releases):
            made.append(release)
    finally:
        if made:
            _write(project, run, made, outputs, manner.lang)
    return run, made


def _confirm(run: Run, releases: tuple[Asked, ...]) -> None:
    cost = total_cost(releases)
    if not sys.stdin.isatty():
        raise UsageFault(
            N_("this spends epsilon {cost} of {left} left, for ever"),
            hint=N_("add --yes to spend it without being asked"),
            cost=cost,
            left=run.left,
        )
    question = say(
        N_("This spends ε {cost} of {left} left, for ever. Go on?"),
        cost=cost,
        left=run.left,
    )
    click.confirm(question, abort=True, err=True)


def _reporting(run: Run, releases: tuple[Asked, ...]) -> Iterator[Release]:
    """Pass releases through; name each one on stderr before it is made."""
    found = run.releases()
    for place, asked in enumerate(releases, 1):
        if len(releases) > 1:
            click.echo(
                say(
                    N_("{place} of {count}: {name}, ε {cost}"),
                    place=place,
                    count=len(releases),
                    name=asked.name,
                    cost=asked.plan.cost,
                ),
                err=True,
            )
        yield next(found)


def _write(
    project: Project, run: Run, made: list[Release], outputs: Outputs, lang: str
) -> None:
    """Write the files; if the disk fails now, print the figures rather than lose them."""
    comparisons = run.comparisons(made) if outputs.owner else []
    try:
        outputs.write(made, comparisons, lang=lang, title=project.title[lang])
    except OSError:
        click.echo(json_text(made))
        message = say(
            N_("the files cannot be written; keep the JSON above, it is paid for")
        )
        click.echo(message, err=True)
        raise
