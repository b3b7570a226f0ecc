"""What may leave the building, and the forms it leaves in."""

from sfumato.release.owner import OwnerComparison, OwnerRow
from sfumato.release.record import (
    Claim,
    Figure,
    Measurement,
    Noise,
    Receipt,
    Release,
)

__all__ = [
    "Claim",
    "Figure",
    "Measurement",
    "Noise",
    "OwnerComparison",
    "OwnerRow",
    "Receipt",
    "Release",
]
