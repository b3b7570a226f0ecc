"""Carry out a synthesis of linked tables on a terminal: as of one, a file for each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.failures import UsageFault
from sfumato.cli.money import loss_words
from sfumato.cli.synthesize import (
    ROWS,
    TableManner,
    asked_table,
    confirm,
    fits,
    laid_out,
    session_of,
    with_progress,
)
from sfumato.cli.tongue import say, tongue
from sfumato.errors import ProjectError
from sfumato.project import Project
from sfumato.project.outputs import Outputs, refuse_existing
from sfumato.project.source import check_source
from sfumato.project.synthetic import AskedTable
from sfumato.release.files import write
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.release.quality import Portrait
    from sfumato.synth import LinkedSynthesis
    from sfumato.synth.run import Layout

__all__ = ["judge_linked", "linked_before", "linked_paths", "synthesize_linked"]

_UNSAFE = re.compile(r"[^\w-]+")
_OTHERS = ("synthetic.html", "synthetic.json", "synthetic.linked")


def linked_paths(project: Project, manner: TableManner) -> tuple[Path, ...]:
    """Return the files that are written: the tables, the head first, then the rest."""
    names = _files(project)
    found = [f"synthetic-{n}.csv" for n in names] + [*_OTHERS]
    found += [f"synthetic-owner-{n}.html" for n in names] * manner.owner
    return tuple(manner.folder / name for name in found)


def synthesize_linked(project: Project, manner: TableManner) -> LinkedSynthesis:
    """Make linked tables and write their files; what can be refused is so before."""
    asked = asked_table(project)
    _refuse_held_out(manner)
    refuse_existing(linked_paths(project, manner), force=manner.force)
    check_source(project)
    with ExitStack() as stack:
        outputs = Outputs(manner.folder, ("html",), owner=manner.owner)
        stack.enter_context(outputs.ready())
        _tell(project, laid_out(project, manner))
        if manner.ask:
            confirm(project)
        session = session_of(project, manner)  # the ledger's cap is final from here on
        names = [one.name for one in asked.table.tables]
        plan = asked.table.linked().plan(session, names, asked.loss)
        made = with_progress(plan.fit)
        _write(made, asked, project, manner)
        if manner.owner:
            judge_linked(made, project, manner)
    return made


def linked_before(project: Project, manner: TableManner) -> LinkedSynthesis:
    """Return the linked tables that an earlier run made; spends nothing.

    Raises:
        ArgumentError: There are none in the folder.
        ProjectError: They are other tables, or their pages exist already.
    """
    from sfumato.synth import LinkedSynthesis

    _refuse_held_out(manner)
    check_source(project)
    path = manner.folder / _OTHERS[-1]
    made = LinkedSynthesis.load(path)
    names = [one.name for one in asked_table(project).table.tables]
    if list(made.names) != [project.dataset.name, *names]:
        raise ProjectError(
            N_("{path} holds other tables than the project asks for"),
            hint=N_("make them again, or give the project of then"),
            path=str(path),
        )
    lent = [f"{made.head}.{column}" for column in made.shared]
    fits(made[made.head], project.dataset.schema, path, names)
    for name in names:
        fits(made[name], project.dataset.private[name].schema, path, lent)
    refuse_existing(_owners(project, manner, made), force=manner.force)
    return made


def _owners(
    project: Project, manner: TableManner, made: LinkedSynthesis
) -> tuple[Path, ...]:
    """Return the owner's pages, in the order of the tables."""
    return linked_paths(project, replace(manner, owner=True))[-len(made.names) :]


def judge_linked(made: LinkedSynthesis, project: Project, manner: TableManner) -> None:
    """Compare each table with the true one, with what it borrows: owner's eyes only."""
    from sfumato.report.synthetic import quality_html
    from sfumato.synth.linked_quality import linked_owner_quality

    asked = asked_table(project)
    held = project.dataset.private
    found = linked_owner_quality(
        made,
        project.dataset,
        {name: held[name] for name in made.names[1:]},
        target=asked.table.target,
        quasi_identifiers=asked.table.quasi_identifiers,
    )
    for path, quality in zip(
        _owners(project, manner, made), found.values(), strict=True
    ):
        write(path, quality_html(quality, lang=manner.lang), mode=0o600)


def _files(project: Project) -> list[str]:
    """Return the tables' names as parts of file names: each once."""
    names = [project.dataset.name]
    names += [one.name for one in asked_table(project).table.tables]
    found: list[str] = []
    for name in names:
        safe = _UNSAFE.sub("_", name)[:60].strip("_") or "table"
        taken = [f.casefold() for f in found]
        found.append(safe if safe.casefold() not in taken else f"{safe}-{len(found)}")
    return found


def _refuse_held_out(manner: TableManner) -> None:
    if manner.held_out is not None:
        raise UsageFault(
            N_("attacks are measured on one table, not on linked ones"),
            hint=N_("leave out --held-out; --owner compares the tables"),
        )


def _tell(project: Project, layouts: Mapping[str, Layout]) -> None:
    """Say what each table costs and what cannot be trusted, on stderr."""
    from sfumato.synth.expect import expected_tables
    from sfumato.synth.omitted import warnings_of

    warnings: list[str] = []
    for table, layout in layouts.items():
        found = expected_tables(layout, rows=ROWS)
        worst = max((e for e in found if len(e.columns) == 1), key=lambda e: e.error)
        name = table or project.dataset.name
        text = N_(
            "{table}: columns: {columns}; cost: {cost}; noise alone makes an error of up "
            "to {error} in a column of 1000 rows ({name})"
        )
        facts = {
            "table": name,
            "columns": len(layout.grids) + len(layout.dependents),
            "cost": loss_words(layout.plan.cost),
            "error": f"{100 * worst.error:.0f}%",
            "name": worst.columns[0],
        }
        click.echo(say(text, **facts), err=True)
        told = warnings_of(layout, rows=ROWS, lang=tongue(), keyed=True)
        warnings += [f"{name}: {one}" for one in told]
    for one in warnings:
        click.echo(one, err=True)


def _write(
    made: LinkedSynthesis, asked: AskedTable, project: Project, manner: TableManner
) -> None:
    from sfumato.report.synthetic import linked_html
    from sfumato.synth.quality import portrait

    *tables, page, record, model = linked_paths(project, replace(manner, owner=False))
    made.save(model)
    releases = made.releases
    records = {name: json.loads(r.to_json()) for name, r in releases.items()}
    write(record, json.dumps({"tables": records}, ensure_ascii=False, indent=2))
    drawn = made.sample(asked.table.rows)
    for path, table in zip(tables, drawn.values(), strict=True):
        table.save(path)
    html = linked_html(
        asked.title[manner.lang],
        releases,
        {name: _portrait(portrait(made[name]), made.key) for name in made.names},
        {name: len(table) for name, table in drawn.items()},
        key=made.key,
        lang=manner.lang,
    )
    write(page, html)


def _portrait(found: Portrait, key: str) -> Portrait:
    """Leave out the column of people, which has new names in linked tables."""
    left = tuple(n for n in found.left_out if n != key)
    return replace(found, left_out=left)
