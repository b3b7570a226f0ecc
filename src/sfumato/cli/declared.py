"""Column declarations in words."""

from __future__ import annotations

import datetime as dt
from typing import assert_never

import click

from sfumato.cli.tongue import say
from sfumato.declare.calendar import EPOCH, Date
from sfumato.declare.schema import Boolean, Category, Column, Integer, Real, Text
from sfumato.project import Project
from sfumato.release.text import visible
from sfumato.release.wording import measure_words
from sfumato.words import N_

__all__ = ["column_words", "remind", "unconfirmed_words"]

_MOST = 8  # keys on one line
_FINE = 1 << 24  # steps; a finer grid is the default's and says nothing to a reader


def column_words(name: str, column: Column) -> str:
    """Say what is declared of a column."""
    match column:
        case Date():
            first, last = (
                dt.date.fromordinal(int(bound) + EPOCH)
                for bound in (column.lower, column.upper)
            )
            return say(N_("days from {first} to {last}"), first=first, last=last)
        case Real() | Integer():
            return _number(name, column)
        case Category(values):
            return say(N_("one of {keys}"), keys=_list(values))
        case Boolean(true, false):
            return say(
                N_("true is {true}; false is {false}"),
                true=_list(true),
                false=_list(false),
            )
        case Text(longest):
            return say(N_("texts of at most {most} characters"), most=longest)
        case _:
            assert_never(column)


def unconfirmed_words(project: Project) -> list[str]:
    """Remind of columns that nobody has confirmed; a wrong key makes figures of nothing."""
    if not project.unconfirmed:
        return []
    text = N_(
        "Caution: not confirmed yet: {columns}. Are bounds, keys and unit those of the "
        "table? What fits none of them counts as missing, and is paid for all the same. "
        "Then delete confirmed = false."
    )
    return [say(text, columns=say(N_(", ")).join(map(visible, project.unconfirmed)))]


def remind(project: Project) -> None:
    """Remind on stderr, before the budget is spent."""
    for line in unconfirmed_words(project):
        click.echo(line, err=True)


def _number(name: str, column: Real | Integer) -> str:
    text = N_("numbers from {lower:g} to {upper:g} {unit}, step {step:g}")
    if column.width > _FINE:
        text = N_("numbers from {lower:g} to {upper:g} {unit}")
    if isinstance(column, Integer):
        text = N_("whole numbers from {lower:g} to {upper:g} {unit}")
    words = say(
        text,
        lower=column.lower,
        upper=column.upper,
        unit=measure_words(column.unit, say, name),
        step=column.step,
    )
    words = words.replace(" ,", ",").strip()  # a column may have no unit
    if column.missing:
        codes = say(N_(", ")).join(f"{code:g}" for code in column.missing)
        words = say(N_("{words}; missing: {codes}"), words=words, codes=codes)
    if column.complete:
        words = say(N_("{words}; every row has one"), words=words)
    if column.private is not None:
        text = N_("{words}; clipping bounds are found within, near quantile {q:g}")
        words = say(text, words=words, q=float(column.private.q))
    return words


def _list(keys: tuple[object, ...]) -> str:
    more = ["…"] if len(keys) > _MOST else []
    return say(N_(", ")).join([*map(str, keys[:_MOST]), *more])
