"""Carry out a run on a terminal: check, ask, release, write; in this order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import click

from sfumato.account import Epsilon
from sfumato.cli.failures import UsageFault
from sfumato.cli.tongue import say
from sfumato.project import Asked, Project, total_cost
from sfumato.project.outputs import Outputs, json_text
from sfumato.project.run import Run, afford, budget_left
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
    left = project.budget if manner.in_memory else budget_left(project)
    afford(releases, left)
    if manner.ask:
        _confirm(total_cost(releases), left)
    with outputs.ready():
        run = Run(project, releases, lang=manner.lang, in_memory=manner.in_memory)
        made: list[Release] = []
        try:
            for release in _reporting(run, releases):
                made.append(release)  # noqa: PERF402  kept if a later one fails
        except BaseException:
            if made:
                _write(project, made, outputs, manner.lang)
                _tell_made(made, releases, outputs)
            raise
        _write(project, made, outputs, manner.lang)
        if outputs.owner:
            outputs.write_owner(run.comparisons(made), lang=manner.lang)
    return run, made


def _confirm(cost: Epsilon, left: Epsilon) -> None:
    if not sys.stdin.isatty():
        raise UsageFault(
            N_("this spends epsilon {cost} of {left} left, for ever"),
            hint=N_("add --yes to spend it without being asked"),
            cost=cost,
            left=left,
        )
    question = say(
        N_("This spends ε {cost} of {left} left, for ever. Go on?"),
        cost=cost,
        left=left,
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


def _tell_made(
    made: list[Release], releases: tuple[Asked, ...], outputs: Outputs
) -> None:
    text = N_("{made} of {count} releases were made before this; they are in {folder}")
    line = say(text, made=len(made), count=len(releases), folder=outputs.folder)
    click.echo(line, err=True)


def _write(project: Project, made: list[Release], outputs: Outputs, lang: str) -> None:
    """Write the files; if that fails now, print the figures rather than lose them."""
    try:
        outputs.write(made, lang=lang, title=project.title[lang])
    except Exception:
        click.echo(json_text(made))
        message = N_("the files cannot be written; keep the JSON above: it is paid for")
        click.echo(say(message), err=True)
        raise
