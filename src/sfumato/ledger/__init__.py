"""The durable record of what was spent."""

from sfumato.ledger.balances import Balance
from sfumato.ledger.book import Answered, Blocks, Ledger, Limit
from sfumato.ledger.declared import Declared
from sfumato.ledger.operate import (
    Finding,
    Mechanisms,
    Overview,
    Verdict,
    descriptors,
    export,
    show,
    verify,
)
from sfumato.ledger.reconcile import Reconciled, reconcile

__all__ = [
    "Answered",
    "Balance",
    "Blocks",
    "Declared",
    "Finding",
    "Ledger",
    "Limit",
    "Mechanisms",
    "Overview",
    "Reconciled",
    "Verdict",
    "descriptors",
    "export",
    "reconcile",
    "show",
    "verify",
]
