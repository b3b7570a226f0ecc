"""Why exact statistics are not safe: rows found again from sums over subsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import geometric
from sfumato.errors import ArgumentError
from sfumato.noise import default
from sfumato.release.audited import Rebuilt
from sfumato.release.libraries import need
from sfumato.words import N_

__all__ = ["Reconstruction", "before_and_after", "reconstruct"]


@final
@dataclass(frozen=True, slots=True)
class Reconstruction:
    """What a linear programme found out about a secret column of zeros and ones.

    Attributes:
        guesses: The guessed column, shape ``(people,)``.
        right: Share of people guessed right; none without the truth to compare with.
        baseline: Share that guessing the commoner value gets right.
    """

    guesses: NDArray[np.int64]
    right: float | None
    baseline: float | None


def reconstruct(
    subsets: NDArray[Any], answers: NDArray[Any], *, truth: NDArray[Any] | None = None
) -> Reconstruction:
    """Find the column whose sums over subsets fit the answers best.

    Dinur and Nissim, "Revealing information while preserving privacy" (PODS 2003), in
    the form of Dwork, McSherry, Talwar (STOC 2007): least absolute deviation by a
    linear programme. n people need a few n answers with errors below about √n.

    Args:
        subsets: Who is in which sum: zeros and ones, shape ``(answers, people)``.
        answers: The released sums, shape ``(answers,)``.
        truth: The secret column, for the owner, to see how much was found.

    Raises:
        ArgumentError: The shapes do not fit.
        MissingExtraError: scipy is not installed.
    """
    who = np.asarray(subsets, dtype=np.float64)
    sums = np.asarray(answers, dtype=np.float64)
    if who.ndim != 2 or sums.shape != who.shape[:1]:  # noqa: PLR2004  a matrix
        raise ArgumentError(
            N_("one answer is needed for each row of subsets"),
            hint=N_("subsets has shape (answers, people), answers has (answers,)"),
        )
    count, people = who.shape
    optimize: Any = need("scipy.optimize")
    slack = np.eye(count)
    found = optimize.linprog(
        np.concatenate([np.zeros(people), np.ones(count)]),
        A_ub=np.block([[who, -slack], [-who, -slack]]),
        b_ub=np.concatenate([sums, -sums]),
        bounds=[(0, 1)] * people + [(0, None)] * count,
        method="highs",
    )
    guesses = (np.asarray(found.x[:people]) > 0.5).astype(np.int64)  # noqa: PLR2004
    if truth is None:
        return Reconstruction(guesses, None, None)
    secret = np.asarray(truth, dtype=np.int64)
    share = float(secret.mean())
    right = float((guesses == secret).mean())
    return Reconstruction(guesses, right, max(share, 1 - share))


def before_and_after(
    people: int = 60, answers: int = 240, epsilon: str = "1"
) -> tuple[Rebuilt, ...]:
    """Rebuild a made-up column from exact sums, from rounded ones, and from noisy ones.

    The noisy sums are one private release: each person is in all of them at most, so one
    person changes their L1 norm by at most `answers`.

    Args:
        people: Length of the column.
        answers: Sums over random subsets.
        epsilon: What all noisy sums cost together.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    bits = (default().words(people * (answers + 1)) >> np.uint64(63)).astype(np.int64)
    secret, subsets = bits[:people], bits[people:].reshape(answers, people)
    sums = subsets @ secret
    noisy = geometric(sums, answers, epsilon)
    seen: tuple[tuple[Literal["exact", "rounded", "private"], Any, str], ...] = (
        ("exact", sums, ""),
        ("rounded", np.round(sums / 3) * 3, ""),
        ("private", noisy, epsilon),
    )
    truth = tuple(secret.tolist())
    return tuple(
        Rebuilt(
            kind,
            truth,
            tuple(reconstruct(subsets, held).guesses.tolist()),
            answers,
            cost,
        )
        for kind, held, cost in seen
    )
