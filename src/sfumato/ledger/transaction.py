"""One transaction on a ledger: it adds entries to the chain and knows what they touched."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sfumato.ledger.anchor import Mark, State
from sfumato.ledger.chain import Entry, Kind, Tail, genesis, link
from sfumato.ledger.schema import BUDGETS
from sfumato.ledger.store import Database

__all__ = ["Transaction", "now", "read_identity", "read_tail"]


def now() -> str:
    """Return the UTC time to the second, ISO 8601."""
    return _text_of(int(time.time()))


@lru_cache(maxsize=1)
def _text_of(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")


def read_identity(db: Database) -> str:
    """Return the name that the ledger was given when it was created."""
    ((identity,),) = db.rows("SELECT identity FROM ledger")
    return str(identity)


def read_tail(db: Database) -> Tail:
    """Return the end of the chain."""
    last = db.rows("SELECT place, hash, debits FROM entry ORDER BY place DESC LIMIT 1")
    return Tail(*last[0]) if last else Tail(0, genesis(read_identity(db)), 0)


class Transaction:
    """The writer's turn; jobs are handed it one after the other."""

    def __init__(self, db: Database, tail: Tail) -> None:
        """Begin at the end of the chain."""
        self.db, self.tail = db, tail
        self._touched: set[int] = set()
        self._saved: tuple[Tail, set[int]] = tail, set()

    @property
    def touched(self) -> set[int]:
        """Ids of the budgets that were charged or opened."""
        return self._touched

    def append(
        self,
        kind: Kind,
        dataset: str,
        said: Mapping[str, Any],
        *,
        request: str | None = None,
    ) -> Entry:
        """Add an entry to the chain."""
        return self.store(link(self.tail, kind, dataset, said, request))

    def store(self, entry: Entry) -> Entry:
        """Write an entry that was linked to the tail."""
        self.db.rows(
            "INSERT INTO entry (place, kind, dataset, debits, request, body, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            entry.place, entry.kind, entry.dataset, entry.debits, entry.request,
            entry.body, entry.hash,
        )  # fmt: skip
        self.tail = Tail(entry.place, entry.hash, entry.debits)
        return entry

    def touch(self, budget: int) -> None:
        """Remember that a budget changed."""
        self._touched.add(budget)

    def save(self) -> None:
        """Begin a job that may be undone without the others."""
        self.db.rows("SAVEPOINT job")
        self._saved = self.tail, set(self._touched)

    def undo(self) -> None:
        """Take the job back."""
        self.db.rows("ROLLBACK TO SAVEPOINT job")
        self.db.rows("RELEASE SAVEPOINT job")
        self.tail, self._touched = self._saved

    def keep(self) -> None:
        """End the job."""
        self.db.rows("RELEASE SAVEPOINT job")

    def mark(self) -> Mark:
        """Return what the anchor should remember of this transaction."""
        states: list[State] = [
            tuple(row[1:])
            for budget in sorted(self._touched)
            for row in self.db.rows(BUDGETS + " WHERE id = ?", budget)
        ]
        return Mark(self.tail.place, self.tail.head, self.tail.debits, tuple(states))
