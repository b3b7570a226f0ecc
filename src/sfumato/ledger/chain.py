"""The chain of entries: each holds the hash of the one before it.

A stranger can check an exported chain with ten lines of code: the hash of an entry is
SHA-256 of its canonical JSON, which names the place, the kind and the previous hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["Entry", "Kind", "Tail", "canonical", "digest", "genesis", "link"]

Kind: TypeAlias = Literal["open", "debit", "answer", "reconcile"]

canonical = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode
"""One text for one value: sorted keys, no blanks, ASCII only."""


class Tail(NamedTuple):
    """The end of a chain: all that the next entry needs to know.

    Attributes:
        place: Number of the last entry; 0 when there is none.
        head: Its hash; of an empty chain the hash of the ledger's identity.
        debits: Number of debits so far.
    """

    place: int
    head: str
    debits: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as stored; `body` is the canonical JSON that `hash` is made of."""

    place: int
    kind: str
    dataset: str
    debits: int
    request: str | None
    body: str
    hash: str

    @property
    def fields(self) -> dict[str, Any]:
        """What the entry says."""
        found: dict[str, Any] = json.loads(self.body)
        return found


def digest(body: str) -> str:
    """Return SHA-256 of a canonical body, in hexadecimal."""
    return hashlib.sha256(body.encode("ascii")).hexdigest()


def genesis(identity: str) -> str:
    """Return the hash that the first entry of a ledger names as its previous one."""
    return hashlib.sha256(b"sfumato ledger " + identity.encode("ascii")).hexdigest()


def link(
    tail: Tail,
    kind: Kind,
    dataset: str,
    said: Mapping[str, Any],
    request: str | None = None,
) -> Entry:
    """Return the entry that follows `tail`.

    Examples:
        >>> tail = Tail(0, genesis("x"), 0)
        >>> entry = link(tail, "debit", "pima", {"units": 5})
        >>> entry.place, entry.debits, entry.hash == digest(entry.body)
        (1, 1, True)
    """
    debits = tail.debits + (kind == "debit")
    body = canonical(
        {
            **said,
            "place": tail.place + 1,
            "kind": kind,
            "dataset": dataset,
            "debits": debits,
            "request": request,
            "previous": tail.head,
        }
    )
    return Entry(tail.place + 1, kind, dataset, debits, request, body, digest(body))
