"""The record of an audit: claims, tests, and what came out; it may leave the building.

It holds nothing of any private row: an audit sees made-up tables only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, final

__all__ = ["Audited", "Check", "Kind", "Rebuilt"]

Kind: TypeAlias = Literal[
    "sensitivity", "noise", "release", "keys", "model", "synthetic", "race"
]


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One claim that was tested.

    Attributes:
        kind: Which test.
        subject: What was tested: the name of a release, a step, a law of noise.
        claimed: The claim, in numbers.
        found: What was certified or seen, in numbers.
        facts: The numbers of the test: tables, pairs, draws, risk.
        violated: Whether the claim is refuted.
    """

    kind: Kind
    subject: str
    claimed: str
    found: str
    facts: Mapping[str, str]
    violated: bool


@final
@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A made-up secret column, and what a linear programme rebuilt of it.

    Attributes:
        kind: From which sums over subsets: exact, rounded to multiples of 3, or with noise.
        secret: The column: zeros and ones.
        guesses: What was rebuilt.
        answers: How many sums there were.
        epsilon: What the noisy ones cost together; empty for the others.
    """

    kind: Literal["exact", "rounded", "private"]
    secret: tuple[int, ...]
    guesses: tuple[int, ...]
    answers: int
    epsilon: str = ""


@final
@dataclass(frozen=True, slots=True)
class Audited:
    """All checks of one project.

    Attributes:
        title: Of the project.
        source: Name of the project file.
        version: Of the program.
        date: Day of the audit, ISO 8601.
        unit: Whom the claims protect, and the neighbour relation.
        seconds: How long it took.
        checks: In the order in which they were made.
        skipped: What could not be tested here, and why: pairs of subject and reason.
        rebuilt: Why exact statistics are not safe: reconstructions of one column.
    """

    title: str
    source: str
    version: str
    date: str
    unit: str
    seconds: float
    checks: tuple[Check, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    rebuilt: tuple[Rebuilt, ...] = ()

    @property
    def violations(self) -> tuple[Check, ...]:
        """The refuted claims."""
        return tuple(c for c in self.checks if c.violated)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {"violated": bool(self.violations), **asdict(self)}
