"""Carry out a synthesis on a terminal: check, ask, debit, write; in this order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

import click

from sfumato.cli.failures import UsageFault
from sfumato.cli.money import loss_words
from sfumato.cli.tongue import say, tongue
from sfumato.declare.dataset import Dataset, one_place
from sfumato.declare.schema import Schema
from sfumato.engine.load import open_engine
from sfumato.errors import ProjectError
from sfumato.project import Project
from sfumato.project.address import written_alike
from sfumato.project.budget import told_elsewhere
from sfumato.project.made import afford_table, check_owner, layouts_of
from sfumato.project.outputs import Outputs, refuse_existing
from sfumato.project.source import check_source
from sfumato.project.standing import standing, whole
from sfumato.project.synthetic import AskedTable
from sfumato.release import OWNER_ONLY
from sfumato.release.files import write
from sfumato.session import Session
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.release.quality import Attack
    from sfumato.synth import Synthesis
    from sfumato.synth.run import Layout

__all__ = ["ROWS", "TableManner", "asked_table", "confirm", "fits", "judge", "laid_out",
           "made_before", "session_of", "synthesize", "with_progress"]  # fmt: skip

T = TypeVar("T")

_FILES = ("synthetic.csv", "synthetic.html", "synthetic.json", "synthetic.synth")
_OWNER = "synthetic-owner.html"
ROWS = 1000  # of the table that expected errors are told for


@final
@dataclass(frozen=True, slots=True)
class TableManner:
    """How a synthesis is carried out.

    Attributes:
        folder: Where its files go.
        lang: Language of its pages.
        ask: Whether to ask before the budget is spent.
        force: Whether existing files may be overwritten.
        in_memory: Whether the budget is kept in memory: for a public table only.
        owner: Whether the owner's page is written too: NOT PRIVATE.
        held_out: Rows of the same columns that are not in the table: for attacks.
    """

    folder: Path
    lang: str
    ask: bool = True
    force: bool = False
    in_memory: bool = False
    owner: bool = False
    held_out: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are written."""
        names = [*_FILES] + [_OWNER] * self.owner
        return tuple(self.folder / name for name in names)


def asked_table(project: Project) -> AskedTable:
    """Return the synthetic table that a project asks for.

    Raises:
        ProjectError: It asks for none.
    """
    if project.synthetic is None:
        raise ProjectError(
            N_("{file} asks for no synthetic table"),
            hint=N_('add a table: [synthetic] with epsilon = "1"'),
            file=project.path.name,
        )
    return project.synthetic


def synthesize(project: Project, manner: TableManner) -> Synthesis:
    """Make a synthetic table and write its files.

    All that can be refused is refused before the debit. What was paid for is written
    first as the model itself, from which everything else can be made again.
    """
    asked = asked_table(project)
    refuse_existing(manner.paths, force=manner.force)
    check_source(project)
    _check_held_out(project, manner)
    with ExitStack() as stack:
        outputs = Outputs(manner.folder, ("html",), owner=manner.owner)
        stack.enter_context(outputs.ready())
        layout = laid_out(project, manner)[""]
        _tell(layout)
        if manner.ask:
            confirm(project)
        session = session_of(project, manner)  # the ledger's cap is final from here on
        title = asked.title[manner.lang]
        plan = asked.table.synthesizer().plan(session, asked.loss, title=title)
        made = with_progress(plan.fit)
        _write(made, asked, manner)
        if manner.owner:
            judge(made, project, manner)
    return made


def laid_out(project: Project, manner: TableManner) -> dict[str, Layout]:
    """Return what will be done for each table; refuse what cannot be paid or told."""
    asked = asked_table(project)
    layouts = layouts_of(project, asked)
    if manner.owner:
        check_owner(layouts[""], asked, project.dataset.schema)
    afford_table(asked, whole(project) if manner.in_memory else standing(project))
    return layouts


def made_before(project: Project, manner: TableManner) -> Synthesis:
    """Return the synthesis that an earlier run wrote; spends nothing.

    Raises:
        ArgumentError: There is none in the folder.
        ProjectError: It is of other columns, or its page exists already.
    """
    from sfumato.synth import Synthesis

    asked_table(project)
    check_source(project)
    _check_held_out(project, manner)
    made = Synthesis.load(manner.folder / _FILES[-1])
    fits(made, project.dataset.schema, manner.folder / _FILES[-1])
    refuse_existing([manner.folder / _OWNER], force=manner.force)
    return made


def fits(made: Synthesis, schema: Schema, path: Path, but: Sequence[str] = ()) -> None:
    """Refuse a synthesis of other columns than the project declares.

    Args:
        made: What an earlier run left.
        schema: What the project declares now.
        path: The file that it was read from.
        but: Columns of it that are numbers of rows, or borrowed from another table.

    Raises:
        ProjectError: They are not the same.
    """
    declared = dict(schema.columns)
    for name in made.made.names:
        if name not in but and declared.get(name) != made.made.schema[name]:
            raise ProjectError(
                N_("{path} was made when column {name} was declared otherwise"),
                hint=N_("make the table again, or give the project of then"),
                path=str(path),
                name=repr(name),
            )


def _held_out(project: Project, manner: TableManner) -> Dataset | None:
    """Return the rows that were held out, declared and written as the project's are."""
    if manner.held_out is None:
        return None
    own = project.dataset
    source = written_alike(own.source, manner.held_out)
    if one_place(source, own.source):
        raise ProjectError(
            N_("{path} is the table itself: rows that are held out are not in it"),
            hint=N_("name a file of other rows of the same columns"),
            path=str(manner.held_out),
        )
    name = f"{own.name}-held-out"
    return Dataset(source, schema=Schema(dict(own.schema.columns)), name=name)


def _check_held_out(project: Project, manner: TableManner) -> None:
    """Open the rows that were held out, so that a wrong file is refused at once."""
    held_out = _held_out(project, manner)
    if held_out is not None:
        open_engine(held_out).close()


def session_of(project: Project, manner: TableManner) -> Session:
    """Return the session whose budget pays."""
    with told_elsewhere():
        return Session(
            project.dataset,
            project.budget,
            ledger=None if manner.in_memory else project.ledger,
            limits=project.limits,
            anchor=None if manner.in_memory else project.anchor,
        )


def _tell(layout: Layout) -> None:
    """Say what it costs and what cannot be trusted, on stderr."""
    from sfumato.synth.expect import expected_tables, predicted_megabytes
    from sfumato.synth.omitted import warnings_of

    single = [e for e in expected_tables(layout, rows=ROWS) if len(e.columns) == 1]
    worst = max(single, key=lambda e: e.error)
    click.echo(
        say(
            N_(
                "columns: {columns}; cost: {cost}; noise alone makes an error of up to "
                "{error} in a column of 1000 rows ({name}); at most {megabytes} MB"
            ),
            columns=len(layout.grids) + len(layout.dependents),
            cost=loss_words(layout.plan.cost),
            error=f"{100 * worst.error:.0f}%",
            name=worst.columns[0],
            megabytes=predicted_megabytes(layout),
        ),
        err=True,
    )
    for text in warnings_of(layout, rows=ROWS, lang=tongue()):
        click.echo(text, err=True)


def confirm(project: Project) -> None:
    """Ask before the budget is spent; no ledger is opened yet."""
    cost = loss_words(asked_table(project).loss)
    left = loss_words(standing(project).left)
    if not sys.stdin.isatty():
        raise UsageFault(
            N_("this spends {cost} of {left} left, for ever"),
            hint=N_("add --yes to spend it without being asked"),
            cost=cost,
            left=left,
        )
    text = N_("This spends {cost} of {left} left, for ever. Go on?")
    click.confirm(say(text, cost=cost, left=left), abort=True, err=True)


def with_progress(fit: Callable[[Callable[[int, int], None]], T]) -> T:
    """Show a bar on a terminal, and nothing elsewhere."""
    label = say(N_("Making the table"))
    with click.progressbar(
        length=100, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:

        def told(done: int, rounds: int) -> None:
            bar.update(max(0, 100 * done // max(1, rounds) - bar.pos))

        return fit(told)


def _write(made: Synthesis, asked: AskedTable, manner: TableManner) -> None:
    from sfumato.report.synthetic import synthetic_html
    from sfumato.synth.quality import portrait

    table, page, record, model = manner.paths[:4]
    made.save(model)
    write(record, made.release.to_json())
    drawn = made.sample(asked.table.rows)
    drawn.save(table)
    html = synthetic_html(
        made.release, portrait(made), rows=len(drawn), lang=manner.lang
    )
    write(page, html)


def judge(made: Synthesis, project: Project, manner: TableManner) -> None:
    """Compare with the true rows, attack, and write the page: for the owner's eyes."""
    from sfumato.report.synthetic import quality_html
    from sfumato.synth.quality import owner_quality

    asked = asked_table(project)
    found = owner_quality(
        made,
        project.dataset,
        held_out=_held_out(project, manner),
        target=asked.table.target,
        quasi_identifiers=asked.table.quasi_identifiers,
    )
    page = quality_html(found, lang=manner.lang)
    write(manner.folder / _OWNER, page, mode=0o600)
    if found.attacks:
        click.echo(say(OWNER_ONLY), err=True)
    for attack in found.attacks:
        click.echo(_attack_words(attack, found.target), err=True)


def _attack_words(attack: Attack, target: str) -> str:
    """Say what an attack found, with the margin and the bound that it is worth."""
    told = {
        "inside": f"{100 * attack.inside:.1f}%",
        "outside": f"{100 * attack.outside:.1f}%",
        "gain": f"{100 * attack.gain:+.1f} ± {100 * attack.margin:.1f}",
        "most": f"{ceil(100 * attack.bound - 1e-9)}",
    }
    if attack.name == "membership":
        return say(
            N_(
                "Attack, who was in the table: {inside} of those inside, {outside} of those "
                "held out are said to be; gain {gain} points, at most {most} by the claim"
            ),
            **told,
        )
    return say(
        N_(
            "Attack, what is somebody's {target}: right for {inside} of those inside, "
            "{outside} of those held out; gain {gain} points, at most {most} by the claim"
        ),
        target=target,
        **told,
    )
