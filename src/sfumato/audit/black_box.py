"""A certified lower bound on the ε of any callable, from its outputs alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, isinf, log, sqrt
from typing import Any, final

from sfumato.audit.certify import epsilon_bound
from sfumato.audit.event import Event, events
from sfumato.audit.outcome import Draws, draw
from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["Finding", "compare_draws", "epsilon_lower_bound"]

_FEWEST = 1000
_RARE = 20  # draws below which an event is not worth certifying


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit proved about one claim.

    Attributes:
        lower: The ε of the mechanism is at least this, with probability `confidence`;
            0 where nothing was proved.
        claimed: The ε that was claimed.
        delta: The δ that was claimed.
        event: The event that tells the inputs apart best.
        draws: Draws on each input, half of them to find the event.
        confidence: 1 less the probability that a sound mechanism is accused.
    """

    lower: float
    claimed: float
    delta: float
    event: str
    draws: int
    confidence: float

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.lower > self.claimed

    def __str__(self) -> str:
        """Say it in one line."""
        verdict = "VIOLATED" if self.violated else "not refuted"
        return (
            f"claimed ε {self.claimed:g}: {verdict}; at least {self.lower:.3g} "
            f"({self.draws} draws a side, {1 - self.confidence:.0e} risk; {self.event})"
        )


def epsilon_lower_bound(  # noqa: PLR0913  a claim, two inputs, and how hard to look
    mechanism: Callable[[Any], object],
    data: object,
    neighbour: object,
    *,
    claimed: float,
    delta: float = 0.0,
    draws: int = 20_000,
    confidence: float = 1 - 1e-9,
) -> Finding:
    """Look for an event that a mechanism of the claimed ε could not show.

    The best event is found on half of the draws and its probabilities are bounded on
    the other half by Clopper and Pearson, so a mechanism that keeps its claim is
    accused with probability at most ``1 - confidence`` (the method of Jagielski,
    Ullman, Oprea 2020, and of DP-Sniper, Bichsel et al. 2021). Events: presence of
    keys, errors raised, lengths, thresholds, single values, granularity of floats, a
    linear classifier of vectors. That nothing is found proves nothing.

    Args:
        mechanism: Any callable of one argument; what it raises is an outcome, too.
        data: Its argument.
        neighbour: A neighbouring argument.
        claimed: The ε that it claims for these neighbours.
        delta: The δ that it claims.
        draws: Calls on each side.
        confidence: See above.

    Raises:
        ArgumentError: A claim is no number at or above 0, or there are too few draws.
        MissingExtraError: scipy is not installed.

    Examples:
        >>> import sfumato as sf
        >>> found = epsilon_lower_bound(
        ...     lambda x: sf.geometric(x, 1, 1), 0, 1, claimed=1, draws=2000
        ... )
        >>> found.violated
        False
    """
    _check(claimed, delta, draws, confidence)
    one, other = (draw(mechanism, held, draws) for held in (data, neighbour))
    return compare_draws(
        one, other, claimed=claimed, delta=delta, confidence=confidence
    )


def compare_draws(
    one: Draws, other: Draws, *, claimed: float, delta: float, confidence: float
) -> Finding:
    """Certify from draws that were made already; see `epsilon_lower_bound`."""
    half = min(one.count, other.count) // 2
    learn, prove = ((d.part(0, half), d.part(half, 2 * half)) for d in (one, other))
    event, swapped = _best(learn[0], prove[0], delta)
    first, second = (prove[1], learn[1]) if swapped else (learn[1], prove[1])
    hits, misses = int(event.holds(first).sum()), int(event.holds(second).sum())
    found = epsilon_bound(hits, misses, half, delta=delta, risk=1 - confidence)
    return Finding(
        max(0.0, found),
        claimed,
        delta,
        event.name,
        2 * half,
        confidence,
    )


def _best(one: Draws, other: Draws, delta: float) -> tuple[Event, bool]:
    """Return the most promising event, and whether it is one of the neighbour."""
    best, chosen = -inf, None
    for event in events(one, other):
        counts = int(event.holds(one).sum()), int(event.holds(other).sum())
        for swapped, (hits, misses) in enumerate((counts, counts[::-1])):
            if hits < _RARE:
                continue
            least = (hits - 3 * sqrt(hits)) / one.count - delta
            most = (misses + 3 * sqrt(misses) + 5) / other.count
            score = log(least / most) if least > 0 else -inf
            if score > best:
                best, chosen = score, (event, bool(swapped))
    return chosen or (next(iter(events(one, other))), False)


def _check(claimed: float, delta: float, draws: int, confidence: float) -> None:
    if not (claimed >= 0 and not isinf(exp(min(claimed, 1000.0))) and 0 <= delta < 1):
        raise ArgumentError(
            N_("a claim has an ε of at least 0 and a δ from 0 to below 1"),
            hint=N_("write claimed=1.0, delta=1e-5"),
        )
    if draws < _FEWEST or not 0 < confidence < 1:
        raise ArgumentError(
            N_("an audit needs at least {least} draws and a confidence below 1"),
            hint=N_("write draws=20000, confidence=1 - 1e-9"),
            least=_FEWEST,
        )
