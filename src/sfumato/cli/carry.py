"""Carry out a run on a terminal: check, ask, release, write; in this order."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import final

import click

from sfumato.account import Loss
from sfumato.cli.failures import UsageFault
from sfumato.cli.money import loss_words
from sfumato.cli.tongue import say
from sfumato.errors import BudgetExceededError, ProjectError
from sfumato.project import Asked, Project, total_cost
from sfumato.project.outputs import Outputs, json_text
from sfumato.project.run import Run, due
from sfumato.project.source import check_source
from sfumato.project.standing import Standing, afford, standing, whole
from sfumato.project.unfinished import (
    FILE,
    Request,
    State,
    Unfinished,
    begin,
    held,
    new_requests,
    read,
    requests,
)
from sfumato.release import Release
from sfumato.words import N_

__all__ = ["Done", "Manner", "carry_out"]


@final
@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is carried out.

    Attributes:
        lang: Language of titles and pages.
        ask: Whether to ask before the budget is spent.
        force: Whether existing files may be overwritten.
        resume: Whether to go on with the unfinished run in the results' folder.
        in_memory: Whether the budget is kept in memory: for a public table only.
    """

    lang: str
    ask: bool = True
    force: bool = False
    resume: bool = False
    in_memory: bool = False


@final
@dataclass(frozen=True, slots=True)
class Done:
    """What a run has done.

    Attributes:
        made: The releases.
        cost: What was spent in this run; none when all answers were there already.
        left: What can still be spent.
    """

    made: list[Release]
    cost: Loss | None
    left: Loss


def carry_out(
    project: Project, releases: tuple[Asked, ...], outputs: Outputs, manner: Manner
) -> Done:
    """Make releases and write their files.

    All that can be refused is refused before the first debit. What was paid for is
    written even when a later release fails.
    """
    with ExitStack() as stack:
        if manner.resume:
            stack.enter_context(held(outputs.folder))
        record, asked = _begin(project, releases, outputs, manner)
        check_source(project)
        left = whole(project) if manner.in_memory else standing(project)
        pay = due(asked)
        afford(pay, left)
        _tell_lost(asked)
        if manner.ask and pay:
            _confirm(total_cost(pay), left)
        stack.enter_context(outputs.ready())
        run = Run(project, asked, lang=record.lang, in_memory=manner.in_memory)
        if not (manner.in_memory or manner.resume):
            record.save(outputs.folder)
            stack.enter_context(held(outputs.folder))
        made = _make(run, project, asked, outputs, record.lang)
        (outputs.folder / FILE).unlink(missing_ok=True)
        if outputs.owner:
            outputs.write_owner(run.comparisons(made), lang=record.lang)
        return Done(made, total_cost(pay) if pay else None, run.left)


def _make(
    run: Run,
    project: Project,
    asked: tuple[Request, ...],
    outputs: Outputs,
    lang: str,
) -> list[Release]:
    """Make the releases and write them; what was made is written in any case."""
    made: list[Release] = []
    try:
        for release in _reporting(run, asked):
            made.append(release)  # noqa: PERF402  kept if a later one fails
    except BaseException as error:
        fresh = all(request.state is State.NEW for request in asked)
        if made:
            _write(project, made, outputs, lang)
            _tell_made(made, asked, outputs)
        elif fresh and isinstance(error, BudgetExceededError):
            (outputs.folder / FILE).unlink(missing_ok=True)  # nothing was spent
        raise
    _write(project, made, outputs, lang)
    return made


def _begin(
    project: Project, releases: tuple[Asked, ...], outputs: Outputs, manner: Manner
) -> tuple[Unfinished, tuple[Request, ...]]:
    """Return what the run writes down, and its requests; refuse to overwrite."""
    if manner.resume:
        record = read(outputs.folder)
        return record, requests(project, record, record.releases(project))
    if not manner.force:
        path = outputs.folder / FILE
        if os.path.lexists(path):
            raise ProjectError(
                N_("a run into {folder} has not finished"),
                hint=N_(
                    "go on with it: --resume, which pays nothing twice; or give it up "
                    "and spend again: --force"
                ),
                folder=str(outputs.folder),
            )
    outputs.refuse_existing(force=manner.force)
    record = begin(releases, manner.lang)
    return record, new_requests(record, releases)


def _confirm(cost: Loss, left: Standing) -> None:
    if not sys.stdin.isatty():
        raise UsageFault(
            N_("this spends {cost} of {left} left, for ever"),
            hint=N_("add --yes to spend it without being asked"),
            cost=loss_words(cost),
            left=loss_words(left.left),
        )
    question = say(
        N_("This spends {cost} of {left} left, for ever. Go on?"),
        cost=loss_words(cost),
        left=loss_words(left.left),
    )
    click.confirm(question, abort=True, err=True)


def _tell_lost(asked: Sequence[Request]) -> None:
    for request in asked:
        if request.state is State.LOST:
            text = N_(
                "{name} was paid for, but the run stopped before its answer was stored: "
                "that charge stands, and it costs {cost} again"
            )
            cost = loss_words(request.asked.plan.cost)
            click.echo(say(text, name=request.asked.name, cost=cost), err=True)


def _reporting(run: Run, asked: Sequence[Request]) -> Iterator[Release]:
    """Pass releases through; name each one on stderr before it is made."""
    found = run.releases()
    for place, request in enumerate(asked, 1):
        if len(asked) > 1:
            cost = loss_words(request.asked.plan.cost)
            if request.state is State.ANSWERED:
                cost = say(N_("answered before, free"))
            click.echo(
                say(
                    N_("{place} of {count}: {name}, {cost}"),
                    place=place,
                    count=len(asked),
                    name=request.asked.name,
                    cost=cost,
                ),
                err=True,
            )
        yield next(found)


def _tell_made(made: list[Release], asked: Sequence[Request], outputs: Outputs) -> None:
    text = N_(
        "{made} of {count} releases were made before this; they are in {folder}; go on "
        "with: --resume"
    )
    line = say(text, made=len(made), count=len(asked), folder=outputs.folder)
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
