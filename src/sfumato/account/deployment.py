"""Public deployments and the tutorials' scenarios, to set an ε beside; data only.

Each figure was read in the source named; what was not read is not here. An ε means
nothing without its unit: per action and day is a far weaker promise than per person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato.account.loss import Epsilon
from sfumato.words import N_

__all__ = ["DEPLOYMENTS", "SCENARIOS", "Deployment", "Scenario"]


@dataclass(frozen=True, slots=True)
class Deployment:
    """One public use of differential privacy.

    Attributes:
        name: Who and what; a text to be translated when shown.
        epsilon: ε as published, the lower end where it is a range.
        epsilon_to: The upper end.
        delta: δ as published; "0" where it is said to be pure, none where not stated.
        unit: What is protected or charged, and over what time, to be translated; none
            where not stated.
        source: Read in a publication of the deployer, or in a summary by others.
    """

    name: str
    epsilon: str
    epsilon_to: str
    delta: str | None
    unit: str | None
    source: Literal["primary", "secondary"] = "primary"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A use with the range of ε that the tutorials suggest for it.

    Attributes:
        name: The use; a text to be translated when shown.
        low: Lower end of the range.
        high: Upper end of the range.
    """

    name: str
    low: Epsilon
    high: Epsilon


_USER_DAY = N_("one user and one day")

DEPLOYMENTS: tuple[Deployment, ...] = (
    Deployment(
        N_("Facebook Full URLs, one type of action"), "0.45", "0.45", "1e-5",
        N_("one type of action, for 99 percent of users"),
    ),
    Deployment(
        N_("Facebook Full URLs, all types of action"), "1.453", "1.453", None,
        N_("all actions, for 96.6 percent of users"),
    ),
    Deployment(N_("Google search trends of symptoms"), "1.68", "1.68", None, _USER_DAY),
    Deployment(N_("Apple, types of health data (local)"), "2", "2", None, _USER_DAY),
    Deployment(
        N_("Google searches for vaccination"), "2.19", "2.19", "1e-5", _USER_DAY
    ),
    Deployment(N_("Apple, emoji (local)"), "4", "4", None, _USER_DAY),
    Deployment(N_("Apple, lookup hints and Safari (local)"), "8", "8", None, _USER_DAY),
    Deployment(
        N_("Israel, microdata of live births"), "9.98", "9.98", "0",
        N_("mothers and newborns"),
    ),
    Deployment(N_("Apple, QuickType (local)"), "16", "16", None, _USER_DAY),
    Deployment(
        N_("AWS Clean Rooms, allowed range"), "1", "20", None, N_("one collaboration")
    ),
    Deployment(
        N_("US Census 2020, redistricting data"), "19.61", "19.61", "1e-10",
        N_("one person or one household"), "secondary",
    ),
    Deployment(
        N_("LinkedIn audience engagement"), "34.9", "34.9", "7e-9",
        N_("one analyst and one month"),
    ),
    Deployment(
        N_("Privacy Sandbox aggregation, largest allowed"), "64", "64", None, None
    ),
)  # fmt: skip

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(N_("research analysis"), Epsilon("0.3"), Epsilon("0.7")),
    Scenario(N_("real-time report"), Epsilon("0.1"), Epsilon("0.3")),
    Scenario(N_("model features"), Epsilon("0.5"), Epsilon("1.0")),
)
