"""``sfumato ledger export``: every entry as a JSON line."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sfumato.cli.command import Command
from sfumato.cli.ledger.place import Place, anchor_option, find, ledger_argument
from sfumato.cli.options import FORCE, out
from sfumato.cli.tongue import say
from sfumato.errors import LedgerError
from sfumato.ledger import export
from sfumato.release.files import write
from sfumato.words import N_

__all__ = ["command"]


def _export(ledger: str, *, anchor: Path | None, out: Path | None, force: bool) -> None:
    place = find(ledger, anchor)
    if out is not None and os.path.lexists(out) and not force:
        raise LedgerError(
            N_("{path} exists already"),
            hint=N_("choose another file with --out, or overwrite: --force"),
            path=str(out),
        )
    lines = export(place.path, anchor=place.anchor)
    if out is None:
        for line in lines:
            click.echo(line)
        return
    _refuse_own(place, out)
    text = "".join(f"{line}\n" for line in lines)
    try:
        write(out, text)
    except (OSError, ValueError) as error:
        raise LedgerError(
            N_("{path} cannot be written: {reason}"),
            hint=N_("choose another file with --out"),
            path=str(out),
            reason=getattr(error, "strerror", None) or str(error),
        ) from None
    click.echo(say(N_("written: {path}"), path=out))


def _refuse_own(place: Place, out: Path) -> None:
    """Refuse to overwrite the ledger, its journal or its anchor, even by force."""
    owned: list[tuple[Path, tuple[str, ...]]] = []
    if place.anchor:
        owned.append((place.anchor.resolve(), ("",)))
    if isinstance(place.path, Path):
        owned.append((place.path.resolve(), ("", "-", ".anchor")))
    where = out.resolve()
    for own, endings in owned:
        for ending in endings:
            name = f"{own.name}{ending}"
            same = out.name.startswith(name) if ending else out.name == name
            if where == own or (where.parent == own.parent and same):
                raise LedgerError(
                    N_("{path} belongs to the ledger itself"),
                    hint=N_("choose another file with --out"),
                    path=str(out),
                )


command = Command(
    "export",
    callback=_export,
    params=[
        ledger_argument(),
        anchor_option(),
        out(N_("File to write. Default: print the lines.")),
        FORCE,
    ],
    about=(
        N_("Write every entry as a JSON line, which a stranger can check."),
        N_(
            "Each line holds an entry and its hash, and names the hash of the line "
            "before; docs/ledger.md has the ten lines of Python that check them."
        ),
    ),
    examples=(
        ("sfumato ledger export clinic.ledger --out entries.jsonl", N_("to a file")),
        ("sfumato ledger export clinic.ledger | tail -1", N_("the last entry")),
    ),
)
