"""What a database must do to carry a ledger; SQLite and PostgreSQL both do it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Database", "Founder", "Store"]


class Founder(Protocol):
    """Decides whether a ledger may be created, and names it."""

    def permit(self) -> None:
        """Refuse by a `LedgerError` where a ledger must not be created."""
        ...

    def identity(self) -> str:
        """Return its identity; called inside the transaction that creates it."""
        ...


class Database(Protocol):
    """An open transaction."""

    def rows(self, sql: str, *values: object) -> list[Any]:
        """Run one statement with ``?`` for values and return its rows."""
        ...

    def add(self, into: str, rows: Sequence[Sequence[object]]) -> None:
        """Insert rows into a table, such as ``"answer (debit, content)"``."""
        ...


class Store(Protocol):
    """A database with the tables of `sfumato.ledger.schema`.

    Every method may raise `LedgerError`; nothing was spent then.
    """

    @property
    def name(self) -> str:
        """The store in words, for messages; never with a password."""
        ...

    @property
    def forkable(self) -> bool:
        """Whether it can be closed and opened again without losing anything."""
        ...

    def open(self, founder: Founder) -> bool:
        """Open when closed, and say so; create the tables in an empty database."""
        ...

    def close(self) -> None:
        """Close in the process that opened."""
        ...

    def write(self) -> AbstractContextManager[Database]:
        """Begin alone; at the end commit, durable when this returns."""
        ...

    def read(self) -> AbstractContextManager[Database]:
        """Begin reading one consistent state."""
        ...

    def examine(self) -> list[str]:
        """Return what the database itself finds wrong with its file and its schema."""
        ...
