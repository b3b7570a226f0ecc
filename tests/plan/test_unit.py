"""Units of figures: products and squares where two columns are multiplied."""

import pytest

import sfumato as sf
from sfumato.plan import unit_of

SCHEMA = sf.Schema(
    {
        "g": sf.Real(0, 9, unit="mg/dL"),
        "i": sf.Real(0, 9, unit="µU/mL"),
        "w": sf.Real(0, 9, unit="kg"),
        "n": sf.Integer(0, 9),
        "day": sf.Date("2024-01-01", "2024-12-31"),
    }
)


@pytest.mark.parametrize(("statistic", "column", "other", "unit"), [
    (sf.covariance("g", "n"), "g", "n", "mg/dL"),
    (sf.covariance("n", "g"), "n", "g", "mg/dL"),
    (sf.covariance("g", "i"), "g", "i", "(mg/dL) · (µU/mL)"),
    (sf.covariance("g", "w"), "g", "w", "(mg/dL) · kg"),
    (sf.covariance("w", "g", "n"), "w", "w", "kg²"),
    (sf.covariance("n", "w", "g"), "n", "n", ""),
    (sf.covariance("day", "w"), "day", "w", "days · kg"),
    (sf.variance("g"), "g", None, "(mg/dL)²"),
    (sf.variance("day"), "day", None, "days²"),
    (sf.std("day"), "day", None, "days"),
    (sf.std("g"), "g", None, "mg/dL"),
    (sf.ratio("w", "g"), "w", "g", "kg/(mg/dL)"),
    (sf.ratio("g", "w"), "g", "w", "(mg/dL)/kg"),
    (sf.ratio("g", "n"), "g", "n", "mg/dL"),
    (sf.ratio("n", "w"), "n", "w", "1/kg"),
])  # fmt: skip
def test_a_unit_is_that_of_the_product(statistic, column, other, unit):
    """No brackets around a unit that stands alone; a distance of days is in days."""
    assert unit_of(SCHEMA, statistic, column, other) == unit
