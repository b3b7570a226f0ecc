"""Run a sampler on every path of its random bits and add up exact masses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction


class NeedBitsError(Exception):
    """The script of a path has ended; the sampler wants one of so many values."""


class Script:
    """A source of bits that plays a script and then asks for more."""

    grain = 1

    def __init__(self, answers: tuple[int, ...]) -> None:
        self._answers = iter(answers)

    def bits(self, count: int) -> int:
        try:
            return next(self._answers)
        except StopIteration:
            raise NeedBitsError(1 << count) from None


def masses(
    sampler: Callable[[Script], Hashable], smallest: float
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Return exact masses of the outputs, and the mass of paths left unexplored.

    The true mass of an output lies between its mass and its mass plus the rest.
    """
    found: dict[Hashable, Fraction] = defaultdict(Fraction)
    hidden = Fraction(0)
    todo: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while todo:
        answers, mass = todo.pop()
        try:
            found[sampler(Script(answers))] += mass
        except NeedBitsError as need:
            (bound,) = need.args
            if mass / bound < smallest:
                hidden += mass
            else:
                todo += [((*answers, i), mass / bound) for i in range(bound)]
    return found, hidden
