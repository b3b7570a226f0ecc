"""Which ledger is meant: a file, a database, or the ledger of a project."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import click

from sfumato.cli.command import Argument
from sfumato.cli.options import AnyPath
from sfumato.project import load
from sfumato.project.address import refuse_unset
from sfumato.words import N_

__all__ = ["Place", "anchor_option", "find", "ledger_argument"]


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A ledger and its anchor, if it is not at its usual place.

    Attributes:
        path: File or ``postgresql://…``.
        anchor: File; none for the usual one.
    """

    path: Path | str = field(repr=False)
    anchor: Path | None


def find(text: str, anchor: Path | None) -> Place:
    """Return the ledger that a word of the command line names.

    Raises:
        ProjectError: It is a project file that cannot be read.
    """
    if text.startswith(("postgresql://", "postgres://")):
        return Place(text, anchor)
    if text.endswith(".toml"):
        project = load(text)
        refuse_unset(project.ledger, "budget.ledger", project.path.name)
        return Place(project.ledger, anchor or project.anchor)
    return Place(Path(text), anchor)


def ledger_argument() -> Argument:
    """Return the argument LEDGER."""
    return Argument(
        ["ledger"],
        metavar="LEDGER",
        help=N_("The ledger file, a postgresql://… address, or a project file."),
    )


def anchor_option() -> click.Option:
    """Return the option --anchor."""
    settings: dict[str, Any] = {"type": AnyPath(), "metavar": "PATH"}
    return click.Option(
        ["--anchor"],
        help=N_("The ledger's anchor, if it does not lie beside the ledger."),
        **settings,
    )
