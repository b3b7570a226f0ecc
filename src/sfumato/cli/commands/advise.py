"""``sfumato advise PROJECT``: which error each loss buys, and the least that suffices."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import click

from sfumato.account import Loss
from sfumato.cli.bounds import bounds_data, bounds_on, bounds_words
from sfumato.cli.command import Command
from sfumato.cli.curves import Curve, draw, refuse_picture, save_picture
from sfumato.cli.figures import figure_names, figure_units
from sfumato.cli.money import loss_data, loss_words, standing_words
from sfumato.cli.options import (
    FORCE,
    AnyPath,
    Whole,
    as_json,
    echo_json,
    project_argument,
)
from sfumato.cli.spending import beside_words
from sfumato.cli.table import number, table
from sfumato.cli.tongue import say, tongue
from sfumato.cli.width import wrap
from sfumato.cli.wishes import Wishes, read_wishes
from sfumato.project import Asked, Project, load
from sfumato.project.advise import (
    Amount,
    Need,
    amounts,
    errors_at,
    knob,
    need,
    scenario_errors,
    total_need,
)
from sfumato.project.standing import Standing, standing
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["command"]

_ROWS = 1000
_PATIENCE = 1.0  # seconds without a word


@final
@dataclass(slots=True)
class _Progress:
    """Names what is worked at, once it has taken a while."""

    began: float = field(default_factory=time.monotonic)

    def tell(self, name: str) -> None:
        if time.monotonic() - self.began > _PATIENCE:
            click.echo(say(N_("working at {name} …"), name=name), err=True)


@final
@dataclass(frozen=True, slots=True)
class _Advice:
    project: Project
    rows: int
    left: Standing
    wishes: Wishes
    grid: tuple[Amount, ...]
    errors: dict[str, list[tuple[float, ...]]]  # per release, per amount of the grid
    needs: tuple[Need, ...]
    total: Loss | None


def _advise(  # noqa: PLR0913  one for each option
    project: Path,
    *,
    rows: int,
    target: tuple[str, ...],
    public: Path | None,
    picture: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    asked = load(project)
    wishes = read_wishes(asked, target)
    refuse_picture(picture, force=force)
    advice = _work(asked, wishes, rows)
    bounds = [] if public is None else bounds_on(asked, public, rows)
    if picture is not None:
        save_picture(picture, _picture(advice))
    if as_json:
        more = {} if public is None else {"bounds": bounds_data(bounds)}
        echo_json(_data(advice) | more)
        return
    click.echo("\n".join(_words(advice) + bounds_words(bounds)))
    if picture is not None:
        click.echo(say(N_("written: {path}"), path=picture))


def _work(project: Project, wishes: Wishes, rows: int) -> _Advice:
    progress = _Progress()
    left = standing(project)
    needs = []
    for asked in project.releases:
        if any(w is not None for w in wishes[asked.name]):
            progress.tell(asked.name)
            needs.append(need(project, asked, wishes[asked.name], rows))
    total = total_need(needs, project, left) if needs else None
    grid = amounts(project.budget)
    errors = {}
    for asked in project.releases:
        progress.tell(asked.name)
        errors[asked.name] = [errors_at(project, asked, a.loss, rows) for a in grid]
    return _Advice(project, rows, left, wishes, grid, errors, tuple(needs), total)


def _words(advice: _Advice) -> list[str]:
    project = advice.project
    size = project.dataset.schema.unit.size or advice.rows
    lines = [
        visible(project.title[tongue()]),
        *standing_words(project.budget, advice.left),
        say(
            N_("errors of means are expected for this many rows: {rows}"),
            rows=size,
        ),
    ]
    for asked in project.releases:
        lines += ["", *_release(advice, asked)]
    lines += ["", *_scenarios(advice), ""]
    lines += _recommended(advice) if advice.needs else _no_wish()
    return lines + beside_words(project, advice.left, advice.total)


def _release(advice: _Advice, asked: Asked) -> list[str]:
    sign = _sign(advice.project)
    wishes = advice.wishes[asked.name]
    wished = any(w is not None for w in wishes)
    now = errors_at(advice.project, asked, asked.loss, advice.rows)
    heads = [
        say(N_("figure")),
        say(N_("unit")),
        *(f"{sign} {a.text}" for a in advice.grid),
        say(N_("now")),
        *([say(N_("wished"))] if wished else []),
    ]
    columns = [*advice.errors[asked.name], now]
    names, units = figure_names(asked.plan), figure_units(asked.plan)
    rows = []
    for i, (name, unit) in enumerate(zip(names, units, strict=True)):
        wish = wishes[i]
        cells = [number(column[i]) for column in columns]
        last = "" if wish is None else number(wish)
        rows.append([name, unit, *cells, *([last] if wished else [])])
    level = f"{100 * asked.confidence:.6g}"
    return [
        f"{visible(f'{asked.title[tongue()]} [{asked.name}]')}: {loss_words(asked.plan.cost)}",
        say(N_("{level} of 100 errors are within:"), level=level),
        *table(heads, rows, right=range(2, len(heads))),
    ]


def _scenarios(advice: _Advice) -> list[str]:
    found = scenario_errors(advice.project, advice.rows)
    heads = [
        say(N_("figure")),
        *(
            say(N_("{use}, ε {low} to {high}"), use=say(s.name), low=s.low, high=s.high)
            for s, _ in found
        ),
    ]
    rows = []
    for r, asked in enumerate(advice.project.releases):
        names, units = figure_names(asked.plan), figure_units(asked.plan)
        for i, (name, unit) in enumerate(zip(names, units, strict=True)):
            cells = [
                say(
                    N_("{low} to {high}"),
                    low=number(low[r][i]),
                    high=number(high[r][i]),
                )
                for _, (low, high) in found
            ]
            label = f"{asked.name}: {name}" + (f" ({unit})" if unit else "")
            rows.append([label, *cells])
    text = N_(
        "What the scenarios of tutorials buy here, as totals of all releases, split as "
        "this plan splits its own:"
    )
    return [*wrap(say(text), 88), *table(heads, rows)]


def _recommended(advice: _Advice) -> list[str]:
    key = knob(advice.project.budget)
    rows = []
    for n in advice.needs:
        names = figure_names(n.asked.plan)
        rows.append(
            [
                n.asked.name,
                loss_words(n.asked.plan.cost),
                f'{key} = "{n.amount.text}"',
                names[n.binding],
                number(n.errors[n.binding]),
            ]
        )
    heads = [
        say(N_("release")),
        say(N_("now")),
        say(N_("recommended")),
        say(N_("asks for most")),
        say(N_("its error")),
    ]
    total = loss_words(advice.total) if advice.total else ""
    text = N_("The smallest amounts that meet the wished errors; together {total}:")
    return [*wrap(say(text, total=total), 88), *table(heads, rows)]


def _no_wish() -> list[str]:
    text = N_(
        "No error is wished. Add target = 2.5, in the figure's unit, to a statistic, or "
        "--target FIGURE=2.5, and the smallest budget that meets it is told."
    )
    return wrap(say(text), 88)


def _sign(project: Project) -> str:
    return "ε" if knob(project.budget) == "epsilon" else "ρ"


def _picture(advice: _Advice) -> str:
    curves = []
    for asked in advice.project.releases:
        names, units = figure_names(asked.plan), figure_units(asked.plan)
        for i, (name, unit) in enumerate(zip(names, units, strict=True)):
            points = [
                (float(a.text), column[i])
                for a, column in zip(
                    advice.grid, advice.errors[asked.name], strict=True
                )
            ]
            kept = tuple((x, y) for x, y in points if y > 0)
            if kept:
                title = f"{asked.name}: {name}" + (f" ({unit})" if unit else "")
                curves.append(Curve(title, kept, advice.wishes[asked.name][i]))
    title = say(N_("{title}: error against {sign}"), title=advice.project.title[tongue()],
                sign=_sign(advice.project))  # fmt: skip
    return draw(curves, title, _sign(advice.project))


def _data(advice: _Advice) -> dict[str, Any]:
    project = advice.project
    scenarios = scenario_errors(project, advice.rows)
    return {
        "project": str(project.path),
        "states": knob(project.budget),
        "left": str(advice.left.left),
        "releases": [_release_data(advice, asked) for asked in project.releases],
        "scenarios": [
            {
                "name": s.name,
                "low": str(s.low),
                "high": str(s.high),
                "errors": {
                    a.name: {"low": list(low[r]), "high": list(high[r])}
                    for r, a in enumerate(project.releases)
                },
            }
            for s, (low, high) in scenarios
        ],
        "total": None if advice.total is None else str(advice.total),
    }


def _release_data(advice: _Advice, asked: Asked) -> dict[str, Any]:
    needed = {n.asked.name: n for n in advice.needs}.get(asked.name)
    return {
        "name": asked.name,
        "now": loss_data(asked.plan.cost, advice.project.delta),
        "figures": [s.name for s in asked.query.statistics],
        "wished": advice.wishes[asked.name],
        "errors": [
            {"amount": a.text, "errors": list(found)}
            for a, found in zip(advice.grid, advice.errors[asked.name], strict=True)
        ],
        "recommended": needed
        and {
            "amount": needed.amount.text,
            "loss": str(needed.amount.loss),
            "errors": list(needed.errors),
            "asks_for_most": asked.query.statistics[needed.binding].name,
        },
    }


command = Command(
    "advise",
    callback=_advise,
    params=[
        project_argument(),
        click.Option(
            ["--target"],
            multiple=True,
            metavar="FIGURE=ERROR",
            help=N_("Wish this error of a figure, such as mean_Glucose=2.5."),
        ),
        click.Option(
            ["--rows"],
            type=Whole(),
            default=_ROWS,
            metavar="N",
            help=N_("A public guess of the number of rows, on which means depend."),
        ),
        click.Option(
            ["--public"],
            type=AnyPath(),
            metavar="FILE",
            help=N_(
                "A public or synthetic table: also advise how much of a person counts."
            ),
        ),
        click.Option(
            ["--picture"],
            type=AnyPath(),
            metavar="FILE",
            help=N_("Also draw error against loss into this SVG file."),
        ),
        FORCE,
        as_json(),
    ],
    about=(
        N_("Find the smallest budget that meets wished errors; spends nothing."),
        N_(
            "The table is not opened: it shows the error of each figure at several "
            "losses, what the scenarios of tutorials buy for this plan, and the smallest "
            "amounts that meet the errors wished in the project file. When they do not "
            "fit what is left it refuses, and names the total that would suffice."
        ),
    ),
    examples=(
        ("sfumato advise project.toml", N_("with target = 2.5 in the project file")),
        (
            "sfumato advise project.toml --target mean_Glucose=2.5 --rows 20000",
            N_("with a wish of the moment"),
        ),
        (
            "sfumato advise project.toml --public stand-in.csv",
            N_("with max_rows and max_groups of a person"),
        ),
    ),
)
