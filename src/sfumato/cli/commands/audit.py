"""``sfumato audit PROJECT``: test every claim of a project on made-up tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import click

from sfumato import __version__
from sfumato.audit.whole import STAGES, ReleaseAudit, race
from sfumato.cli.command import Command
from sfumato.cli.failures import STOPPED
from sfumato.cli.meaning import unit_words
from sfumato.cli.options import (
    FORCE,
    Whole,
    as_json,
    echo_json,
    out,
    project_argument,
)
from sfumato.cli.table import table
from sfumato.cli.tongue import report_language, say
from sfumato.demo import project_file
from sfumato.errors import ProjectError
from sfumato.project import Project, load
from sfumato.release.audited import Audited, Check
from sfumato.release.files import write
from sfumato.words import N_

__all__ = ["command"]

_FILE = Path("audit.html")
_DEMO = "demo"
_DRAWS, _TABLES = 60_000, 12
_FEWEST = 1000
_ELSEWHERE = N_("models and synthetic tables are audited by the program's own tests")


def _audit(  # noqa: PLR0913  one for each option
    project: Path,
    *,
    out: Path | None,
    only: tuple[str, ...],
    draws: int,
    tables: int,
    force: bool,
    as_json: bool,
) -> int:
    page = out or _FILE
    if os.path.lexists(page) and not force:
        raise ProjectError(
            N_("{path} exists already"),
            hint=N_("choose another file with --out, or overwrite: --force"),
            path=str(page),
        )
    if draws < _FEWEST:
        raise ProjectError(
            N_("an audit needs at least {least} draws, got {draws}"),
            hint=N_("write --draws 60000; more draws find smaller violations"),
            least=_FEWEST,
            draws=draws,
        )
    from sfumato.report.audit import audit_html

    with _file(project) as path:
        declared = load(path)
    done = _carry_out(declared, only, draws, tables)
    write(page, audit_html(done, lang=report_language(declared.language)))
    if as_json:
        echo_json(done.to_dict())
    else:
        click.echo("\n".join(_words(done)))
        click.echo(say(N_("written: {path}"), path=page))
    return STOPPED if done.violations else 0


@contextmanager
def _file(project: Path) -> Iterator[Path]:
    if str(project) == _DEMO and not project.exists():
        with project_file() as path:
            yield path
    else:
        yield project


def _carry_out(
    declared: Project, only: tuple[str, ...], draws: int, tables: int
) -> Audited:
    start, schema = monotonic(), declared.dataset.schema
    asked = declared.chosen(only)
    if not asked:
        raise ProjectError(
            N_("{file} has no release to audit"),
            hint=N_(
                "models and synthetic tables are audited by audit.one_run, in Python"
            ),
            file=declared.path.name,
        )
    checks: list[Check] = []
    skipped: list[tuple[str, str]] = []
    with click.progressbar(
        length=len(asked) * STAGES + 1, label=say(N_("auditing")), file=sys.stderr
    ) as bar:
        for one in asked:
            audit = ReleaseAudit(
                one.name, one.query, schema, one.loss,
                delta=declared.delta, draws=draws, tables=tables,
            )  # fmt: skip
            for found in audit.checks():
                checks += found
                bar.update(1)
            skipped += audit.skipped
        paying = [one for one in asked if one.plan.steps]
        if paying:
            checks.append(race(paying[-1].query, schema, paying[-1].loss))
        bar.update(1)
    skipped += [(model.name, _ELSEWHERE) for model in declared.models]
    skipped += [("synthetic", _ELSEWHERE)] * (declared.synthetic is not None)
    return Audited(
        title=declared.title[report_language(declared.language)],
        source=declared.path.name,
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        unit=unit_words(schema.unit),
        seconds=monotonic() - start,
        checks=tuple(checks),
        skipped=tuple(skipped),
    )


def _words(done: Audited) -> list[str]:
    heads = [N_("test"), N_("what"), N_("claimed"), N_("found"), N_("verdict")]
    names = {
        "sensitivity": N_("sensitivity"),
        "noise": N_("noise"),
        "release": N_("black box"),
        "race": N_("budget race"),
    }
    verdicts = {True: N_("VIOLATED"), False: N_("not refuted")}
    rows = [
        [say(names[c.kind]), c.subject, c.claimed, c.found, say(verdicts[c.violated])]
        for c in done.checks
    ]
    count = len(done.violations)
    verdict = say(
        N_("No claim was refuted. That proves nothing beyond what was tried.")
    )
    if count:
        verdict = say(N_("{count} claims are VIOLATED"), count=count)
    return [*table([say(head) for head in heads], rows), "", verdict]


command = Command(
    "audit",
    callback=_audit,
    params=[
        project_argument(),
        out(N_("File of the page. Default: audit.html.")),
        click.Option(
            ["--only"],
            multiple=True,
            metavar="NAME",
            help=N_("Audit this release only; may be repeated."),
        ),
        click.Option(
            ["--draws"],
            type=Whole(),
            default=_DRAWS,
            help=N_("Draws of each release on each side. Default: 60000."),
        ),
        click.Option(
            ["--tables"],
            type=Whole(),
            default=_TABLES,
            help=N_("Hostile tables of each release. Default: 12."),
        ),
        FORCE,
        as_json(),
    ],
    about=(
        N_("Test every privacy claim of a project on made-up tables; spends nothing."),
        N_(
            "For each release: hostile small tables and all their neighbours through the "
            "real plan and engine; the law of its noise; the whole release as a black box; "
            "and a race of threads for the budget. No row of the private table is read. "
            "The page says what was claimed, what was certified, and what was not tested. "
            "Exit code 1 if any claim is refuted."
        ),
    ),
    examples=(
        ("sfumato audit project.toml", N_("writes audit.html")),
        ("sfumato audit demo --lang zh", N_("the packaged example, in Chinese")),
        (
            "sfumato audit project.toml --only means --draws 100000 --force",
            N_("one release, with a closer look"),
        ),
    ),
)
