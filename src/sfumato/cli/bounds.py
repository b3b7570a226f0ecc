"""How much of a person should count, in words and as data: for ``sfumato advise``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sfumato.cli.table import number, table
from sfumato.cli.tongue import say, tongue
from sfumato.cli.width import wrap
from sfumato.declare.unit import Unit
from sfumato.errors import ProjectError
from sfumato.plan.shown import single
from sfumato.project import Asked, Project
from sfumato.project.bounding import Bounding, best, try_bounds
from sfumato.project.trials import stand_in
from sfumato.words import N_

__all__ = ["bounds_data", "bounds_on", "bounds_words"]

Tried: TypeAlias = "tuple[Asked, tuple[Bounding, ...]]"


def bounds_on(project: Project, public: Path, rows: int) -> list[Tried]:
    """Try bounds of people on a public table, for each release that has some.

    Raises:
        ProjectError: The unit of the project is one row.
        SourceError: The table cannot be read as the project declares its columns.
    """
    if not isinstance(project.dataset.schema.unit, Unit):
        raise ProjectError(
            N_(
                "the unit of the project is one row: no bound of people is to be chosen"
            ),
            hint=N_("leave --public out; sfumato tune simulates on a public table"),
        )
    table_ = stand_in(project, public)
    tried = [(a, try_bounds(project, a, table_, rows=rows)) for a in project.releases]
    return [(asked, found) for asked, found in tried if found]


def bounds_words(tried: Sequence[Tried]) -> list[str]:
    """Return a table for each release, and what is recommended."""
    lines: list[str] = []
    for asked, found in tried:
        names = [s.name for s in asked.query.statistics if single(s)]
        chosen = best(found)
        heads = ["max_rows", "max_groups", say(N_("people cut")), *names, ""]
        rows = [
            [
                str(one.max_rows),
                str(one.max_groups),
                f"{100 * one.cut:.3g} %",
                *(f"{number(b)} + {number(n)}" for b, n in zip(one.bias, one.noise, strict=True)),
                say(N_("recommended")) if one is chosen else "",
            ]
            for one in found
        ]  # fmt: skip
        text = N_(
            "{title} [{name}] on the public table: bias + noise of each figure, on average, "
            "for bounds of a person:"
        )
        lines += [
            "",
            *wrap(say(text, title=asked.title[tongue()], name=asked.name), 88),
        ]
        lines += table(heads, rows, right=range(len(heads) - 1))
    if lines:
        text = N_(
            "The bias is that of the public table. Ask for people_cut to be told, as a "
            "paid figure, how many people the bounds cut in the private one."
        )
        lines += ["", *wrap(say(text), 88)]
    return lines


def bounds_data(tried: Sequence[Tried]) -> list[dict[str, Any]]:
    """Return the same as plain data."""
    return [
        {
            "release": asked.name,
            "recommended": _data(best(found)),
            "tried": [_data(one) for one in found],
        }
        for asked, found in tried
    ]


def _data(one: Bounding) -> dict[str, Any]:
    return {
        "max_rows": one.max_rows,
        "max_groups": one.max_groups,
        "people_cut": one.cut,
        "bias": list(one.bias),
        "noise": list(one.noise),
    }
