"""The durable record of what was spent."""

from sfumato.ledger.sqlite import Ledger

__all__ = ["Ledger"]
