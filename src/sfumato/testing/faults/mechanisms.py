"""Faults of mechanisms: broken callables that claim an ε which they do not keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.account import Laplace
from sfumato.audit.attacks.floats import float_sums, granularity, reachability
from sfumato.audit.black_box import Finding, compare_draws, epsilon_lower_bound
from sfumato.audit.distribution import distribution
from sfumato.audit.laws import below_geometric
from sfumato.audit.one_run import one_run
from sfumato.audit.outcome import Draws
from sfumato.noise import default, discrete_laplace
from sfumato.testing.faults.fault import Caught, Fault

__all__ = ["faults"]

Floats: TypeAlias = "NDArray[np.float64]"
DRAWS = 6000
_BLACK_BOX = "audit.epsilon_lower_bound"


def _uniforms(count: int) -> Floats:
    words = (default().words(count) >> np.uint64(12)) + np.uint64(1)
    return words.astype(np.float64) * 2.0**-52


def _float_laplace(count: int, scale: float = 1.0) -> Floats:
    """The textbook: a sign and a logarithm, in doubles."""
    drawn: Floats = _signs(count) * scale * np.log(_uniforms(count))
    return drawn


def _float_normal(count: int) -> Floats:
    radius = np.sqrt(-2 * np.log(_uniforms(count)))
    drawn: Floats = radius * np.cos(2 * np.pi * _uniforms(count))
    return drawn


def _signs(count: int) -> Floats:
    return np.where(default().words(count) >> np.uint64(63), 1.0, -1.0)


def _geometric(scale: int = 1) -> int:
    return discrete_laplace(scale)


# Each takes a table, a list of numbers, and claims ε = 1 for one row more or less.


def _half_noise(rows: Sequence[float]) -> float:
    return len(rows) + discrete_laplace(Laplace(1, 2).scale)


def _rare_key(rows: Sequence[float]) -> dict[float, int]:
    return {row: 1 + _geometric() for row in rows}


def _exact_threshold(rows: Sequence[float]) -> int | None:
    return len(rows) + _geometric() if len(rows) > 5 else None


def _raises(rows: Sequence[float]) -> int:
    if any(row != row for row in rows):
        msg = "NaN"
        raise ValueError(msg)
    return len(rows) + _geometric()


def _length(rows: Sequence[float]) -> list[int]:
    return [_geometric() for _ in rows]


def _one_draw_for_two(rows: Sequence[float]) -> list[int]:
    drawn = _geometric()
    return [len(rows) + drawn, drawn]


def _eight_for_the_price_of_one(rows: Sequence[float]) -> list[int]:
    return [len(rows) + _geometric() for _ in range(8)]


def _bounds_from_data(rows: Sequence[float]) -> float:
    held = [row for row in rows if row == row]
    widest = int(max(held))
    return sum(held) + discrete_laplace(max(1, widest))


def _nan_as_upper_bound(rows: Sequence[float]) -> float:
    return sum(50 if row != row else min(row, 5) for row in rows) + discrete_laplace(5)


def _mean_by_own_count(rows: Sequence[float]) -> float:
    return (len(rows) + _geometric()) / len(rows)


def _rows_as_people(rows: Sequence[float]) -> int:
    """The person at the end has five rows."""
    return len(rows) + 4 * rows[-1:].count(77) + _geometric()


def _constant_seed(rows: Sequence[float]) -> int:
    return len(rows) + 3


def _no_noise_on_nothing(rows: Sequence[float]) -> int:
    return len(rows) - 5 + _geometric() if len(rows) > 5 else 0


def _positive_noise_only(rows: Sequence[float]) -> int:
    return len(rows) + abs(_geometric())


def _wraps(rows: Sequence[float]) -> int:
    """A sum in eight bits."""
    return int(sum(rows) % 256) + discrete_laplace(77)


_FIVE: list[float] = [50, 51, 52, 1, 49]
_ONE_MORE: list[float] = [*_FIVE, 77]
_BLACK: list[tuple[Callable[[Any], object], list[float], str]] = [
    (_half_noise, _ONE_MORE, "Noise for twice the claimed loss."),
    (_rare_key, _ONE_MORE, "A key is shown as soon as one row has it, without a threshold."),
    (_exact_threshold, _ONE_MORE, "A threshold is compared with the exact count."),
    (_raises, [*_FIVE, float("nan")], "A NaN raises an error, which is an answer."),
    (_length, _ONE_MORE, "As many numbers as there are rows."),
    (_one_draw_for_two, _ONE_MORE, "Two answers share one draw: their difference is exact."),
    (_eight_for_the_price_of_one, _ONE_MORE, "Eight answers, charged as one."),
    (_bounds_from_data, [*_FIVE, 900], "The bounds are read from the data."),
    (_nan_as_upper_bound, [*_FIVE, float("nan")], "NaN passes the clamp and counts as a huge value."),
    (_mean_by_own_count, _ONE_MORE, "A noisy sum is divided by the exact number of rows."),
    (_rows_as_people, _ONE_MORE, "A count of rows with the noise of a count of people."),
    (_constant_seed, _ONE_MORE, "The generator is seeded alike for every answer."),
    (_no_noise_on_nothing, _ONE_MORE, "Zero counts get no noise."),
    (_positive_noise_only, _ONE_MORE, "Noise that is never negative."),
    (_wraps, _ONE_MORE, "A sum overflows and wraps around."),
]  # fmt: skip


def faults() -> list[Fault]:
    """Return the faults, each with its hunt."""
    black = [
        Fault(
            one.__name__.strip("_").replace("_", " "),
            about,
            _BLACK_BOX,
            lambda one=one, data=data: _told(  # type: ignore[misc]
                epsilon_lower_bound(one, data, _FIVE, claimed=1, draws=DRAWS)
            ),
        )
        for one, data, about in _BLACK
    ]
    return [*black, *_LAWS, *_FLOATS, *_ROUNDING, _MEMORISED]


def _told(found: Finding) -> Caught:
    draws = f"{found.draws} draws a side" if found.draws > 1 else "1 run"
    return Caught(found.violated, draws)


def _law(sampler: Callable[[int], Any]) -> Caught:
    fit = distribution(sampler, below_geometric(10.0), draws=400_000)
    return Caught(fit.alarm, f"{fit.draws} draws")


def _less_noise(count: int) -> Any:
    return discrete_laplace(Laplace("9.5", 1).scale, count)


def _floored(count: int) -> Any:
    """Floor of float noise: shifted by half a step."""
    return np.floor(_float_laplace(count, 10.0))


_LAWS = [
    Fault("five per cent less noise", "A scale of 9.5 where 10 is due.",
          "audit.distribution", lambda: _law(_less_noise)),
    Fault("noise floored", "Float noise rounded down: off centre by half a step.",
          "audit.distribution", lambda: _law(_floored)),
    Fault("sorted draws", "Draws that depend on one another.",
          "audit.distribution", lambda: _law(lambda n: np.sort(discrete_laplace(10, n)))),
]  # fmt: skip


def _summed(rows: Floats, count: int) -> Floats:
    return np.sum(rows) + discrete_laplace(1, count).astype(np.float64)


_FLOATS = [
    Fault("float laplace", "Textbook Laplace noise added in doubles.", "attacks.granularity",
          lambda: _told(granularity(lambda x, n: x + _float_laplace(n), claimed=1))),
    Fault("float gaussian", "Textbook normal noise added in doubles, at δ = 1e-5.",
          "attacks.granularity",
          lambda: _told(granularity(lambda x, n: x + 5 * _float_normal(n), claimed=1, delta=1e-5))),
    Fault("reachable doubles", "Mironov: which doubles the sampler can return from 0.",
          "attacks.reachability",
          lambda: _told(reachability(lambda x, n: x + _float_laplace(n), scale=1, claimed=1))),
    Fault("float sums", "Rows are summed in doubles, whose order and rounding move the sum.",
          "attacks.float_sums", lambda: _told(float_sums(_summed, claimed=1))),
]  # fmt: skip


def _pair(broken: Callable[[float, int], Floats], one: float, other: float,
          draws: int = 40_000) -> Caught:  # fmt: skip
    held = (Draws({}, {"y": broken(x, draws)}, draws) for x in (one, other))
    return _told(compare_draws(*held, claimed=1, delta=0, confidence=1 - 1e-9))


def _half_even(x: float, count: int) -> Floats:
    drawn: Floats = np.rint(x) + discrete_laplace(1, count).astype(np.float64)
    return drawn


def _half_away(x: float, count: int) -> Floats:
    rounded = np.copysign(np.floor(abs(x) + 0.5), x)
    drawn: Floats = rounded + discrete_laplace(1, count).astype(np.float64)
    return drawn


def _redrawn(x: float, count: int) -> Floats:
    """Draw again until the answer is not negative."""
    drawn = x + discrete_laplace(1, 4 * count).astype(np.float64)
    return drawn[drawn >= 0][:count]


_ROUNDING = [
    Fault("values rounded half to even", "Two values one step apart land two steps apart.",
          _BLACK_BOX, lambda: _pair(_half_even, 0.5, 1.5)),
    Fault("values rounded half away from zero", "Likewise, around zero.",
          _BLACK_BOX, lambda: _pair(_half_away, -0.5, 0.5)),
    Fault("negative answers drawn again", "Noise redrawn until the count is not negative.",
          _BLACK_BOX, lambda: _pair(_redrawn, 0.0, 1.0, 100_000)),
]  # fmt: skip


def _memorised() -> Caught:
    """A model that keeps one cell for each row, with noise for ε = 6."""

    def train(inside: list[int]) -> list[int]:
        table = discrete_laplace(Laplace(1, 6).scale, 400)
        table[inside] += 1
        return [int(x) for x in table]

    found = one_run(train, lambda made, i: float(made[i]), 400, claimed=1)
    return _told(found)


_MEMORISED = Fault("a model that memorises", "Six times the claimed loss per row, in one run.",
                   "audit.one_run", _memorised)  # fmt: skip
