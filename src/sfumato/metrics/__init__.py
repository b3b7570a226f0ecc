"""How useful a private result is, and what a table risks: for the owner's eyes."""

from sfumato.metrics.difference import OwnerUtility, utility
from sfumato.metrics.expected import ExpectedUtility, expected_utility
from sfumato.metrics.risk import (
    KAnonymity,
    LDiversity,
    TCloseness,
    k_anonymity,
    l_diversity,
    t_closeness,
)

__all__ = [
    "ExpectedUtility",
    "KAnonymity",
    "LDiversity",
    "OwnerUtility",
    "TCloseness",
    "expected_utility",
    "k_anonymity",
    "l_diversity",
    "t_closeness",
    "utility",
]
