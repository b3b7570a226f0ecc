"""``sfumato plan PROJECT``: cost and expected error of every figure; reads no row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sfumato.account import Gaussian, KNorm, Selection, Threshold
from sfumato.account.loss import decimal_text
from sfumato.cli.command import Command
from sfumato.cli.declared import unconfirmed_words
from sfumato.cli.figures import figure_names, figure_units, plan_words
from sfumato.cli.meaning import unit_words
from sfumato.cli.money import (
    loss_data,
    loss_words,
    standing_data,
    standing_words,
    symbol,
)
from sfumato.cli.options import Whole, as_json, echo_json, project_argument
from sfumato.cli.spending import spending_data, spending_words, too_little_words
from sfumato.cli.table import number, table
from sfumato.cli.tongue import say, tongue
from sfumato.declare.query import Statistic
from sfumato.declare.unit import bounds_of
from sfumato.explain import threshold_words
from sfumato.plan import Expected, Part, Plan, Step, expected_errors, reach
from sfumato.project import Asked, Project, load
from sfumato.project.standing import Standing, standing
from sfumato.release.noted import measured_words
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["command"]

_ROWS = 1000
_CHANGES = {
    "row": N_("largest change by one row"),
    "person": N_("largest change of a group by one person"),
}
_SEEN = 0.95
_DISCRETE = N_("discrete Gaussian")
_GAUSSIAN = N_("Gaussian, rounded to whole numbers")


def _plan(project: Path, *, rows: int, as_json: bool) -> None:
    asked = load(project)
    left = standing(asked)
    if as_json:
        echo_json(_data(asked, left, rows))
    else:
        click.echo("\n".join(_words(asked, left, rows)))


def _words(project: Project, left: Standing, rows: int) -> list[str]:
    size = project.dataset.schema.unit.rows
    lines = [
        visible(project.title[tongue()]),
        unit_words(project.dataset),
        *standing_words(project.budget, left),
        say(
            N_("errors of means are expected for this many rows: {rows}"),
            rows=size or rows,
        ),
    ]
    for release in project.releases:
        lines += ["", *_release(release, rows)]
    lines += ["", *spending_words(project), *too_little_words(project, left)]
    return lines + unconfirmed_words(project)


def _release(asked: Asked, rows: int) -> list[str]:
    plan = asked.answering
    heads = [
        say(N_("figure")),
        say(N_("cells")),
        say(N_("average error")),
        say(N_("{level} of 100 errors within"), level=f"{100 * asked.confidence:.6g}"),
        say(N_("unit")),
    ]
    found = expected_errors(plan, rows=rows, confidence=asked.confidence)
    body = [
        [name, str(cells), number(e.mean_absolute), number(e.error), unit]
        for name, e, cells, unit in zip(
            figure_names(plan), found, _cells(plan), figure_units(plan), strict=True
        )
    ]
    return [
        f"{visible(f'{asked.title[tongue()]} [{asked.name}]')}: {loss_words(asked.plan.cost)}",
        f"  {plan_words(plan)}",
        *_bounded(asked),
        "",
        *table(heads, body, right=(1, 2, 3)),
        *_threshold(plan),
        "",
        *_noise(plan),
    ]


def _bounded(asked: Asked) -> list[str]:
    """Say what finding clipping bounds takes of the loss."""
    if asked.bounded is None:
        return []
    text = N_(
        "Of it {cost} finds clipping bounds of {columns} first. Below is the most noise "
        "that the rest can make: that of the declared ends."
    )
    cost = loss_words(asked.bounded.first.cost)
    return [say(text, cost=cost, columns=say(N_(", ")).join(asked.bounded.columns))]


def _cells(plan: Plan) -> list[int]:
    """Return how many figures each statistic has."""
    # Of unknown keys the cells of one are told: how many there are is private.
    groups = len(plan.groups) if plan.threshold is None else 1
    return [groups * _bins(plan, s) for s in plan.query.statistics]


def _bins(plan: Plan, statistic: Statistic) -> int:
    found = 1
    for column, edges in (("column", "edges"), ("other", "other_edges")):
        cut = getattr(statistic, edges, None)
        if cut is not None:
            declared = plan.schema[getattr(statistic, column)]
            found *= len(cut) - 1 if cut else len(getattr(declared, "values", ()))
    return found


def _threshold(plan: Plan) -> list[str]:
    """Tell beforehand which of the unknown keys will be shown."""
    told = threshold_words(plan.threshold, plan.schema.unit, say)
    return ["", told] if told else []


def _noise(plan: Plan) -> list[str]:
    """Return a table of what is measured and with which noise."""
    heads = [
        say(N_("measured")),
        say(_CHANGES[plan.schema.unit.name]),
        say(N_("average noise")),
        say(N_("law of the noise")),
        symbol(plan.measure),
    ]
    rows = [
        [
            _measured(part),
            number(reach(part.aggregate, plan.schema.unit) * part.size),
            _average(plan, i),
            _law(plan.step_of(i)),
            number(float(plan.charge(plan.step_of(i)))),
        ]
        for i, part in enumerate(plan.parts)
    ]
    return table(heads, rows, right=(1, 2, 4))


def _measured(part: Part) -> str:
    aggregate = part.aggregate
    about = getattr(aggregate, "column", "") or ""
    if among := getattr(aggregate, "among", ()):
        about += f" | {', '.join(among)}"
    return measured_words(f"{type(aggregate).__name__}({about})", say)


def _average(plan: Plan, place: int) -> str:
    if isinstance(plan.step_of(place).mechanism, Selection):
        return "–"  # a choice has no noise of its own
    return number(plan.noise_of(place).mean_absolute_error)


def _law(step: Step) -> str:
    if isinstance(step.mechanism, Selection):
        flips = step.mechanism.law == "permute_and_flip"
        return say(N_("permute-and-flip") if flips else N_("exponential mechanism"))
    if isinstance(step.mechanism, KNorm):
        text = N_("joint, for {count} together")
        return say(text, count=len(step.parts))
    if isinstance(step.mechanism, Gaussian):
        discrete = step.mechanism.law == "discrete"
        return say(_DISCRETE if discrete else _GAUSSIAN)
    if isinstance(step.mechanism, Threshold):
        law = step.mechanism.law
        return say(
            _GAUSSIAN if law == "gaussian" else N_("two-sided geometric, cut off")
        )
    return say(N_("two-sided geometric"))


def _data(project: Project, left: Standing, rows: int) -> dict[str, Any]:
    unit = project.dataset.schema.unit
    return {
        "project": str(project.path),
        "dataset": project.dataset.name,
        "unit": unit.name,
        "neighbours": unit.neighbours,
        **bounds_of(unit),
        "size": unit.size,
        **standing_data(project, left),
        **spending_data(project, left),
        "releases": [
            _release_data(asked, rows, project.delta) for asked in project.releases
        ],
    }


def _release_data(asked: Asked, rows: int, delta: str) -> dict[str, Any]:
    plan = asked.answering
    found = expected_errors(plan, rows=rows, confidence=asked.confidence)
    return {
        "name": asked.name,
        "question": str(plan.query),
        **loss_data(asked.plan.cost, delta),
        **_bounded_data(asked, delta),
        "figures": [
            _figure_data(e, cells, unit)
            for e, cells, unit in zip(
                found, _cells(plan), figure_units(plan, words=False), strict=True
            )
        ],
        **_threshold_data(plan),
        "steps": [
            {
                "noise": _noise_name(s),
                **loss_data(plan.charge(s), delta),
                "scale": _scale(s),
                "parts": [_part_data(plan, i) for i in s.parts],
            }
            for s in plan.steps
        ],
    }


def _bounded_data(asked: Asked, delta: str) -> dict[str, Any]:
    if asked.bounded is None:
        return {}
    cost = loss_data(asked.bounded.first.cost, delta)
    return {"finding_bounds": {"columns": list(asked.bounded.columns), **cost}}


def _scale(step: Step) -> str:
    m = step.mechanism
    return str(1 / m.rate if isinstance(m, Selection) else m.scale)


def _threshold_data(plan: Plan) -> dict[str, Any]:
    threshold = plan.threshold
    if threshold is None:
        return {}
    return {
        "threshold": {
            "least": threshold.least,
            "visible_rows": threshold.visible(_SEEN),
            "confidence": _SEEN,
            "delta": decimal_text(threshold.cost.delta_units, 18),
        }
    }


def _noise_name(step: Step) -> str:
    m = step.mechanism
    if isinstance(m, Selection | Threshold):
        return m.law
    if isinstance(m, Gaussian):
        return "discrete_gaussian" if m.law == "discrete" else "gaussian"
    return "k_norm" if isinstance(m, KNorm) else "geometric"


def _part_data(plan: Plan, place: int) -> dict[str, Any]:
    part, unit = plan.parts[place], plan.schema.unit
    return {
        "measures": type(part.aggregate).__name__,
        "column": getattr(part.aggregate, "column", None),
        "cells": part.cells,
        f"changed_by_one_{unit.name}": reach(part.aggregate, unit) * part.size,
        "mean_absolute_noise": None
        if isinstance(plan.step_of(place).mechanism, Selection)
        else plan.noise_of(place).mean_absolute_error,
    }


def _figure_data(e: Expected, cells: int, unit: str) -> dict[str, Any]:
    return {
        "name": e.name,
        "cells": cells,
        "mean_absolute_error": e.mean_absolute,
        "error": e.error,
        "confidence": e.confidence,
        "rows_per_group": e.rows,
        "unit": unit,
    }


command = Command(
    "plan",
    callback=_plan,
    params=[
        project_argument(),
        click.Option(
            ["--rows"],
            type=Whole(),
            default=_ROWS,
            metavar="N",
            help=N_("A public guess of the number of rows, on which means depend."),
        ),
        as_json(),
    ],
    about=(
        N_("Show the cost and the expected error of every figure; spends nothing."),
        N_(
            "The table is not opened: errors follow from the declared bounds, epsilon "
            "and a guess of the number of rows. Try other values until they fit."
        ),
    ),
    examples=(
        ("sfumato plan project.toml", N_("for a table of about 1000 rows")),
        ("sfumato plan project.toml --rows 20000", N_("for a larger one")),
    ),
)
