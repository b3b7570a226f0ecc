"""``sfumato demo``: the packaged project on a public table, by the same path as run."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.carry import Manner, carry_out
from sfumato.cli.command import Command
from sfumato.cli.options import out
from sfumato.cli.shown import show
from sfumato.cli.synthesize import TableManner, synthesize
from sfumato.cli.tongue import say, tongue
from sfumato.cli.width import wrap
from sfumato.demo import EPSILON, is_demo_folder, prediction, project_file, table_file
from sfumato.project import load
from sfumato.project.outputs import Outputs
from sfumato.release.promise import promise
from sfumato.words import N_, speaker

__all__ = ["command"]

_FOLDER = Path("sfumato-demo")


def _demo(*, out: Path | None) -> None:
    folder = out or _FOLDER
    with project_file() as path:
        project = load(path)
        outputs = Outputs(folder, project.formats, project=path)
        # A public table: nobody's budget is at stake, so each run begins anew.
        manner = Manner(
            lang=tongue(), ask=False, force=is_demo_folder(folder), in_memory=True
        )
        done = carry_out(project, project.releases, outputs, manner)
        show(done, outputs, delta=project.delta, whole=True)
    with table_file() as path:
        table = TableManner(folder, manner.lang, ask=False, force=manner.force, in_memory=True)  # fmt: skip
        made = synthesize(load(path), table)
    click.echo("")
    text = N_("A synthetic table, for itself: {promise}")
    click.echo(say(text, promise=promise(made.release.claim, speaker(tongue()))))
    for path in table.paths:
        click.echo(say(N_("written: {path}"), path=path))
    _show_prediction()


def _show_prediction() -> None:
    """Print how well diabetes is predicted privately, beside no privacy."""
    found = prediction()
    if found is None:
        text = N_('for a private prediction of diabetes: pip install "sfumato[models]"')
        click.echo("\n" + say(text))
        return
    text = N_(
        "Prediction of diabetes by logistic regression, five folds: AUC {private} at "
        "epsilon {epsilon} per fit, {plain} without privacy."
    )
    private, plain = (f"{auc:.3f}" for auc in found)
    line = say(text, private=private, plain=plain, epsilon=EPSILON)
    click.echo("\n" + "\n".join(wrap(line, 88)))


command = Command(
    "demo",
    callback=_demo,
    params=[out(N_("Folder of the results. Default: sfumato-demo."))],
    about=(
        N_("Release a public table privately: the quickest way to see what this does."),
        N_(
            "The Pima Indians Diabetes table comes with the program: eight means, counts "
            "by outcome and a histogram, for a total epsilon of 0.5. It writes "
            "release.json, release.csv and report.html; then a synthetic table, for an "
            "epsilon of 1: synthetic.csv and its page. The table is public, so its "
            "budget is kept in memory and you may repeat the demo as often as you like."
        ),
    ),
    examples=(
        ("sfumato demo", N_("writes to the folder sfumato-demo")),
        ("sfumato demo --out here --lang zh", N_("in Chinese, to another folder")),
    ),
)
