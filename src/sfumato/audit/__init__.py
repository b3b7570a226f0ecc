"""Tests that would have caught them all: for our mechanisms and for any other."""

from sfumato.audit.black_box import Finding, epsilon_lower_bound
from sfumato.audit.distribution import Fit, distribution
from sfumato.audit.engines import on_postgres, on_spark
from sfumato.audit.one_run import one_run
from sfumato.audit.sensitivity import Sensitivity, sensitivity

__all__ = [
    "Finding",
    "Fit",
    "Sensitivity",
    "distribution",
    "epsilon_lower_bound",
    "on_postgres",
    "on_spark",
    "one_run",
    "sensitivity",
]
