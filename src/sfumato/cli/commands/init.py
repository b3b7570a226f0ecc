"""``sfumato init TABLE``: begin a project file from the table's header line."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sfumato.cli.command import Argument, Command
from sfumato.cli.draft import Draft, person_column, write_draft
from sfumato.cli.failures import UsageFault
from sfumato.cli.observe import observe
from sfumato.cli.options import FORCE, AnyPath, out
from sfumato.cli.tongue import say, tongue
from sfumato.errors import ProjectError, SourceError
from sfumato.project.header import (
    SEPARATORS,
    read_header,
    refuse_names,
    refuse_row,
    used_separator,
)
from sfumato.release.files import write
from sfumato.release.text import visible
from sfumato.words import N_, speaker

__all__ = ["command"]

_FILE = Path("project.toml")


def _init(
    table: Path,
    *,
    out: Path | None,
    encoding: str,
    separator: str | None,
    **flags: bool,
) -> None:
    target = out or _FILE
    if os.path.lexists(target) and not flags["force"]:
        raise ProjectError(
            N_("{path} exists already"),
            hint=N_("choose another file with --out, or overwrite: --force"),
            path=str(target),
        )
    _refuse_binary(table)
    sign = _separator(separator, table, encoding)
    names = read_header(table, encoding=encoding, separator=sign)
    refuse_names(names, table)
    if not flags["header"]:
        refuse_row(names, table)
    observed = {}
    if flags["read_values"]:
        click.echo(_warning(), err=True)
        observed = observe(table, encoding=encoding, separator=sign, say=say)
    draft = Draft(_relative(table, target), names, encoding, sign, observed)
    text = write_draft(draft, speaker(tongue()))
    _save(target, text, mode=0o600 if flags["read_values"] else 0o666)
    click.echo(say(N_("written: {path}"), path=target))
    if column := person_column(names):
        click.echo(
            say(
                N_(
                    "Caution: if several rows have the same {column}, complete [unit]: as it "
                    "stands, each row is protected by itself, and a person with k rows "
                    "only with k times ε."
                ),
                column=visible(column),
            )
        )
    click.echo(
        say(
            N_("Next: confirm every bound in it, then: sfumato check {path}"),
            path=target,
        )
    )


def _save(target: Path, text: str, *, mode: int) -> None:
    try:
        write(target, text, mode=mode)
    except (OSError, ValueError) as error:
        raise ProjectError(
            N_("{path} cannot be written: {reason}"),
            hint=N_("choose another file with --out"),
            path=str(target),
            reason=getattr(error, "strerror", None) or str(error),
        ) from None


def _separator(asked: str | None, table: Path, encoding: str) -> str:
    if asked is None:
        return used_separator(table, encoding=encoding)
    sign = {"\\t": "\t", "tab": "\t"}.get(asked, asked)
    if len(sign) != 1:
        raise UsageFault(
            N_("{name} must be one character, got {value}"),
            hint=N_("usual ones are {usual}"),
            name="--separator",
            value=repr(asked),
            usual=" ".join(map(repr, SEPARATORS)),
        )
    return sign


_BINARY = frozenset(
    {".parquet", ".pq", ".feather", ".orc", ".xlsx", ".xls", ".ods", ".sav", ".dta",
     ".sas7bdat", ".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3"}
)  # fmt: skip


def _refuse_binary(table: Path) -> None:
    if table.suffix.lower() in _BINARY:
        raise SourceError(
            N_("{path} is not a text table"),
            hint=N_(
                "init reads text tables; save it as CSV, or write the project by hand"
            ),
            path=table.name,
        )


def _relative(table: Path, target: Path) -> str:
    """Return the table's path as seen from the project file's folder."""
    try:
        return Path(os.path.relpath(table, target.parent)).as_posix()
    except ValueError:  # another drive, on Windows
        return table.resolve().as_posix()


def _warning() -> str:
    return say(
        N_(
            "FOR THE OWNER'S EYES: --read-values reads the rows. What it writes as "
            "comments is not private; bounds taken from rows would not be either."
        )
    )


command = Command(
    "init",
    callback=_init,
    params=[
        Argument(
            ["table"],
            metavar="TABLE",
            type=AnyPath(),
            help=N_("A text table whose first line names the columns."),
        ),
        out(N_("The file to write. Default: project.toml.")),
        click.Option(
            ["--encoding"],
            default="utf-8",
            metavar="NAME",
            help=N_("Encoding of the table, such as gb18030. Default: utf-8."),
        ),
        click.Option(
            ["--separator"],
            metavar="SIGN",
            help=N_("Sign between cells. Default: guessed from the header line."),
        ),
        click.Option(
            ["--read-values"],
            is_flag=True,
            help=N_(
                "Also read the rows and write types and keys as comments: for the "
                "owner's eyes. Bounds are never taken from rows."
            ),
        ),
        click.Option(
            ["--header"],
            is_flag=True,
            help=N_("The first line names the columns, although it holds numbers."),
        ),
        FORCE,
    ],
    about=(
        N_("Begin a project file for a table, from its header line only."),
        N_(
            "Names that the catalogue of common clinical columns knows, in English or "
            "Chinese, get plausible bounds to confirm; the others are written as "
            "comments to complete. No row is read."
        ),
    ),
    examples=(
        ("sfumato init patients.csv", N_("writes project.toml")),
        (
            "sfumato init 病人.csv --encoding gb18030",
            N_("a table from a Chinese system"),
        ),
    ),
)
