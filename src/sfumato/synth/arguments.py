"""Arguments of the public functions of synthetic tables: refused before anything is done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from sfumato.errors import ArgumentError, DeclarationError, quoted
from sfumato.words import N_

__all__ = ["check_path", "check_progress", "check_seed", "check_title", "check_where"]

_MOST_SEED = 10**400


def check_seed(seed: Any) -> None:
    """Refuse what is no seed.

    Raises:
        ArgumentError: It is no whole number, or one of more digits than Python writes.
    """
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if seed is not None and not (whole and abs(seed) < _MOST_SEED):
        raise ArgumentError(
            N_("a seed is a whole number, got {value}"),
            hint=N_("write sample(1000, seed=7), or leave it out"),
            value=quoted(seed),
        )


def check_where(where: object) -> None:
    """Refuse what are no conditions, and one that no row can meet.

    Raises:
        DeclarationError: They are not given by column, or one lists no value.
    """
    if where is not None and not isinstance(where, Mapping):
        raise DeclarationError(
            N_("conditions are given by column, got {value}"),
            hint=N_('write where={{"Outcome": 1}}'),
            value=quoted(where),
        )
    for name, condition in (where or {}).items():
        if isinstance(condition, list) and not condition:
            raise DeclarationError(
                N_("the condition on {name} lists no value, so no row meets it"),
                hint=N_("list the values that rows may have, or leave the column out"),
                name=quoted(name),
            )


def check_title(title: object) -> None:
    """Refuse a title that is no text.

    Raises:
        DeclarationError: It is none.
    """
    if not isinstance(title, str):
        raise DeclarationError(
            N_("the title of a release is a text, got {value}"),
            hint=N_('write title="Patients", or leave it out'),
            value=quoted(title),
        )


def check_progress(progress: object) -> None:
    """Refuse what cannot be told of progress: after the debit it would cost the answer.

    Raises:
        DeclarationError: It is no function.
    """
    if not callable(progress):
        raise DeclarationError(
            N_("progress is a function that is told (done, rounds), got {value}"),
            hint=N_("leave it out, or write progress=lambda done, rounds: print(done)"),
            value=quoted(progress),
        )


def check_path(path: object) -> None:
    """Refuse what is no path of a file.

    Raises:
        ArgumentError: It is neither a text nor a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(
            N_("a file has a path, got {value}"),
            hint=N_('write, for example, "patients.synth"'),
            value=quoted(path),
        )
