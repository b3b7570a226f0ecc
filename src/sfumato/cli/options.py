"""Options and arguments that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, final

import click

from sfumato.cli.command import Argument
from sfumato.cli.failures import UsageFault
from sfumato.words import N_

__all__ = [
    "FORCE",
    "AnyPath",
    "Whole",
    "as_json",
    "echo_json",
    "out",
    "project_argument",
]

_DIGITS = 19  # fewer fit a 64-bit integer


@final
class Whole(click.ParamType):  # type: ignore[type-arg]  # not generic in click 8.1
    """A whole number of at least 1."""

    name = "number"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,  # noqa: ARG002  click's signature
    ) -> int:
        """Read it, or refuse in our words."""
        text = str(value).strip()
        if text.isascii() and text.isdigit() and len(text) < _DIGITS and int(text):
            return int(text)
        raise UsageFault(
            N_("{name} must be a whole number of at least 1, got {value}"),
            hint=N_("write, for example, {name} 1000"),
            name=param.opts[0] if param else "",
            value=repr(text[:40]),
        )


@final
class AnyPath(click.Path):
    """A path that shells complete; whether it is usable is said by who uses it."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002  click's signature
        ctx: click.Context | None,  # noqa: ARG002
    ) -> Path:
        """Take the words as they are; click's own checks trip over odd ones."""
        return Path(value)


def project_argument(*, required: bool = True) -> Argument:
    """Return the argument PROJECT."""
    return Argument(
        ["project"],
        required=required,
        metavar="PROJECT",
        type=AnyPath(),
        help=N_("The project file, such as project.toml."),
    )


def out(text: str) -> click.Option:
    """Return the option --out, for a folder or file."""
    return click.Option(["--out"], type=AnyPath(), metavar="PATH", help=text)


FORCE = click.Option(
    ["--force"], is_flag=True, help=N_("Overwrite files that exist already.")
)


def as_json() -> click.Option:
    """Return the option --json."""
    return click.Option(
        ["--json", "as_json"], is_flag=True, help=N_("Print JSON, for programs.")
    )


def echo_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))
