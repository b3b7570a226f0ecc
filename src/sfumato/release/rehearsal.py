"""What a plan would release, many times over: from a public table, or for the owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, final

from sfumato.release.owner import OWNER_ONLY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OwnerRehearsal"]


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OwnerRehearsal:
    """Figures without noise, and with fresh noise as often as asked.

    Of a private table it is FOR THE OWNER'S EYES: nobody paid for it.

    Attributes:
        truths: Each figure from the exact integers, shape ``(figures,)``.
        estimates: Each figure with noise, shape ``(runs, figures)``.
    """

    truths: NDArray[np.float64]
    estimates: NDArray[np.float64]

    def __repr__(self) -> str:
        """Name it; show no value."""
        runs, figures = self.estimates.shape
        return f"<OwnerRehearsal, {runs} runs of {figures} figures: {OWNER_ONLY}>"

    def __reduce__(self) -> NoReturn:
        """Refuse pickling and copying, hence caches and other processes."""
        msg = "a rehearsal cannot be pickled or copied"
        raise TypeError(msg)
