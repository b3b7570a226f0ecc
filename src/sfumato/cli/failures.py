"""Errors → one clear line on stderr and an exit code; never a traceback.

Exit codes: 0 done; 1 stopped half-way (the engine failed after a debit, a file could
not be written, the user pressed Ctrl-C, or a bug); 2 refused: nothing was spent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, final

import click

from sfumato.cli.tongue import say, tongue
from sfumato.errors import EngineError, SfumatoError
from sfumato.words import N_, speaker

__all__ = ["REFUSED", "STOPPED", "UsageFault", "guard", "one_line"]

STOPPED, REFUSED = 1, 2


@final
class UsageFault(click.UsageError):
    """The command line is wrong: a fact and a hint, like every error of ours."""

    def __init__(self, fact: str, *, hint: str, **facts: object) -> None:
        """Say it in the language of the running command."""
        super().__init__(_join(say(fact, **facts), say(hint, **facts)))


def guard(act: Callable[[], Any]) -> int:
    """Run `act` and return the exit code; errors become one line on stderr."""
    try:
        result = act()
    except SfumatoError as error:
        _tell(one_line(error, tongue()))
        return STOPPED if isinstance(error, EngineError) else REFUSED
    except click.exceptions.Abort:
        _tell(say(N_("stopped by you")))
        return STOPPED
    except click.ClickException as error:
        _tell(_usage(error))
        return REFUSED
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        _tell(f"{path}{error.strerror or type(error).__name__}")
        return STOPPED
    except Exception as error:  # a traceback may quote a private cell
        if os.environ.get("SFUMATO_DEBUG"):
            raise
        _tell(_bug(error))
        return STOPPED
    return result if isinstance(result, int) else 0


def one_line(error: SfumatoError, lang: str) -> str:
    """Return an error as one line: code, what, where, how to mend it."""
    fact, hint = error.say(lang)
    return f"[{error.code}] {_join(fact, hint)}"


def _join(fact: str, hint: str) -> str:
    return speaker(tongue())(N_("{fact}; {hint}"), fact=fact, hint=hint)


def _tell(text: str) -> None:
    line = say(N_("Error: {text}"), text=_flat(text))
    click.echo(line, err=True)


def _flat(text: str) -> str:
    """Escape line breaks and other characters that would act on a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def _bug(error: Exception) -> str:
    return say(
        N_(
            "something went wrong inside sfumato ({kind}); "
            "set SFUMATO_DEBUG=1 to see where, on a table that is not private"
        ),
        kind=type(error).__name__,
    )


def _usage(error: click.ClickException) -> str:
    """Say click's own errors in our words."""
    match error:
        case UsageFault():
            return error.message
        case click.NoSuchOption():
            near = ", ".join(error.possibilities or _begun(error)) or "--help"
            fact = say(N_("there is no option {name}"), name=error.option_name)
            return _join(fact, say(N_("did you mean {near}?"), near=near))
        case click.MissingParameter():
            name = error.param.human_readable_name if error.param else ""
            fact = say(N_("{name} is missing"), name=name)
        case click.BadOptionUsage():
            # One class of click for two opposite faults; only its words differ.
            if "not take" in error.message:
                text = N_("option {name} takes no value")
            else:
                text = N_("option {name} needs a value")
            fact = say(text, name=error.option_name)
        case click.BadParameter():
            fact = error.message
        case _:
            fact = error.format_message()
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "sfumato"
    return _join(fact, say(N_("see {command} --help"), command=command))


def _begun(error: click.NoSuchOption) -> list[str]:
    """Return the options that a short one, such as ``-o``, is the first letter of."""
    known = error.ctx.command.params if error.ctx else []
    names = [name for option in known for name in option.opts]
    return [name for name in names if name.startswith(f"-{error.option_name}")]


def soften_streams() -> None:
    """Let a terminal that cannot show a character show an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
