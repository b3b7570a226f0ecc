"""One writer per ledger and process, whoever opens it, and what a fork means for it."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path

from sfumato.ledger.anchor import Anchor
from sfumato.ledger.log import Log
from sfumato.ledger.place import real_path
from sfumato.ledger.sqlite import SqliteStore
from sfumato.ledger.store import Store
from sfumato.ledger.turns import HAVE_TURNS
from sfumato.ledger.usual import UsualAnchor, usual_place
from sfumato.ledger.writer import Writer

__all__ = ["writer_of"]

_URLS = ("postgresql://", "postgres://")
_lock = threading.Lock()
_writers: weakref.WeakValueDictionary[object, Writer] = weakref.WeakValueDictionary()
_held: list[Writer] = []  # between the two sides of a fork


def writer_of(
    path: str | os.PathLike[str] | None,
    anchor: str | os.PathLike[str] | None,
    *,
    lenient: bool = False,
) -> Writer:
    """Return the writer of a ledger: the one that this process has, or a new one.

    Args:
        path: A SQLite file, a PostgreSQL URL, or none for a ledger in memory.
        anchor: Where the anchor lies; by default beside a file, and for a database
            among this user's states.
        lenient: Return a writer of its own that also opens a damaged ledger, to
            examine it.
    """
    store, place = _locate(path, lenient=lenient)
    witness = _anchor_of(place, anchor)
    own = path is None or lenient
    key: object = _Own() if own else (place, witness and witness.path)
    with _lock:
        writer = _writers.get(key)
        if writer is None:
            writer = Writer(store, witness, _log_of(store, place), lenient=lenient)
            _writers[key] = writer
            weakref.finalize(writer, *writer.closing)
        return writer


class _Own:
    """A key that nobody else has."""


def _locate(
    path: str | os.PathLike[str] | None, *, lenient: bool
) -> tuple[Store, Path | str | None]:
    if path is None:
        return SqliteStore(None), None
    if isinstance(path, str) and path.startswith(_URLS):
        from sfumato.ledger.postgres import PostgresStore

        return PostgresStore(path, lenient=lenient), path
    # The journal is found by name, so links must not make two names of one file.
    place = real_path(path)
    return SqliteStore(place, lenient=lenient), place


def _anchor_of(
    place: Path | str | None, anchor: str | os.PathLike[str] | None
) -> Anchor | None:
    if anchor is not None and place is not None:
        return Anchor(real_path(anchor))
    if isinstance(place, Path):
        return Anchor(place.with_name(place.name + ".anchor"))
    if place is not None:
        from sfumato.ledger.postgres import address_of

        return UsualAnchor(usual_place(address_of(place)))
    return None


def _log_of(store: Store, place: Path | str | None) -> Log | None:
    if isinstance(place, Path) and isinstance(store, SqliteStore) and HAVE_TURNS:
        return Log(place.with_name(place.name + "-log"))
    return None


def _before_fork() -> None:
    _lock.acquire()
    _held.extend(_writers.values())
    for writer in _held:
        writer.before_fork()


def _after_in_parent() -> None:
    for writer in _held:
        writer.after_fork_in_parent()
    _held.clear()
    _lock.release()


def _after_in_child() -> None:
    global _lock  # noqa: PLW0603  the old one is held for ever in the child
    for writer in _held:
        writer.after_fork_in_child()
    _held.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_in_parent,
        after_in_child=_after_in_child,
    )
