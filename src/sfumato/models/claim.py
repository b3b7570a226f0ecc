"""What a fitted model promises, as plain JSON that a reviewer can check."""

from __future__ import annotations

from typing import Any

from sfumato.account import Loss
from sfumato.models.price import Price
from sfumato.release import Receipt

__all__ = ["claim_of"]


def claim_of(
    price: Price, loss: Loss, paid: Receipt, *, private: bool
) -> dict[str, Any]:
    """Return the claim of one fit.

    ==============  ========================================================
    ``epsilon``     ε of the promise, exact decimal text
    ``delta``       δ of the promise; ``"0"`` for pure ε
    ``unit``        ``"row"`` or ``"person"``
    ``rows``        most rows of one unit
    ``neighbours``  ``"add_remove"`` or ``"replace_one"``
    ``charged``     what the ledger was debited, in its currency ``measure``
    ``receipt``     dataset, number of the debit, hash of its entry
    ``private``     false when a fact was read from rows, or under a test seed
    ==============  ========================================================
    """
    return {
        "version": 1,
        "private": private,
        "epsilon": str(price.epsilon),
        "delta": price.delta,
        "unit": "person" if price.persons else "row",
        "rows": price.rows,
        "neighbours": price.neighbours,
        "measure": loss.measure,
        "charged": str(loss),
        "receipt": {
            "dataset": paid.dataset,
            "sequence": paid.sequence,
            "plan": paid.plan,
            "time": paid.time,
            "head": paid.head,
        },
    }
