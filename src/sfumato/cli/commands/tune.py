"""``sfumato tune PROJECT --public FILE``: simulate a project before it is run."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, final

import click

from sfumato.amount import exact
from sfumato.cli.command import Command
from sfumato.cli.curves import Curve, draw, refuse_picture, save_picture
from sfumato.cli.failures import UsageFault
from sfumato.cli.options import (
    FORCE,
    AnyPath,
    Whole,
    as_json,
    echo_json,
    project_argument,
)
from sfumato.cli.table import number, table
from sfumato.cli.tongue import say
from sfumato.project import Project, load
from sfumato.project.advise import Amount, amount, amounts, knob
from sfumato.project.trials import tries
from sfumato.project.tune import Setting, Trial, frontier, settings
from sfumato.release import OWNER_ONLY
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["command"]

_CLIPS = "none,0.999,0.99,0.975,0.95"
_RUNS = 200


@final
@dataclass(frozen=True, slots=True)
class _Tuned:
    project: Project
    trials: tuple[Trial, ...]
    best: tuple[Trial, ...]
    runs: int
    owner: bool


def _tune(  # noqa: PLR0913  one for each option
    project: Path,
    *,
    public: Path | None,
    owner: bool,
    amounts_: str | None,
    clip: str,
    groups: bool,
    runs: int,
    jobs: int | None,
    picture: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    _one_table(public, owner=owner)
    declared = load(project)
    refuse_picture(picture, force=force)
    grid = _grid(declared, amounts_)
    tried = settings(declared, grid, _clips(clip), coarser=groups)
    found: list[Trial] = []
    work = tries(declared, public, tried, runs=runs, jobs=jobs or os.cpu_count() or 1)
    with click.progressbar(
        work, length=len(tried), label=say(N_("simulating")), file=sys.stderr
    ) as bar:
        for done in bar:
            found += done
    order = {setting: place for place, setting in enumerate(tried)}
    found.sort(key=lambda t: order[t.setting])
    tuned = _Tuned(declared, tuple(found), frontier(found), runs, owner)
    if picture is not None:
        save_picture(picture, _picture(tuned), mode=0o600 if owner else 0o666)
    if as_json:
        echo_json(_data(tuned))
        return
    click.echo("\n".join(_words(tuned)))
    if picture is not None:
        click.echo(say(N_("written: {path}"), path=picture))


def _one_table(public: Path | None, *, owner: bool) -> None:
    if (public is None) != owner:
        raise UsageFault(
            N_("tune simulates on a public table, and none is named")
            if public is None
            else N_("--public and --owner exclude each other"),
            hint=N_(
                "write --public stand-in.csv, with the columns of the private table; "
                "only the owner of the private table may look with --owner"
            ),
        )


def _grid(project: Project, given: str | None) -> tuple[Amount, ...]:
    if given is None:
        return amounts(project.budget)
    return tuple(amount(project.budget, text.strip()) for text in given.split(","))


def _clips(given: str) -> tuple[Fraction | None, ...]:
    return tuple(dict.fromkeys(_clip(text.strip()) for text in given.split(",")))


def _clip(text: str) -> Fraction | None:
    if text == "none":
        return None
    share = exact(text)
    if share is None or not Fraction(1, 2) < share < 1:
        raise UsageFault(
            N_("a clipping quantile lies between 0.5 and 1, got {value}"),
            hint=N_(
                'write, for example, --clip none,0.99,0.95; "none" keeps the bounds'
            ),
            value=repr(text[:40]),
        )
    return share


def _words(tuned: _Tuned) -> list[str]:
    about = N_(
        "simulated releases of each: {runs}; root mean squared error against the truth"
    )
    lines = [say(OWNER_ONLY)] if tuned.owner else []
    lines.append(say(about, runs=tuned.runs))
    sign = "ε" if knob(tuned.project.budget) == "epsilon" else "ρ"
    kinds = dict.fromkeys((t.setting.release, t.setting.groups) for t in tuned.best)
    for release, groups in kinds:
        asked = tuned.project.releases[release]
        by = f" ({', '.join(groups)})" if groups else ""
        lines += ["", visible(f"{asked.name}{by}")]
        rows = [
            [
                t.name,
                t.setting.amount.text,
                number(t.error),
                number(t.bias),
                _clip_words(t.setting),
                _bounds_words(t),
            ]
            for t in sorted(
                (
                    t
                    for t in tuned.best
                    if (t.setting.release, t.setting.groups) == (release, groups)
                ),
                key=lambda t: t.name,
            )
        ]
        heads = [
            say(N_("figure")),
            sign,
            say(N_("error")),
            say(N_("of it bias")),
            say(N_("best clipping")),
            say(N_("bounds")),
        ]
        lines += table(heads, rows, right=[2, 3])
    return lines


def _clip_words(setting: Setting) -> str:
    return say(N_("declared")) if setting.clip is None else f"{float(setting.clip):g}"


def _bounds_words(trial: Trial) -> str:
    return "" if trial.bounds is None else "{:.4g} … {:.4g}".format(*trial.bounds)


def _picture(tuned: _Tuned) -> str:
    kinds = dict.fromkeys(
        (t.setting.release, t.setting.groups, t.name) for t in tuned.best
    )
    curves = []
    for release, groups, name in kinds:
        points = tuple(
            (float(t.setting.amount.text), t.error)
            for t in tuned.best
            if (t.setting.release, t.setting.groups, t.name) == (release, groups, name)
            and t.error > 0
        )
        if points:
            title = f"{name} ({', '.join(groups)})" if groups else name
            curves.append(Curve(title, points, None))
    sign = "ε" if knob(tuned.project.budget) == "epsilon" else "ρ"
    title = say(N_("error against loss, best clipping"))
    return draw(curves, f"{say(OWNER_ONLY)}: {title}" if tuned.owner else title, sign)


def _data(tuned: _Tuned) -> dict[str, Any]:
    best = set(map(id, tuned.best))
    return {
        "owner_only": tuned.owner,
        "runs": tuned.runs,
        "trials": [
            {
                "release": tuned.project.releases[t.setting.release].name,
                "groups": list(t.setting.groups),
                "figure": t.name,
                "amount": t.setting.amount.text,
                "clip": None if t.setting.clip is None else float(t.setting.clip),
                "bounds": None if t.bounds is None else list(t.bounds),
                "error": t.error,
                "bias": t.bias,
                "best": id(t) in best,
            }
            for t in tuned.trials
        ],
    }


command = Command(
    "tune",
    callback=_tune,
    params=[
        project_argument(),
        click.Option(
            ["--public"],
            type=AnyPath(),
            metavar="FILE",
            help=N_("A public or synthetic table with the columns of the private one."),
        ),
        click.Option(
            ["--owner"],
            is_flag=True,
            help=N_("Simulate on the private table: for its owner's eyes only."),
        ),
        click.Option(
            ["--amounts", "amounts_"],
            metavar="LIST",
            help=N_(
                "Losses to try, such as 0.1,0.5,1; as the project file states them."
            ),
        ),
        click.Option(
            ["--clip"],
            default=_CLIPS,
            show_default=True,
            metavar="LIST",
            help=N_('Clipping quantiles to try; "none" keeps the declared bounds.'),
        ),
        click.Option(
            ["--groups"],
            is_flag=True,
            help=N_("Try each release also with one grouping column left out."),
        ),
        click.Option(
            ["--runs"],
            type=Whole(),
            default=_RUNS,
            metavar="N",
            help=N_("Simulated releases of each setting."),
        ),
        click.Option(
            ["--jobs"],
            type=Whole(),
            metavar="N",
            help=N_("Processes that share the work; default: one for each core."),
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
        N_(
            "Simulate a project on a public table: errors for losses, clipping, groups."
        ),
        N_(
            "It shows for each figure the error that a loss buys, and which clipping "
            "bounds serve it best. Narrow bounds need less noise and cut more values; "
            "the best lie between. Nothing is spent and no private row is read."
        ),
    ),
    examples=(
        (
            "sfumato tune project.toml --public stand-in.csv",
            N_("all releases, at the usual losses"),
        ),
        (
            "sfumato tune project.toml --public stand-in.csv --amounts 0.2,0.5 --groups",
            N_("at two losses, also with coarser groups"),
        ),
    ),
)
