"""Known attacks: each breaks something that has been published or shipped."""

from sfumato.audit.attacks.asking import averaging, budget_race, differencing
from sfumato.audit.attacks.floats import float_sums, granularity, reachability
from sfumato.audit.attacks.membership import Membership, membership
from sfumato.audit.attacks.reconstruction import (
    Reconstruction,
    before_and_after,
    reconstruct,
)
from sfumato.audit.attacks.timing import Timing, timing

__all__ = [
    "Membership",
    "Reconstruction",
    "Timing",
    "averaging",
    "before_and_after",
    "budget_race",
    "differencing",
    "float_sums",
    "granularity",
    "membership",
    "reachability",
    "reconstruct",
    "timing",
]
