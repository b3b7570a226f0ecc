"""``sfumato audit PROJECT``: test every claim of a project on made-up tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import ENOENT
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias, final

import click

from sfumato import __version__
from sfumato.audit.attacks.reconstruction import before_and_after
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
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.demo import project_file
from sfumato.errors import MissingExtraError, ProjectError
from sfumato.project import Project, load
from sfumato.project.learned import ModelTable, order_of
from sfumato.project.synthetic import AskedTable
from sfumato.release.audited import Audited, Check, Kind
from sfumato.release.files import write
from sfumato.release.noted import fact_words
from sfumato.release.text import visible
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.audit.learned import LearnedAudit

__all__ = ["command"]

_FILE = Path("audit.html")
_DEMO = "demo"
_SYNTHETIC = "synthetic"
_DRAWS, _TABLES = 60_000, 12
_FEWEST = 1000
_CANARIES = 400
_FEWEST_CANARIES = 10
_RISK = 1e-9
_TESTS: dict[Kind, str] = {
    "sensitivity": N_("sensitivity"),
    "noise": N_("noise"),
    "release": N_("black box"),
    "keys": N_("unknown keys"),
    "model": N_("model"),
    "synthetic": N_("synthetic table"),
    "race": N_("budget race"),
}
_SIZE = N_("its number of rows is public, and canaries come and go")
_EXTRA = N_("scikit-learn or scipy is not installed")
_LINKED = N_(
    "linked tables are not audited in one run; their bounds are tested instead"
)


def _audit(  # noqa: PLR0913  one for each option
    project: Path,
    *,
    out: Path | None,
    only: tuple[str, ...],
    draws: int,
    tables: int,
    canaries: int,
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
    if not page.parent.is_dir():
        raise ProjectError(
            N_("{path} cannot be written: {reason}"),
            hint=N_("choose another file with --out"),
            path=str(page),
            reason=os.strerror(ENOENT),
        )
    if draws < _FEWEST:
        raise ProjectError(
            N_("an audit needs at least {least} draws, got {draws}"),
            hint=N_("write --draws 60000; more draws find smaller violations"),
            least=_FEWEST,
            draws=draws,
        )
    if canaries < _FEWEST_CANARIES:
        raise ProjectError(
            N_("an audit by one run needs at least {least} canaries, got {canaries}"),
            hint=N_("write --canaries 400; more canaries find smaller violations"),
            least=_FEWEST_CANARIES,
            canaries=canaries,
        )
    from sfumato.report.audit import audit_html

    with _file(project) as path:
        declared = load(path)
    done = _carry_out(declared, only, _Effort(draws, tables, canaries))
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


@final
@dataclass(frozen=True, slots=True)
class _Effort:
    draws: int
    tables: int
    canaries: int


def _carry_out(declared: Project, only: tuple[str, ...], effort: _Effort) -> Audited:
    start, schema = monotonic(), declared.dataset.schema
    learned = _learned(declared, only)
    names = {name for name, _, _ in learned}
    others = tuple(name for name in only if name not in names)
    asked = declared.chosen(others) if others or not only else []
    if not asked and not learned:
        raise ProjectError(
            N_("{file} has nothing to audit"),
            hint=N_("add [[releases]], [[models]] or [synthetic]"),
            file=declared.path.name,
        )
    checks: list[Check] = []
    skipped: list[tuple[str, str]] = []
    with _steps(len(asked) * len(STAGES) + len(learned) + 1) as tell:
        for one in asked:
            audit = ReleaseAudit(
                one.name, one.query, schema, one.loss,
                delta=declared.delta, draws=effort.draws, tables=effort.tables,
            )  # fmt: skip
            stages = audit.checks()
            for stage in STAGES:
                tell(stage, one.name)
                checks += next(stages)
            skipped += audit.skipped
        for name, kind, run in learned:
            tell(kind, name)
            told = _by_one_run(name, kind, run, schema, effort.canaries)
            (checks if isinstance(told, Check) else skipped).append(told)  # type: ignore[arg-type]
        one_row = not isinstance(schema.unit, Unit) or schema.unit.size is None
        paying = [one for one in asked if one.plan.steps and one_row]
        for one in paying[-1:]:
            tell("race", one.name)
            checks.append(race(one.name, one.query, schema, one.loss))
    return Audited(
        title=declared.title[report_language(declared.language)],
        source=declared.path.name,
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        unit=unit_words(declared.dataset),
        seconds=monotonic() - start,
        checks=tuple(checks),
        skipped=tuple(skipped),
        rebuilt=before_and_after(),
    )


@contextmanager
def _steps(count: int) -> Iterator[Callable[[Kind, str], None]]:
    """Yield what names a step as it begins: a bar on a terminal, elsewhere plain lines."""
    hidden, place = not sys.stderr.isatty(), 0
    label = say(N_("auditing"))
    with click.progressbar(
        length=count, label=label, file=sys.stderr, hidden=hidden
    ) as bar:

        def tell(kind: Kind, name: str) -> None:
            nonlocal place
            bar.update(min(place, 1))  # the step before is done
            place += 1
            if hidden:
                facts = {"place": place, "count": count, "test": say(_TESTS[kind])}
                text = N_("{place} of {count}: {test}, {name}")
                click.echo(say(text, **facts, name=visible(name)), err=True)

        yield tell
        bar.update(count - bar.pos)


_Run: TypeAlias = "Callable[[int], LearnedAudit]"


def _learned(declared: Project, only: tuple[str, ...]) -> list[tuple[str, Kind, _Run]]:
    """Return the models and the synthetic table of a project, and how to audit each."""
    schema = declared.dataset.schema
    found: list[tuple[str, Kind, _Run]] = []

    def model(wish: ModelTable, canaries: int) -> LearnedAudit:
        from sfumato.audit.learned import model_audit

        return model_audit(
            order_of(wish), schema, canaries=canaries, confidence=1 - _RISK
        )

    def table(asked: AskedTable, canaries: int) -> LearnedAudit:
        from sfumato.audit.learned import synthetic_audit

        if asked.table.tables:
            raise NotImplementedError
        maker = asked.table.synthesizer()
        return synthetic_audit(
            maker, schema, asked.loss, canaries=canaries, confidence=1 - _RISK
        )

    found += [
        (wish.name, "model", partial(model, wish))
        for wish in declared.models
        if not only or wish.name in only
    ]
    if declared.synthetic is not None and (not only or _SYNTHETIC in only):
        found.append((_SYNTHETIC, "synthetic", partial(table, declared.synthetic)))
    return found


def _by_one_run(
    name: str, kind: Kind, run: _Run, schema: Schema, canaries: int
) -> Check | tuple[str, str]:
    """Return what one run found, or why there was none."""
    if schema.unit.size is not None:
        return name, _SIZE
    try:
        found = run(canaries)
    except NotImplementedError:
        return name, _LINKED
    except (ImportError, MissingExtraError):
        return name, _EXTRA
    lower = found.finding
    claimed = f"ε {lower.claimed:.6g}" + (f", δ {lower.delta:g}" if lower.delta else "")
    facts = {
        "canaries": str(found.canaries),
        "risk": f"{_RISK:.0e}",
        "event": lower.event,
        "most": f"{found.most:.3g}",
    }
    return Check(kind, name, claimed, f"ε ≥ {lower.lower:.3g}", facts, lower.violated)


def _words(done: Audited) -> list[str]:
    heads = [N_("test"), N_("what"), N_("claimed"), N_("found"), N_("verdict")]
    verdicts = {True: N_("VIOLATED"), False: N_("not refuted")}
    rows = [
        [
            say(_TESTS[c.kind]),
            fact_words(c.subject, say),
            fact_words(c.claimed, say),
            fact_words(c.found, say),
            say(verdicts[c.violated]),
        ]
        for c in done.checks
    ]
    count = len(done.violations)
    verdict = say(
        N_("No claim was refuted. That proves nothing beyond what was tried.")
    )
    if count:
        verdict = say(N_("{count} claims are VIOLATED"), count=count)
    if count == 1:
        verdict = say(N_("1 claim is VIOLATED"))
    left = N_("not tested: {subject}: {reason}")
    skipped = [
        say(left, subject=fact_words(subject, say), reason=say(reason))
        for subject, reason in done.skipped
    ]
    return [*table([say(head) for head in heads], rows), "", *skipped, verdict]


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
            help=N_('Audit this release, model or "synthetic" only; may be repeated.'),
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
        click.Option(
            ["--canaries"],
            type=Whole(),
            default=_CANARIES,
            help=N_("Canaries of each model and synthetic table. Default: 400."),
        ),
        FORCE,
        as_json(),
    ],
    about=(
        N_("Test every privacy claim of a project on made-up tables; spends nothing."),
        N_(
            "For each release: hostile small tables and all their neighbours through the "
            "real plan and engine; the law of its noise; the whole release as a black box, "
            "or which of its unknown keys are shown. For each model and for the synthetic "
            "table: one run on canaries. And a race of threads for the budget. No row of "
            "the private table is read. "
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
