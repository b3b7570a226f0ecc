"""Choices from scores and thresholds in hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar, overload

import numpy as np

from sfumato import noise
from sfumato.account import Epsilon, Geometric, read_sensitivity
from sfumato.amount import Amount, exact
from sfumato.arrays.container import Numbers, read_numbers
from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

__all__ = ["above_threshold", "choose"]

Candidate = TypeVar("Candidate")


@overload
def choose(
    scores: Mapping[Candidate, Amount], sensitivity: Amount,
    epsilon: Amount | Epsilon, *, monotone: bool = ..., method: str = ...,
) -> Candidate: ...  # fmt: skip
@overload
def choose(
    scores: Sequence[Amount] | Numbers, sensitivity: Amount,
    epsilon: Amount | Epsilon, *, monotone: bool = ..., method: str = ...,
) -> int: ...  # fmt: skip
def choose(
    scores: Any,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
    *,
    monotone: bool = False,
    method: str = "permute_and_flip",
) -> Any:
    """Choose a candidate whose score is nearly the highest, without telling the scores.

    Formal guarantee: ε-DP when each single score changes by at most `sensitivity`
    between neighbours. Permute-and-flip (McKenna, Sheldon 2020) is never worse in
    expectation than the exponential mechanism (McSherry, Talwar 2007). Every coin is
    exact (``docs/proofs/selection.md``).

    Args:
        scores: One score per candidate: a mapping from candidates, or a vector.
        sensitivity: Largest change of any one score between neighbours.
        epsilon: The loss; the caller accounts for it.
        monotone: True when adding a person moves all scores the same way, as counts
            do under add/remove: then the same ε buys twice the sharpness.
        method: ``"permute_and_flip"`` or ``"exponential"``.

    Returns:
        The chosen key of a mapping, or the chosen index of a vector.

    Raises:
        ArgumentError: No candidate, scores that are no finite numbers, or an unusable
            sensitivity or method.

    Examples:
        >>> choose({"A": 900, "B": 20, "O": 30}, sensitivity=1, epsilon=1)
        'A'
    """
    keys = list(scores) if isinstance(scores, Mapping) else None
    numbers: Any = read_numbers(list(scores.values()) if keys is not None else scores)
    if numbers.ndim != 1 or not numbers.size:
        raise ArgumentError(
            N_("scores must be a vector of at least one number"),
            hint=N_("give one score per candidate"),
        )
    if numbers.dtype == object:  # a list that numpy would have rounded
        numbers = [Fraction(score) for score in numbers]
    if not isinstance(monotone, bool):  # it halves the noise: no guess at what is meant
        raise ArgumentError(
            N_("monotone is true or false, got {value}"),
            hint=N_("say True only where adding a person moves all scores one way"),
            value=quoted(monotone),
        )
    rate = Epsilon(epsilon).value / read_sensitivity(sensitivity)
    rate = rate if monotone else rate / 2
    if method == "permute_and_flip":
        index = noise.permute_and_flip(numbers, rate)
    elif method == "exponential":
        index = noise.exponential(numbers, rate)
    else:
        raise ArgumentError(
            N_("unknown method {method}"),
            hint=N_('use "permute_and_flip" or "exponential"'),
            method=repr(method),
        )
    return index if keys is None else keys[index]


def above_threshold(
    values: Sequence[int] | Numbers,
    threshold: int,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
) -> int | None:
    """Return the first index whose noisy value reaches a noisy threshold, or none.

    Formal guarantee: ε-DP for any number of integer values, each of sensitivity at
    most `sensitivity` (sparse vector, one report; Dwork, Roth 2014, Alg. 1; noise of
    scale 2Δ/ε on the threshold and 4Δ/ε on each value).

    Args:
        values: Integers, in the order in which they are tried.
        threshold: A public integer.
        sensitivity: Largest change of any one value between neighbours, an integer.
        epsilon: The loss, however many values are tried; the caller accounts for it.

    Raises:
        ArgumentError: Values or threshold are no integers, or the sensitivity is not
            an integer above 0.

    Examples:
        >>> above_threshold([0, 0, 1000, 0], threshold=500, sensitivity=1, epsilon=1)
        2
    """
    numbers = read_numbers(values)
    if numbers.shape == (0,):  # of no number the type says nothing
        numbers = numbers.astype(np.int64)
    limit = exact(threshold)
    if numbers.dtype.kind == "f" or numbers.ndim != 1 or (
        limit is None or limit.denominator != 1
    ):  # fmt: skip
        raise ArgumentError(
            N_("above_threshold takes a vector of integers and an integer threshold"),
            hint=N_("round real values to a public grid first and count in its steps"),
        )
    scale = Geometric(sensitivity, epsilon).scale
    return noise.above_threshold(
        numbers, int(limit), threshold_scale=2 * scale, value_scale=4 * scale
    )
