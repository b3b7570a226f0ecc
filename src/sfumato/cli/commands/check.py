"""``sfumato check PROJECT``: all that can be checked without a row, and for owners more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sfumato.cli.command import Command
from sfumato.cli.declared import column_words, unconfirmed_words
from sfumato.cli.figures import plan_words
from sfumato.cli.meaning import unit_words
from sfumato.cli.money import loss_data, loss_words, standing_data, standing_words
from sfumato.cli.options import as_json, echo_json, project_argument
from sfumato.cli.owner import inspected, owner_data, owner_lines
from sfumato.cli.spending import spending_data, spending_words, too_little_words
from sfumato.cli.table import table
from sfumato.cli.tongue import say, tongue
from sfumato.project import Project, json_schema, load
from sfumato.project.made import check_made, knows_models
from sfumato.project.paid import Due, due_of, refuse_short
from sfumato.project.source import check_source
from sfumato.project.standing import Standing, standing
from sfumato.words import N_

__all__ = ["command"]


def _check(
    project: Path | None, *, owner: bool, as_json: bool, json_schema_only: bool
) -> None:
    if json_schema_only:
        echo_json(json_schema())
        return
    if project is None:
        raise click.MissingParameter(
            ctx=click.get_current_context(), param=command.params[0]
        )
    declared = load(project)
    check_source(declared)
    left = standing(declared)
    dues = due_of(declared, check_made(declared), left)
    refuse_short(dues, left)
    columns = inspected(declared) if owner else ()
    if as_json:
        private = {"owners_eyes_only": owner_data(columns)} if owner else {}
        echo_json(_data(declared, left, dues) | private)
        return
    click.echo("\n".join(_words(declared, left, dues)))
    if owner:
        click.echo("\n".join(["", *owner_lines(columns)]))


def _words(project: Project, left: Standing, dues: tuple[Due, ...]) -> list[str]:
    schema = project.dataset.schema
    columns = [[name, column_words(name, column)] for name, column in schema.columns]
    return [
        say(N_("{file} is in order: {title}"), file=project.path.name,
            title=project.title[tongue()]),
        unit_words(project.dataset),
        "",
        say(N_("Declared columns, all found in {table}:"), table=project.table),
        *table([say(N_("column")), say(N_("declaration"))], columns),
        "",
        *_releases(project),
        *_models(project),
        *spending_words(project),
        *standing_words(project.budget, left),
        *too_little_words(project, left, dues),
        *unconfirmed_words(project),
        _next(project),
    ]  # fmt: skip


def _releases(project: Project) -> list[str]:
    if not project.releases:
        return []
    heads = [say(N_("name")), say(N_("cost")), say(N_("question"))]
    body = [
        [a.name, loss_words(a.plan.cost), plan_words(a.plan)] for a in project.releases
    ]
    return [say(N_("Releases:")), *table(heads, body), ""]


def _models(project: Project) -> list[str]:
    if not project.models:
        return []
    heads = [say(N_("name")), say(N_("estimator")), say(N_("target"))]
    heads += [say(N_("ε of the fit")), say(N_("ε of the test"))]
    body = [
        [m.name, m.estimator, m.target, str(m.epsilon), str(m.test_epsilon or "")]
        for m in project.models
    ]
    lines = [say(N_("Models, for sfumato train:")), *table(heads, body), ""]
    if not knows_models():
        text = N_(
            "scikit-learn is not installed: the options of models were not checked."
        )
        lines[-1:] = [say(text), ""]
    return lines


def _next(project: Project) -> str:
    if project.synthetic and not project.releases and not project.models:
        return say(N_("Next: sfumato synth {file}"), file=project.path)
    if project.models and not project.releases:
        return say(N_("Next: sfumato train {file}"), file=project.path)
    return say(N_("Next: sfumato plan {file}"), file=project.path)


def _data(project: Project, left: Standing, dues: tuple[Due, ...]) -> dict[str, Any]:
    return {
        "ok": True,
        "project": str(project.path),
        "dataset": project.dataset.name,
        "columns": list(project.dataset.schema),
        "unconfirmed": list(project.unconfirmed),
        "releases": [
            {"name": a.name, **loss_data(a.plan.cost, project.delta)}
            for a in project.releases
        ],
        **standing_data(project, left),
        **spending_data(project, left, dues),
    }


command = Command(
    "check",
    callback=_check,
    params=[
        project_argument(required=False),
        click.Option(
            ["--owner"],
            is_flag=True,
            help=N_(
                "Also open the table and count missing, unfit and clamped cells: "
                "for the owner's eyes, never to publish."
            ),
        ),
        as_json(),
        click.Option(
            ["--json-schema", "json_schema_only"],
            is_flag=True,
            help=N_(
                "Print the JSON schema of project files, so that editors complete."
            ),
        ),
    ],
    about=(
        N_("Check a project file; reads no row and spends nothing."),
        N_(
            "It checks the file, the table's header line, every release, model and "
            "synthetic table against the declared columns, and that the budget "
            "suffices for what each command has yet to spend: run, train and synth."
        ),
    ),
    examples=(
        ("sfumato check project.toml", N_("before plan and run")),
        ("sfumato check project.toml --owner", N_("how well the bounds fit")),
        ("sfumato check --json-schema > sfumato.schema.json", N_("for editors")),
    ),
)
