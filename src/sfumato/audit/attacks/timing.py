"""Does the time that an answer takes betray the noise in it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, final

import numpy as np

from sfumato.release.libraries import need

__all__ = ["Timing", "timing"]


@final
@dataclass(frozen=True, slots=True)
class Timing:
    """Rank correlation of time and size of the noise: a measure, not a proof.

    Attributes:
        correlation: Spearman's, between time and ``|noise|``.
        p: Its p-value when there is no relation.
        draws: Answers that were timed.
    """

    correlation: float
    p: float
    draws: int


def timing(
    mechanism: Callable[[], float], *, truth: float = 0.0, draws: int = 20_000
) -> Timing:
    """Time single answers and relate the time to the noise.

    Args:
        mechanism: Answers once about a fixed input.
        truth: The answer without noise.
        draws: How often to ask.
    """
    times, noise = np.empty(draws), np.empty(draws)
    for i in range(draws):
        start = perf_counter_ns()
        answer = mechanism()
        times[i] = perf_counter_ns() - start
        noise[i] = abs(float(answer) - truth)
    stats: Any = need("scipy.stats")
    found = stats.spearmanr(times, noise)
    return Timing(float(found.statistic), float(found.pvalue), draws)
