"""Events that may tell two inputs apart, learned from draws of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.outcome import Draws, Floats

__all__ = ["Event", "events"]

Where: TypeAlias = "NDArray[np.bool_]"
_CUTS = 64  # thresholds tried for one number
_ATOMS = 32  # single values tried for one number
_BANDS = (np.inf, 16.0, 1.0, 2.0**-4, 2.0**-8)


@final
@dataclass(frozen=True, slots=True)
class Event:
    """A set of outcomes.

    Attributes:
        name: The event in words, for a report.
        holds: Which draws lie in it.
    """

    name: str
    holds: Callable[[Draws], Where]


def events(one: Draws, other: Draws) -> Iterator[Event]:
    """Iterate over candidate events and their complements.

    Presence of keys, errors and lengths; thresholds of each number and of a linear
    classifier; single values; and the granularity of floats, within bands of size
    (Haney, Desfontaines, Hartman, Shrestha, Hay 2022).
    """
    for event in _candidates(one, other):
        yield event
        yield Event(f"not ({event.name})", _opposite(event.holds))


def _opposite(holds: Callable[[Draws], Where]) -> Callable[[Draws], Where]:
    return lambda draws: ~holds(draws)


def _candidates(one: Draws, other: Draws) -> Iterator[Event]:
    for label in {**one.labels, **other.labels}:
        yield Event(label, lambda d, k=label: d.labels.get(k, np.zeros(d.count, bool)))  # type: ignore[misc]
    for name in {**one.numbers, **other.numbers}:
        seen = np.concatenate([_values(one, name), _values(other, name)])
        seen = seen[~np.isnan(seen)]
        yield Event(f"{name} is missing", lambda d, k=name: np.isnan(_values(d, k)))  # type: ignore[misc]
        for cut in _cuts(seen):
            yield Event(
                f"{name} <= {cut:.6g}",
                lambda d, k=name, c=cut: _values(d, k) <= c,  # type: ignore[misc]
            )
        for atom in _atoms(seen):
            yield Event(
                f"{name} = {atom:.17g}",
                lambda d, k=name, a=atom: _values(d, k) == a,  # type: ignore[misc]
            )
        yield from _grains(name, seen)
    yield from _classifiers(one, other)


def _values(draws: Draws, name: str) -> Floats:
    found = draws.numbers.get(name)
    return np.full(draws.count, np.nan) if found is None else found


def _cuts(seen: Floats) -> Floats:
    if not len(seen):
        return seen
    shares = np.linspace(0, 1, _CUTS)
    tails = 2.0 ** -np.arange(7, 14)
    found = np.quantile(
        seen, np.concatenate([shares, tails, 1 - tails]), method="lower"
    )
    return np.unique(found)


def _atoms(seen: Floats) -> Floats:
    values, counts = np.unique(seen, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:_ATOMS]
    return values[often][counts[often] > 1]


def _grains(name: str, seen: Floats) -> Iterator[Event]:
    """Thresholds of the place of a float's lowest bit; none for whole numbers."""
    if not len(seen) or (seen == np.floor(seen)).all():
        return
    bits = np.unique(lowest_bit(seen[np.isfinite(seen)]))
    for band in _BANDS:
        for bit in bits[:: max(1, len(bits) // 48)]:

            def holds(d: Draws, k: str = name, b: float = band, j: int = bit) -> Where:
                values = _values(d, k)
                inside: Where = (np.abs(values) <= b) & (lowest_bit(values) <= j)
                return inside

            yield Event(f"|{name}| <= {band:g} with a bit at or below 2^{bit}", holds)


def lowest_bit(values: Floats) -> NDArray[np.int64]:
    """Return the exponent of the lowest set bit of each double; 2000 for 0 and NaN."""
    held = np.where(np.isfinite(values), values, 0.0)
    mantissa, exponent = np.frexp(np.abs(held))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    low = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(held == 0, 2000, exponent - 53 + low).astype(np.int64)


def _classifiers(one: Draws, other: Draws) -> Iterator[Event]:
    """Thresholds along Fisher's linear discriminant, and of the largest and the sum."""
    names = [n for n in one.numbers if n in other.numbers]
    if len(names) < 2:  # noqa: PLR2004  one number has its own thresholds
        return
    a, b = (_matrix(d, names) for d in (one, other))
    spread = np.cov(np.vstack([a - a.mean(0), b - b.mean(0)]).T)
    ridge = np.eye(len(names)) * (np.trace(spread) / len(names) * 1e-3 + 1e-12)
    direction = np.linalg.solve(spread + ridge, a.mean(0) - b.mean(0))
    rows = np.eye(len(names))
    for label, weights in (
        ("discriminant", direction),
        ("sum", np.ones(len(names))),
        ("first less second", rows[0] - rows[1]),
    ):
        scores = np.concatenate([a @ weights, b @ weights])
        for cut in _cuts(scores):
            yield Event(
                f"{label} of {len(names)} numbers <= {cut:.6g}",
                lambda d, w=weights, c=cut: _matrix(d, names) @ w <= c,  # type: ignore[misc]
            )


def _matrix(draws: Draws, names: list[str]) -> Floats:
    columns = [
        np.nan_to_num(_values(draws, n), posinf=1e300, neginf=-1e300) for n in names
    ]
    return np.column_stack(columns)
