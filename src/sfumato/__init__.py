"""Differential privacy for tables: exact noise, one budget, figures to publish.

The path of one question, one floor at a time::

    declare → plan → ledger (debit) → engine → gate (noise) → post → release → report

Names load on first use, so that ``import sfumato`` and ``sfumato --help`` stay quick.

Examples:
    >>> import sfumato as sf
    >>> print(sf.Query().where(sf.col("Age") >= 30).select(sf.count(), sf.mean("BMI")))
    count, mean_BMI where Age >= 30
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.account import (
        ZCDP,
        ApproxDP,
        Epsilon,
        Gaussian,
        Geometric,
        Laplace,
        Odds,
        odds,
    )
    from sfumato.arrays import above_threshold, choose, gaussian, geometric, laplace
    from sfumato.consistency import (
        Between,
        Monotone,
        Parts,
        Total,
        consistency_adjustment,
        consistent,
    )
    from sfumato.declare import feature
    from sfumato.declare.bounds import (
        PrivateBounds,
        private_bounds,
        private_quantiles,
    )
    from sfumato.declare.calendar import Date
    from sfumato.declare.choice import when
    from sfumato.declare.dataset import CSV, Dataset, Postgres, Spark
    from sfumato.declare.expr import col
    from sfumato.declare.lookup import PublicTable
    from sfumato.declare.query import (
        Query,
        correlation,
        count,
        covariance,
        crosstab,
        histogram,
        mean,
        median,
        mode,
        near_maximum,
        near_minimum,
        people,
        people_cut,
        proportion,
        quantile,
        ratio,
        rows_cut,
        std,
        sum,  # noqa: A004
        variance,
    )
    from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, Text
    from sfumato.declare.unit import Rows, Unit
    from sfumato.errors import (
        ArgumentError,
        BudgetExceededError,
        DeclarationError,
        EngineError,
        LedgerError,
        MissingExtraError,
        ProjectError,
        SfumatoError,
        SourceError,
    )
    from sfumato.ledger import Limit
    from sfumato.metrics import (
        ExpectedUtility,
        KAnonymity,
        LDiversity,
        OwnerUtility,
        TCloseness,
        expected_utility,
        k_anonymity,
        l_diversity,
        t_closeness,
        utility,
    )
    from sfumato.release import Claim, Figure, OwnerComparison, Receipt, Release
    from sfumato.session import Session

__version__ = "0.1.0"

_HOMES = {
    "account": (
        "ZCDP",
        "ApproxDP",
        "Epsilon",
        "Gaussian",
        "Geometric",
        "Laplace",
        "Odds",
        "odds",
    ),
    "ledger": ("Limit",),
    "consistency": (
        "Between",
        "Monotone",
        "Parts",
        "Total",
        "consistency_adjustment",
        "consistency_adjustment",
        "consistent",
    ),
    "metrics": (
        "ExpectedUtility",
        "KAnonymity",
        "LDiversity",
        "OwnerUtility",
        "TCloseness",
        "Text",
        "expected_utility",
        "k_anonymity",
        "l_diversity",
        "t_closeness",
        "utility",
    ),
    "arrays": ("above_threshold", "choose", "gaussian", "geometric", "laplace"),
    "declare": ("feature",),
    "declare.bounds": ("PrivateBounds", "private_bounds", "private_quantiles"),
    "declare.calendar": ("Date",),
    "declare.choice": ("when",),
    "declare.dataset": ("CSV", "Dataset", "Postgres", "Spark"),
    "declare.expr": ("col",),
    "declare.lookup": ("PublicTable",),
    "declare.query": (
        "Query",
        "correlation",
        "count",
        "covariance",
        "crosstab",
        "histogram",
        "mean",
        "median",
        "mode",
        "near_maximum",
        "near_minimum",
        "people",
        "people_cut",
        "proportion",
        "quantile",
        "ratio",
        "rows_cut",
        "std",
        "sum",
        "variance",
    ),
    "declare.schema": ("Boolean", "Category", "Integer", "Real", "Schema", "Text"),
    "declare.unit": ("Rows", "Unit"),
    "errors": (
        "ArgumentError",
        "BudgetExceededError",
        "DeclarationError",
        "EngineError",
        "LedgerError",
        "MissingExtraError",
        "ProjectError",
        "SfumatoError",
        "SourceError",
    ),
    "release": ("Claim", "Figure", "OwnerComparison", "Receipt", "Release"),
    "session": ("Session",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CSV",
    "ZCDP",
    "ApproxDP",
    "ArgumentError",
    "Between",
    "Boolean",
    "BudgetExceededError",
    "Category",
    "Claim",
    "Dataset",
    "Date",
    "DeclarationError",
    "EngineError",
    "Epsilon",
    "ExpectedUtility",
    "Figure",
    "Gaussian",
    "Geometric",
    "Integer",
    "KAnonymity",
    "LDiversity",
    "Laplace",
    "LedgerError",
    "Limit",
    "MissingExtraError",
    "Monotone",
    "Odds",
    "OwnerComparison",
    "OwnerUtility",
    "Parts",
    "Postgres",
    "PrivateBounds",
    "ProjectError",
    "PublicTable",
    "Query",
    "Real",
    "Receipt",
    "Release",
    "Rows",
    "Schema",
    "Session",
    "SfumatoError",
    "SourceError",
    "Spark",
    "TCloseness",
    "Text",
    "Total",
    "Unit",
    "above_threshold",
    "choose",
    "col",
    "consistency_adjustment",
    "consistent",
    "correlation",
    "count",
    "covariance",
    "crosstab",
    "expected_utility",
    "feature",
    "gaussian",
    "geometric",
    "histogram",
    "k_anonymity",
    "l_diversity",
    "laplace",
    "mean",
    "median",
    "mode",
    "near_maximum",
    "near_minimum",
    "odds",
    "people",
    "people_cut",
    "private_bounds",
    "private_quantiles",
    "proportion",
    "quantile",
    "ratio",
    "rows_cut",
    "std",
    "sum",
    "t_closeness",
    "utility",
    "variance",
    "when",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        msg = f"module 'sfumato' has no attribute {name!r}"
        raise AttributeError(msg)
    if name == "feature":  # a module of functions, which its folder does not load
        import_module("sfumato.declare.feature")
    value = getattr(import_module(f"sfumato.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names for tab completion."""
    return sorted({*globals(), *__all__})
