"""What is remembered of a ledger outside its own file: the anchor and this process.

A ledger that lacks an entry somebody has seen was restored from a backup, cut or
rewritten: to go on from it would be to refund what was lost.
"""

from __future__ import annotations

import uuid

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import Anchor, Known, Mark
from sfumato.ledger.chain import Tail
from sfumato.ledger.store import Database
from sfumato.words import N_

__all__ = ["NewLedger", "NoLedger", "RestoredLedger", "Witness", "holds"]

_RECONCILE = N_(
    "if a backup was restored, what was lost stays spent: the owner runs "
    "`sfumato ledger reconcile`, which records it"
)


class NewLedger:
    """Permits a ledger where the anchor remembers none."""

    def __init__(self, anchor: Anchor | None) -> None:
        """Bind the anchor, if there is one."""
        self._anchor = anchor

    def permit(self) -> None:
        """Refuse to begin anew where a ledger was lost."""
        anchor = self._anchor
        identity = anchor.identity() if anchor else None
        if anchor and identity and anchor.marks(identity):
            raise LedgerError(
                N_("the ledger of the anchor {path} is gone"),
                hint=_RECONCILE,
                path=str(anchor.path),
            )

    def identity(self) -> str:
        """Return a new identity, kept by the anchor first: a crash leaves no orphan."""
        if self._anchor is None:
            return uuid.uuid4().hex
        identity = self._anchor.identity()
        if identity is None:
            identity = uuid.uuid4().hex
            self._anchor.begin(identity)
        return identity


class RestoredLedger(NewLedger):
    """Permits the operator to begin a lost ledger anew from its anchor."""

    def permit(self) -> None:
        """Refuse where there is no anchor to begin from."""
        if self._anchor is None or self._anchor.identity() is None:
            raise LedgerError(
                N_("there is neither a ledger nor an anchor"),
                hint=N_("check the path; a session creates a new ledger"),
            )


class NoLedger:
    """Permits no ledger but one that exists."""

    def __init__(self, name: str) -> None:
        """Bind the name of the place."""
        self._name = name

    def permit(self) -> None:
        """Refuse."""
        raise LedgerError(
            N_("there is no ledger at {path}"),
            hint=N_("check the path; a session creates a new ledger"),
            path=self._name,
        )

    def identity(self) -> str:
        """Refuse."""
        self.permit()
        return ""


class Witness:
    """Compares a ledger with what is remembered of it."""

    def __init__(self, anchor: Anchor | None) -> None:
        """Remember nothing yet."""
        self.anchor = anchor
        self._seen: tuple[str, Mark] | None = None

    def recall(self, identity: str) -> list[Mark]:
        """Return the marks that the ledger must still hold; read before the ledger."""
        if self._seen and self._seen[0] != identity:
            raise LedgerError(
                N_("another ledger was put in this one's place"),
                hint=N_("put the ledger back, or start the program anew"),
            )
        marks = [self._seen[1]] if self._seen else []
        if self.anchor is not None:
            self.anchor.open()
            marks += self.anchor.news(identity)
            marks += [self.anchor.highest] if self.anchor.highest else []
        return marks

    def check(
        self,
        db: Database,
        tail: Tail,
        marks: list[Mark],
        known: Known = lambda *_: False,
    ) -> None:
        """Refuse a ledger that lacks an entry which is remembered.

        Args:
            db: The database.
            tail: The end of the chain, perhaps beyond the database.
            marks: What is remembered.
            known: Whether an entry is at hand.

        Raises:
            LedgerError: It is behind or on another branch. Nothing was spent.
        """
        for mark in marks:
            if mark.place > tail.place:
                raise LedgerError(
                    N_("the ledger ends at entry {place}, its anchor at {anchored}"),
                    hint=_RECONCILE,
                    place=tail.place,
                    anchored=mark.place,
                )
            if not known(*mark.entry) and not holds(db, tail, mark):
                raise LedgerError(
                    N_("entry {place} of the ledger is not the one its anchor names"),
                    hint=_RECONCILE,
                    place=mark.place,
                )

    def record(self, mark: Mark, identity: str) -> None:
        """Remember a commit.

        Raises:
            LedgerError: The anchor cannot be written; the charge stands.
        """
        self._seen = identity, mark
        if self.anchor is None:
            return
        try:
            self.anchor.append(mark, identity)
        except (OSError, LedgerError) as error:
            reason = error.fact if isinstance(error, LedgerError) else error.strerror
            raise LedgerError(
                N_("the charge stands, but the anchor cannot be written: {reason}"),
                hint=N_("nothing was released; mend {path}, then ask again"),
                reason=reason,
                path=str(self.anchor.path),
            ) from None


def holds(db: Database, tail: Tail, mark: Mark) -> bool:
    """Return whether the chain has the marked entry."""
    if mark.place == tail.place:
        return mark.head == tail.head
    found = db.rows("SELECT hash FROM entry WHERE place = ?", mark.place)
    return bool(found) and found[0][0] == mark.head
