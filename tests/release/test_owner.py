"""The owner's record keeps its values to itself."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from sfumato.release import OwnerComparison, Release, compare

TRUTHS = (770, 120.5, 31.0, 40.0, 0, -4, 777777, 368)


@pytest.fixture
def comparison(release: Release) -> OwnerComparison:
    """Beside the truth."""
    return compare(release, TRUTHS)


def test_errors(comparison: OwnerComparison) -> None:
    """Error, relative error and coverage per figure."""
    rows = comparison.rows

    assert rows[0].error == -2
    assert rows[1].relative_error == pytest.approx(1.43 / 120.5)
    assert rows[4].relative_error is None
    assert [r.covered for r in rows] == [
        True,
        True,
        True,
        False,
        False,
        True,
        False,
        True,
    ]
    assert comparison.covered == 5
    assert compare(
        Release("t", "q", (), 0.95, comparison.claim), ()
    ).mean_absolute_error == 0  # fmt: skip


def test_one_truth_per_figure(release: Release) -> None:
    """Values that do not match the figures are refused."""
    with pytest.raises(ValueError, match="zip"):
        compare(release, TRUTHS[:-1])


def test_prints_no_value(comparison: OwnerComparison) -> None:
    """Neither repr nor str shows a true value; both say whose eyes it is for."""
    for shown in (
        repr(comparison),
        str(comparison),
        repr(comparison.rows),
        f"{comparison}",
    ):
        assert "777777" not in shown
        assert "FOR THE OWNER'S EYES, NEVER FOR PUBLICATION" in shown


def test_has_no_other_form(comparison: OwnerComparison) -> None:
    """It cannot be pickled, copied or written as JSON, whole or in parts."""
    for value in (comparison, comparison.rows[0]):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(value)
        with pytest.raises(TypeError):
            copy.deepcopy(value)
        with pytest.raises(TypeError):
            json.dumps(value)
        assert not hasattr(value, "to_json")
        assert not hasattr(value, "_repr_html_")
