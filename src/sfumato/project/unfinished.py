"""A run that stopped half-way: what it takes to go on without paying twice.

Before its first debit a run writes down, beside its results, a label of its own and
the plans it makes. Every release is asked under a request key that follows from them;
the ledger keeps the answer under the key. After a crash the same keys bring back what
was answered, byte for byte and free; what was not yet asked is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import final

from sfumato.errors import ProjectError
from sfumato.ledger.chain import canonical
from sfumato.project.load import Asked, Project
from sfumato.project.paid import debited
from sfumato.release.files import write
from sfumato.words import LANGUAGES, N_

__all__ = [
    "FILE",
    "Request",
    "State",
    "Unfinished",
    "begin",
    "held",
    "new_requests",
    "read",
    "requests",
]

FILE = "unfinished.json"
_VERSION = 1
_TEXTS = ("label", "lang")


class State(Enum):
    """How far a request has come."""

    NEW = "new"
    ANSWERED = "answered"
    LOST = "lost"


@final
@dataclass(frozen=True, slots=True)
class Request:
    """A release under the key that it is asked with.

    Attributes:
        asked: The release.
        key: Its request key.
        state: New; answered, so that it costs nothing; or new because an earlier
            charge for it was lost without an answer.
    """

    asked: Asked
    key: str
    state: State


@final
@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a run writes down before it spends.

    Attributes:
        label: Its own, unlike that of any other run.
        lang: Language of its titles and pages.
        plans: For each release its plan's digest, in the order of the run.
    """

    label: str
    lang: str
    plans: tuple[tuple[str, str], ...]

    def save(self, folder: Path) -> None:
        """Write it into the results' folder, on disk before anything is spent."""
        said = {
            "schema_version": _VERSION,
            "label": self.label,
            "lang": self.lang,
            "releases": [{"name": n, "plan": p} for n, p in self.plans],
        }
        write(folder / FILE, json.dumps(said, ensure_ascii=False, indent=1) + "\n")

    def releases(self, project: Project) -> tuple[Asked, ...]:
        """Return the releases of the run.

        Raises:
            ProjectError: The project file was changed since. Nothing was spent.
        """
        known = {asked.name: asked for asked in project.releases}
        for name, plan in self.plans:
            if name not in known or known[name].plan.digest != plan:
                raise ProjectError(
                    N_("release {name} was changed since the run that stopped"),
                    hint=N_(
                        "put the project file back as it was; or give that run up and "
                        "spend again: --force without --resume"
                    ),
                    name=repr(name),
                )
        return tuple(known[name] for name, _ in self.plans)


def begin(releases: tuple[Asked, ...], lang: str) -> Unfinished:
    """Return what a new run writes down."""
    moment = f"{platform.node()} {os.getpid()} {time.time_ns()}"
    label = hashlib.sha256(moment.encode()).hexdigest()[:32]
    return Unfinished(label, lang, tuple((a.name, a.plan.digest) for a in releases))


def read(folder: Path) -> Unfinished:
    """Read what a run that stopped has left.

    Raises:
        ProjectError: There is no such run, or its file cannot be read.
    """
    path = folder / FILE
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["schema_version"] == _VERSION:
            texts = [_text(said[key]) for key in _TEXTS]
            plans = [(_text(r["name"]), _text(r["plan"])) for r in said["releases"]]
            if plans and texts[1] in LANGUAGES:
                return Unfinished(texts[0], texts[1], tuple(plans))
    except FileNotFoundError:
        raise ProjectError(
            N_("there is no unfinished run in {folder}"),
            hint=N_("name its folder with --out, or run without --resume"),
            folder=str(folder),
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ProjectError(
        N_("{path} cannot be read as an unfinished run"),
        hint=N_("put it back as it was, or give the run up: --force without --resume"),
        path=str(path),
    )


def new_requests(run: Unfinished, releases: tuple[Asked, ...]) -> tuple[Request, ...]:
    """Return each release of a new run with the key to ask it under."""
    return tuple(_request(run, asked, {}) for asked in releases)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from going on with a run while this one does.

    The lock dies with the process. Where the system has no such locks, none is taken.

    Raises:
        ProjectError: Another process is at it. Nothing was spent.
    """
    read(folder)  # refuses where there is none
    with (folder / FILE).open("rb") as file:
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProjectError(
                N_("the run into {folder} is still going on in another process"),
                hint=N_("wait for it; --resume is for runs that have stopped"),
                folder=str(folder),
            ) from None
        yield


def requests(
    project: Project, run: Unfinished, releases: tuple[Asked, ...]
) -> tuple[Request, ...]:
    """Return each release with the key to ask it under, and what the ledger knows.

    A key that was charged and never answered is never answered again, so the next
    attempt has a key, and a charge, of its own.

    Raises:
        LedgerError: The ledger cannot be read.
    """
    known = {d.request: d.answered for d in debited(project) if d.request}
    return tuple(_request(run, asked, known) for asked in releases)


def _request(run: Unfinished, asked: Asked, known: Mapping[str, bool]) -> Request:
    attempt, key = 0, _key(run, asked, 0)
    while key in known:
        if known[key]:
            return Request(asked, key, State.ANSWERED)
        attempt += 1
        key = _key(run, asked, attempt)
    return Request(asked, key, State.LOST if attempt else State.NEW)


def _key(run: Unfinished, asked: Asked, attempt: int) -> str:
    parts = [run.label, asked.name, asked.plan.digest, asked.confidence, attempt]
    return f"run {hashlib.sha256(canonical(parts).encode()).hexdigest()}"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
