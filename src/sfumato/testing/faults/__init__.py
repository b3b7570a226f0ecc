"""Deliberately broken mechanisms, plans and systems, and the audits that catch them.

``python -m sfumato.testing.faults`` plants each in turn and prints fault → caught by →
at what cost. An audit that cannot fail proves nothing; this is how it shows that it can.
"""

from __future__ import annotations

from sfumato.testing.faults.fault import Caught, Fault

__all__ = ["Caught", "Fault", "all_faults"]


def all_faults() -> tuple[Fault, ...]:
    """Return every fault, each with its hunt.

    Examples:
        >>> faults = all_faults()
        >>> len(faults) >= 25, len({fault.name for fault in faults}) == len(faults)
        (True, True)
    """
    from sfumato.testing.faults import mechanisms, plans, related, systems

    return (
        *plans.faults(),
        *related.faults(),
        *mechanisms.faults(),
        *systems.faults(),
    )
