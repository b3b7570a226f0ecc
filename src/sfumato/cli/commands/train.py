"""``sfumato train PROJECT``: fit the models of a project, privately, and describe them."""

from __future__ import annotations

import os
import sys
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.cli.command import Command
from sfumato.cli.declared import remind
from sfumato.cli.failures import UsageFault
from sfumato.cli.money import loss_words
from sfumato.cli.options import FORCE, out, project_argument
from sfumato.cli.tongue import report_language, say
from sfumato.errors import BudgetExceededError, MissingExtraError, ProjectError
from sfumato.project import Project, load
from sfumato.project.learned import ModelTable, order_of, refuse_names
from sfumato.project.outputs import Outputs
from sfumato.project.standing import standing
from sfumato.release.files import write
from sfumato.release.libraries import need
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.models.budget import ModelBudget
    from sfumato.models.training import Trained, Training

__all__ = ["command"]


def _train(
    project: Path, *, only: tuple[str, ...], out: Path | None, yes: bool, force: bool
) -> None:
    declared = load(project)
    wishes = _chosen(declared, only)
    folder = out or declared.folder
    lang = report_language(declared.language)
    refuse_names([wish.name for wish in wishes], declared.path.name)
    _refuse_existing(folder, wishes, force=force)
    need("jinja2")  # for the cards
    ready = _ready(declared, wishes)
    total: Any = reduce(add, (training.cost for _, training in ready))
    _afford(total, declared)
    remind(declared)
    if not yes:
        _confirm(total)
    with Outputs(folder, ()).ready():
        budget = _budget(declared, ledger=declared.ledger)
        for wish, training in ready:
            training.pay_from(budget)
            trained = training.run(partial(_keep, _paths(folder, wish)[0]))
            _write(folder, wish, trained, lang)
            _tell(wish, trained)
    click.echo(say(N_("Left to spend: {left}."), left=loss_words(budget.left)))


def _chosen(project: Project, only: tuple[str, ...]) -> list[ModelTable]:
    if not project.models:
        raise ProjectError(
            N_("{file} has no models"),
            hint=N_("add an entry: [[models]], with name, target and epsilon"),
            file=project.path.name,
        )
    names = [wish.name for wish in project.models]
    for name in only:
        if name not in names:
            raise ProjectError(
                N_("{file} has no model {name}"),
                hint=N_("it has {near}"),
                file=project.path.name,
                name=repr(name),
                near=", ".join(map(repr, names)),
            )
    return [w for w in project.models if not only or w.name in only]


def _paths(folder: Path, wish: ModelTable) -> tuple[Path, Path]:
    return folder / f"{wish.name}.model.json", folder / f"{wish.name}.card.html"


def _refuse_existing(folder: Path, wishes: list[ModelTable], *, force: bool) -> None:
    for wish in wishes:
        for path in _paths(folder, wish):
            if os.path.lexists(path) and (path.is_dir() or not force):
                raise ProjectError(
                    N_("{path} exists already"),
                    hint=N_("choose another folder with --out, or overwrite: --force"),
                    path=str(path),
                )


def _ready(
    project: Project, wishes: list[ModelTable]
) -> list[tuple[ModelTable, Training]]:
    """Check and open everything; the ledger begins with a run that is not refused."""
    try:
        from sfumato.models.training import Training
    except ImportError:
        raise MissingExtraError(
            N_("models need scikit-learn, which is not installed"),
            hint=N_('install it with: pip install "sfumato[models]"'),
        ) from None
    budget = _budget(project)
    return [(w, Training(project.dataset, order_of(w), budget)) for w in wishes]


def _budget(project: Project, *, ledger: Path | str | None = None) -> ModelBudget:
    """Return the budget; without a ledger one in memory, to check with."""
    from sfumato.models.budget import ModelBudget

    return ModelBudget(
        project.budget,
        dataset=project.dataset.name,
        ledger=ledger,
        limits=project.limits,
        anchor=project.anchor if ledger else None,
        declared=project.declared,
    )


def _afford(total: Any, project: Project) -> None:
    """Refuse all models if the budget, or a limit of it, does not pay for them."""
    held = standing(project)
    for left in (held.left, *(left for _, left in held.limits)):
        if not total.fits(left):
            raise BudgetExceededError(
                N_("fit and test cost {cost}, {left} is left"),
                hint=N_("ask for less, or ask the data owner for another budget"),
                cost=str(total),
                left=str(left),
            )


def _confirm(cost: Any) -> None:
    if not sys.stdin.isatty():
        raise UsageFault(
            N_("this spends {cost}, for ever"),
            hint=N_("add --yes to spend it without being asked"),
            cost=loss_words(cost),
        )
    question = say(N_("This spends {cost}, for ever. Go on?"), cost=loss_words(cost))
    click.confirm(question, abort=True, err=True)


def _keep(path: Path, model: Any) -> None:
    """Write a fitted model; if that fails now, print it rather than lose it."""
    from sfumato.models.storage import to_json

    text = to_json(model)
    try:
        write(path, text)
    except Exception:
        click.echo(text)
        message = N_("the files cannot be written; keep the JSON above: it is paid for")
        click.echo(say(message), err=True)
        raise


def _write(folder: Path, wish: ModelTable, trained: Trained, lang: str) -> None:
    from sfumato.models.card import card

    model, page = _paths(folder, wish)
    titles = wish.title.model_dump() if wish.title else {}
    uses = wish.intended_use.model_dump() if wish.intended_use else {}
    text = card(
        trained,
        title=titles.get(lang, wish.name),
        intended_use=uses.get(lang, ""),
        expected=wish.expected,
        lang=lang,
    )
    write(page, text)
    for path in (model, page):
        click.echo(say(N_("written: {path}"), path=path))


def _tell(wish: ModelTable, trained: Trained) -> None:
    line = say(
        N_("{name}: fitted for {cost}"), name=wish.name, cost=loss_words(trained.spent)
    )
    click.echo(line)
    if trained.test is not None:
        from sfumato.models.card import measured_lines

        for told in measured_lines(trained.test, say):
            click.echo(f"  {told}")


command = Command(
    "train",
    callback=_train,
    params=[
        project_argument(),
        click.Option(
            ["--only"],
            multiple=True,
            metavar="NAME",
            help=N_("Fit this model only; may be given several times."),
        ),
        out(N_("Folder of the results. Default: the project's.")),
        click.Option(
            ["--yes"], is_flag=True, help=N_("Spend the budget without being asked.")
        ),
        FORCE,
    ],
    about=(
        N_("Fit the models of a project privately: spends budget, writes model cards."),
        N_(
            "Each [[models]] entry names a target, features and an epsilon. The fit is "
            "debited before a row is looked at; with test_epsilon a share of the rows is "
            "kept for a private test, which is paid too. Every model is written as JSON "
            "and as a model card."
        ),
    ),
    examples=(
        ("sfumato train project.toml", N_("asks before it spends")),
        ("sfumato train project.toml --only diabetes --yes", N_("in a script")),
    ),
)
