"""What may leave the building, and the forms it leaves in."""

from sfumato.release.formats import from_json
from sfumato.release.owner import (
    OWNER_ONLY,
    ForOwner,
    OwnerComparison,
    OwnerRow,
    compare,
)
from sfumato.release.record import (
    Bin,
    Claim,
    Figure,
    Measurement,
    Noise,
    Person,
    Receipt,
    Release,
)
from sfumato.release.rehearsal import OwnerRehearsal

__all__ = [
    "OWNER_ONLY",
    "Bin",
    "Claim",
    "Figure",
    "ForOwner",
    "Measurement",
    "Noise",
    "OwnerComparison",
    "OwnerRehearsal",
    "OwnerRow",
    "Person",
    "Receipt",
    "Release",
    "compare",
    "from_json",
]
