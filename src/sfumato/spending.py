"""The privacy profile of what a ledger's debits paid for: a report, never a guard.

The mechanisms of one data set compose; those of disjoint blocks stand beside each
other, so the report is that of the part that lost most. What the ledger has spent
beyond its described debits (debits without a descriptor, charges recorded by an
operator after a restored backup) counts as the worst mechanism of that charge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING, Any, final

from sfumato.account.loss import decimal_text
from sfumato.amount import Amount
from sfumato.errors import LedgerError
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.account.profile import Profile
    from sfumato.ledger import Balance, Mechanisms

__all__ = ["Spending", "profile_of"]

_TOLD = "1e-6"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Spending:
    """δ(ε) and ε(δ) of all that was spent, from above.

    Valid only if the parameters of all mechanisms were fixed beforehand; it says so
    where it is printed.

    Attributes:
        mechanisms: How many mechanisms are known from descriptors.
        undescribed: How many charges are counted as the worst mechanism of their size.
        parts: The profiles of the parts of the data set; one without blocks.
    """

    mechanisms: int
    undescribed: int
    parts: tuple[Profile, ...]

    def epsilon(self, delta: Amount | None) -> float:
        """Return an upper bound of ε at δ; infinite when δ is too small for any."""
        return max(part.epsilon(delta) for part in self.parts)

    def delta(self, epsilon: Amount) -> float:
        """Return an upper bound of δ at ε."""
        return max(part.delta(epsilon) for part in self.parts)

    def __str__(self) -> str:
        """Tell ε at δ = 1e-6, rounded up, and for whom it holds."""
        from sfumato.account.profile import CAVEAT

        told = repr(self.epsilon(_TOLD))
        epsilon = Context(prec=4, rounding=ROUND_CEILING).create_decimal(told)
        known = f"{self.mechanisms} mechanisms, {self.undescribed} undescribed charges"
        return f"epsilon {epsilon} at delta {_TOLD}, of {known}; {CAVEAT}"

    def __repr__(self) -> str:
        """Render the same in brackets."""
        return f"<Spending: {self}>"


def profile_of(balances: Sequence[Balance], debits: Sequence[Mechanisms]) -> Spending:
    """Return the profile of the budgets of one data set.

    Args:
        balances: Its budget and the budgets of its blocks.
        debits: Its debits.

    Raises:
        LedgerError: A descriptor cannot be read.
    """
    from sfumato.account.profile import Profile  # numpy, only when asked

    top = next(b for b in balances if b.kind == "dataset")
    blocks = {b.name: (b.spent, b.delta_spent) for b in balances if b.kind == "block"}
    described = [(debit, tuple(_entries(debit))) for debit in debits]
    parts, unknown = [], set()
    for block in (*blocks, None):
        own = [(d, e) for d, e in described if not d.blocks or block in d.blocks]
        spent, failing = (0, 0) if block is None else blocks[block]
        held = [d for d, _ in own if d.debit]  # the others are beyond the caps
        rest = top.whole + spent - sum(d.units for d in held)
        failed = top.delta_whole + failing - sum(d.delta_units for d in held)
        entries = [entry for _, found in own for entry in found]
        if rest > 0 or failed > 0:
            entries.append(_worst(top.measure, max(rest, 1), max(failed, 0)))
            unknown.add(-1)
        unknown |= {d.debit for d, _ in own if not d.descriptor}
        parts.append(Profile(entries))
    count = sum(_count(e) for d, found in described if d.descriptor for e in found)
    return Spending(count, len(unknown), tuple(parts))


def _entries(debit: Mechanisms) -> Iterator[dict[str, Any]]:
    """Return the mechanisms of a debit, and its δ as a mechanism that can fail."""
    if not debit.descriptor:
        yield _worst(debit.measure, debit.units, debit.delta_units)
        return
    found = json.loads(debit.descriptor).get("mechanisms")
    if not isinstance(found, list) or not all(isinstance(e, dict) for e in found):
        raise LedgerError(
            N_("the descriptor of debit {debit} cannot be read"),
            hint=N_("it was written by another version of sfumato; use that one"),
            debit=debit.debit,
        )
    yield from found


def _worst(measure: str, units: int, delta_units: int = 0) -> dict[str, Any]:
    """Describe the worst mechanism of a charge."""
    amount = decimal_text(units, 12)
    delta = {"delta": decimal_text(delta_units, 18)} if delta_units else {}
    if measure == "epsilon":
        return {"kind": "pure", "epsilon": amount, **delta}
    if measure == "zcdp":
        return {"kind": "zcdp", "rho": amount, **delta}
    return {
        "kind": "gaussian",
        "squared_sensitivity": f"{2 * units}",
        "variance": f"{10**12}",
    }


def _count(entry: dict[str, Any]) -> int:
    count = entry.get("count", 1)
    return count if isinstance(count, int) else 1
