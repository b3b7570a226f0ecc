"""Commands whose help and errors speak the chosen language; loaded when called."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn, final

import click

from sfumato.cli.failures import UsageFault, guard, soften_streams
from sfumato.cli.tongue import read_language, say, spoken
from sfumato.cli.width import definitions, wrap
from sfumato.words import N_

__all__ = ["Argument", "Command", "Group", "Root", "language_option"]

_WIDEST = 88
Texts = Sequence[str]
Examples = Sequence[tuple[str, str]]


@final
class Argument(click.Argument):
    """An argument with a line of help."""

    def __init__(self, *args: Any, help: str = "", **settings: Any) -> None:  # noqa: A002  click's word
        """Keep the help text."""
        super().__init__(*args, **settings)
        self.about = help


@final
class _Language(click.ParamType):  # type: ignore[type-arg]  # not generic in click 8.1
    name = "language"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002  click's signature
        ctx: click.Context | None,  # noqa: ARG002
    ) -> str:
        """Read `en`, `zh` or a locale's name such as `zh_CN`."""
        found = read_language(str(value))
        if found is None:
            raise UsageFault(
                N_("unknown language {value}"),
                hint=N_("write en or zh"),
                value=repr(str(value)),
            )
        return found


def language_option() -> click.Option:
    """Return the option --lang; its value was read before all others."""
    return click.Option(
        ["--lang"],
        type=_Language(),
        envvar="SFUMATO_LANG",
        metavar="[en|zh]",
        expose_value=False,
        help=N_("Language; also SFUMATO_LANG. Default: your system's."),
    )


def _help_option() -> click.Option:
    def show(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["-h", "--help"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=N_("Show this help."),
    )


@final
class Command(click.Command):
    """A sub-command.

    Args:
        about: Paragraphs of its help; the first is a short sentence.
        examples: Command lines, each with what it does.
    """

    def __init__(
        self, *args: Any, about: Texts = (), examples: Examples = (), **settings: Any
    ) -> None:
        """Add --lang and --help."""
        settings.setdefault("context_settings", {})["allow_extra_args"] = True
        super().__init__(*args, **{"add_help_option": False, **settings})
        self.params += [language_option(), _help_option()]
        self.about, self.examples = about, examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse words that no argument takes, in our words."""
        rest = super().parse_args(ctx, args)
        extra = [*ctx.args]
        if extra and not ctx.resilient_parsing:
            if extra[0].startswith("-") and len(extra[0]) > 1:
                raise click.NoSuchOption(extra[0], ctx=ctx)
            raise UsageFault(
                N_("one word too many: {word}"),
                hint=N_("see {command} --help"),
                word=repr(extra[0]),
                command=ctx.command_path,
            )
        return rest

    def get_help(self, ctx: click.Context) -> str:
        """Return the help page."""
        return _page(self, ctx, self.about, self.examples)

    def get_short_help_str(self, limit: int = 80) -> str:
        """Return the first sentence of the help, for shell completion."""
        return say(self.about[0])[:limit] if self.about else ""


class Group(click.Group):
    """A group of sub-commands, which are imported when they are called.

    Args:
        lazy: For each sub-command its module and a line of help.
        about: Paragraphs of the help page.
        examples: Command lines, each with what it does.
    """

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, tuple[str, str]],
        about: Texts = (),
        examples: Examples = (),
        **settings: Any,
    ) -> None:
        """Keep the table; import nothing."""
        settings |= {"add_help_option": False, "invoke_without_command": True}
        super().__init__(*args, **settings)
        self.params += [language_option(), _help_option()]
        self.lazy, self.about, self.examples = lazy, about, examples

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the sub-commands in the order of the table."""
        return list(self.lazy)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002  click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """Import a sub-command."""
        if cmd_name not in self.lazy:
            return None
        command: click.Command = import_module(self.lazy[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a sub-command, or say which name is near."""
        name = str(args[0])
        if name not in self.lazy and not ctx.resilient_parsing:
            self._refuse(name)
        return super().resolve_command(ctx, args)

    def _refuse(self, name: str) -> NoReturn:
        near = get_close_matches(name, self.lazy, n=1)
        hint = N_("the commands are {near}")
        if near:
            hint = N_("did you mean {near}?")
        raise UsageFault(
            N_("there is no command {name}"),
            hint=hint,
            name=repr(name),
            near=", ".join(map(repr, near)) or ", ".join(self.lazy),
        )

    def get_help(self, ctx: click.Context) -> str:
        """Return the help page."""
        commands = [(name, say(text)) for name, (_, text) in self.lazy.items()]
        return _page(self, ctx, self.about, self.examples, commands)

    def get_short_help_str(self, limit: int = 80) -> str:
        """Return the first sentence of the help, for shell completion."""
        return say(self.about[0])[:limit] if self.about else ""


@final
class Root(Group):
    """The program."""

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> int:
        """Run a command line; errors become one line and an exit code."""
        words = list(sys.argv[1:] if args is None else args)
        soften_streams()
        with spoken(words):
            code = guard(
                lambda: super(Root, self).main(
                    words, prog_name or "sfumato", standalone_mode=False, **extra
                )
            )
        if standalone_mode:
            sys.exit(code)
        return code


def _page(
    command: click.Command,
    ctx: click.Context,
    about: Texts,
    examples: Examples,
    commands: Sequence[tuple[str, str]] = (),
) -> str:
    """Lay out a help page: usage, what it does, its words, and examples."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    pieces = [ctx.command_path]
    pieces += [p.make_metavar(ctx) for p in command.params if isinstance(p, Argument)]
    pieces += [say(N_("[options]"))] + [say(N_("command …"))] * bool(commands)
    lines = [say(N_("Usage: {words}"), words=" ".join(pieces))]
    for text in about:
        lines += ["", *wrap(say(text), width)]
    arguments = [
        (p.human_readable_name, say(p.about))
        for p in command.params
        if isinstance(p, Argument)
    ]
    for title, rows in (
        (N_("Arguments:"), arguments),
        (N_("Commands:"), list(commands)),
        (N_("Options:"), [_row(p) for p in command.params if _is_shown(p)]),
    ):
        if rows:
            lines += ["", _bold(say(title)), *definitions(rows, width)]
    if examples:
        lines += ["", _bold(say(N_("Examples:")))]
        for line, text in examples:
            lines += [f"  {line}", *(f"      {t}" for t in wrap(say(text), width - 6))]
    return "\n".join(lines)


def _is_shown(param: click.Parameter) -> bool:
    return isinstance(param, click.Option) and not param.hidden


def _row(param: click.Parameter) -> tuple[str, str]:
    names = ", ".join(param.opts)
    if not getattr(param, "is_flag", False):
        names += f" {param.metavar or param.type.name.upper()}"
    return names, say(getattr(param, "help", "") or "")


def _bold(text: str) -> str:
    return text if os.environ.get("NO_COLOR") else click.style(text, bold=True)
