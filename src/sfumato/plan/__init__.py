"""Query + schema + ε → plan: pure, total, no rows, no randomness."""

from sfumato.plan.aggregate import (
    Aggregate,
    Bins,
    CentredKey,
    CentredSquare,
    CentredSum,
    CountRows,
    CountValues,
    Level,
    SumValues,
)
from sfumato.plan.expect import Expected, expected_errors
from sfumato.plan.lower import make_plan
from sfumato.plan.record import (
    ByCount,
    ByRank,
    ByRatio,
    BySquares,
    Direct,
    Group,
    Part,
    Plan,
    PublicSize,
    Recipe,
    Step,
)
from sfumato.plan.term import Term, bound, sensitivity, squared_sensitivity, term

__all__ = [
    "Aggregate",
    "Bins",
    "ByCount",
    "ByRank",
    "ByRatio",
    "BySquares",
    "CentredKey",
    "CentredSquare",
    "CentredSum",
    "CountRows",
    "CountValues",
    "Direct",
    "Expected",
    "Group",
    "Level",
    "Part",
    "Plan",
    "PublicSize",
    "Recipe",
    "Step",
    "SumValues",
    "Term",
    "bound",
    "expected_errors",
    "make_plan",
    "sensitivity",
    "squared_sensitivity",
    "term",
]
