"""What an answer costs: exact rationals, no sampling, no arrays, no libraries.

`sfumato.account.profile` alone computes with numpy; it is a report and is imported by
name, never from here.
"""

from sfumato.account.allocate import (
    Term,
    equal,
    geometric,
    open_ended,
    optimal,
    weighted,
)
from sfumato.account.asked import loss_of, told_delta, with_delta
from sfumato.account.budget import (
    ApproxDP,
    Budget,
    LargeDeltaWarning,
    Loss,
    Measure,
    epsilon_at,
    has_large_delta,
    loss_text,
    read_loss,
    warn_of_delta,
)
from sfumato.account.cost import (
    charge,
    make_gaussian,
    make_geometric,
    make_laplace,
    make_selection,
)
from sfumato.account.descriptor import describe
from sfumato.account.gaussian import Gaussian, gaussian_batch
from sfumato.account.joint import Coordinate, KNorm
from sfumato.account.loss import PICO, Epsilon, apportion
from sfumato.account.meaning import Odds, odds
from sfumato.account.mechanism import Geometric, Laplace, Mechanism, read_sensitivity
from sfumato.account.rho import GDP, ZCDP
from sfumato.account.selection import Selection
from sfumato.account.target import Wish, needed, targets
from sfumato.account.threshold import Threshold, ThresholdLaw

__all__ = [
    "GDP",
    "PICO",
    "ZCDP",
    "ApproxDP",
    "Budget",
    "Coordinate",
    "Epsilon",
    "Gaussian",
    "Geometric",
    "KNorm",
    "Laplace",
    "LargeDeltaWarning",
    "Loss",
    "Measure",
    "Mechanism",
    "Odds",
    "Selection",
    "Term",
    "Threshold",
    "ThresholdLaw",
    "Wish",
    "apportion",
    "charge",
    "describe",
    "epsilon_at",
    "equal",
    "gaussian_batch",
    "geometric",
    "has_large_delta",
    "loss_of",
    "loss_text",
    "make_gaussian",
    "make_geometric",
    "make_laplace",
    "make_selection",
    "needed",
    "odds",
    "open_ended",
    "optimal",
    "read_loss",
    "read_sensitivity",
    "targets",
    "told_delta",
    "warn_of_delta",
    "weighted",
    "with_delta",
]
