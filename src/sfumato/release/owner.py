"""True figures beside private ones: for the owner of the table, never for publication.

This record is *not* a release. It holds exact values of private rows, so it has no JSON
form, cannot be pickled, and prints no value.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from sfumato.release.record import Claim, Figure, Release
from sfumato.words import N_

__all__ = ["OWNER_ONLY", "ForOwner", "OwnerComparison", "OwnerRow", "compare"]

OWNER_ONLY = N_("FOR THE OWNER'S EYES, NEVER FOR PUBLICATION")


class ForOwner:
    """What is computed from private rows: it prints its mark alone, and is not copied."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Name it; show no value."""
        return f"<{type(self).__name__}: {OWNER_ONLY}>"

    def __reduce__(self) -> NoReturn:
        """Refuse pickling and copying, hence caches and other processes."""
        msg = f"{type(self).__name__} is for the owner's eyes: it is not pickled or copied"
        raise TypeError(msg)


@final
@dataclass(frozen=True, slots=True, repr=False)
class OwnerRow:
    """One released figure and the true value behind it.

    Attributes:
        figure: What was released.
        truth: The exact value, computed from private rows as the plan declares them
            (clamped to the bounds, missing cells left out).
    """

    figure: Figure
    truth: float

    @property
    def error(self) -> float:
        """Released minus true, in the figure's unit."""
        return self.figure.estimate - self.truth

    @property
    def relative_error(self) -> float | None:
        """The error's size as a share of the true value; none when that is 0."""
        return abs(self.error) / abs(self.truth) if self.truth else None

    @property
    def covered(self) -> bool:
        """Whether the interval contains the true value."""
        return self.figure.low <= self.truth <= self.figure.high

    def __repr__(self) -> str:
        """Name the figure; show no value."""
        return f"<OwnerRow {self.figure.name!r}: {OWNER_ONLY}>"

    def __reduce__(self) -> NoReturn:
        """Refuse pickling and copying, hence caches and other processes."""
        _refuse_pickle()


@final
@dataclass(frozen=True, slots=True, repr=False)
class OwnerComparison:
    """A release beside the truth: FOR THE OWNER'S EYES, NEVER FOR PUBLICATION.

    Publishing it, or a picture of it, undoes the guarantee of the release.

    Attributes:
        title: Title of the release.
        question: What was asked, in words.
        confidence: Of every interval.
        claim: What the release promised; it does not cover this comparison.
        rows: Each figure with its true value.
    """

    title: str
    question: str
    confidence: float
    claim: Claim
    rows: tuple[OwnerRow, ...]

    @property
    def covered(self) -> int:
        """How many intervals contain the true value."""
        return sum(row.covered for row in self.rows)

    @property
    def mean_absolute_error(self) -> float:
        """Mean size of the errors; sensible where all figures share one unit."""
        errors = [abs(row.error) for row in self.rows]
        return sum(errors) / len(errors) if errors else 0.0

    def plot(self, *, lang: str | None = None) -> Any:
        """Return a matplotlib figure of true and released values.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        from sfumato.release import files

        return files.report().owner_plot(self, lang=lang)

    def save(self, path: str | os.PathLike[str], *, lang: str | None = None) -> None:
        """Write the owner's page to an ``.html`` file that only its owner may read.

        Raises:
            ArgumentError: Another ending.
            MissingExtraError: The page needs matplotlib and Jinja2.
        """
        from sfumato.release import files

        where = Path(path)
        if where.suffix.lower() != ".html":
            raise files.refuse_ending(where, ".html")
        page = files.report().owner_html([self], lang=lang)
        files.write(where, page, mode=0o600)

    def __repr__(self) -> str:
        """Name the release; show no value."""
        count = len(self.rows)
        return f"<OwnerComparison {self.title!r}, {count} figures: {OWNER_ONLY}>"

    def __reduce__(self) -> NoReturn:
        """Refuse pickling and copying, hence caches and other processes."""
        _refuse_pickle()


def compare(release: Release, truths: Sequence[float]) -> OwnerComparison:
    """Set the true values beside a release, in the order of its figures.

    Raises:
        ValueError: Not one true value per figure.
    """
    pairs = zip(release.figures, truths, strict=True)
    return OwnerComparison(
        release.title,
        release.question,
        release.confidence,
        release.claim,
        tuple(OwnerRow(figure, float(truth)) for figure, truth in pairs),
    )


def _refuse_pickle() -> NoReturn:
    msg = "an owner's comparison cannot be pickled or copied"
    raise TypeError(msg)
