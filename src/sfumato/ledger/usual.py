"""Where the anchor of a database lies when nobody names a place: on this machine.

A database has no "beside it", and each machine that uses it may see it restored. So each
keeps an anchor of its own, among the user's states, by the database's address. On a
machine that meets a database for the first time there is none yet: it begins with what
the ledger says now, as ssh does with the key of a new host. A place that somebody named
is not begun anew like that: there a missing anchor is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import Anchor, write_first
from sfumato.words import N_

__all__ = ["UsualAnchor", "usual_place"]

_ADDRESS = {
    "service": "PGSERVICE", "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT",
    "dbname": "PGDATABASE",
}  # fmt: skip


def usual_place(parts: dict[str, Any]) -> Path:
    """Return the usual place of a database's anchor.

    Args:
        parts: The parts of its address. User, password and options do not count: it is
            the same database for all of them.

    Examples:
        >>> place = usual_place({"host": "db.clinic.org", "dbname": "budgets"})
        >>> place.name.startswith("budgets-"), place.suffix
        (True, '.anchor')
    """
    usual = {"port": "5432"}
    address = [
        str(parts.get(name) or os.environ.get(variable) or usual.get(name, ""))
        for name, variable in _ADDRESS.items()
    ]
    word = re.sub(r"[^A-Za-z0-9_]", "_", address[-1])[:40] or "database"
    number = hashlib.sha256("\n".join(address).encode()).hexdigest()[:12]
    return _states() / "sfumato" / "anchors" / f"{word}-{number}.anchor"


def _states() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


class UsualAnchor(Anchor):
    """An anchor at its usual place, begun when the machine first meets the ledger."""

    begins_late = True

    def begin(self, identity: str) -> None:
        """Create the file for a new ledger, and its folder."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().begin(identity)

    def meet(self, identity: str) -> None:
        """Begin the file if there is none; two processes may meet at once.

        Raises:
            LedgerError: It cannot be written. Nothing was spent.
        """
        if self.path.exists():
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            write_first(draft, identity)
            with suppress(FileExistsError):
                os.link(draft, self.path)  # whole or not at all, and never over another
            draft.unlink()
        except OSError as error:
            raise LedgerError(
                N_("the anchor {path} cannot be written: {reason}"),
                hint=N_("name a place on this machine for it with anchor=…"),
                path=str(self.path),
                reason=error.strerror,
            ) from None
