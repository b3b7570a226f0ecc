r"""HOP: Huberised objective perturbation with a private centre, for pure ε.

With rows :math:`\|a_i\| \le 1` on a lattice and targets :math:`y_i`, release about

.. math:: w^* = \arg\min \sum_i \ell(a_i\cdot w, y_i) + \tfrac\Lambda2\|w - w_0\|^2 + b\cdot w

where ℓ is convex and C¹ with :math:`|\ell'| \le 1/2` and :math:`0 \le \ell'' \le c`
(`sfumato.models.losses`: c = 1/4 for the Huberised logistic loss, 1 for Huber's), b is
spherical noise and the constant column is penalised like any other. Proof: ``docs/proofs/hop.md`` (Chaudhuri, Monteleoni,
Sarwate 2011; Kifer, Smith, Thakurta 2012; clipping as Huberisation: Song, Steinke,
Thakkar, Thakurta 2021; approximate minima: Iyengar et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, expm1, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.account import Epsilon
from sfumato.errors import DeclarationError
from sfumato.models.centre import Frame, find_centre, widened
from sfumato.models.door import UNIT, Floats, lattice, noisy
from sfumato.models.line import Line
from sfumato.models.losses import ScoreLoss
from sfumato.models.minimum import Problem, minimum
from sfumato.models.price import Pure
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["Settings", "Tilt", "fit_hop"]

_FINE = 1 << 40


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """The public constants of HOP; see ``docs/models/logistic-regression.md``.

    Attributes:
        reach: Radius of the rows over √columns, when their sum is taken.
        radius: The same, about the centre, when the model is fitted.
        count: Weight of the count beside the sums.
        constant: Weight of the constant column.
        centring: Share of ε for the centre.
        finish: Share of the rest for the approximate minimum.
        jacobian: Share of the rest for the determinant, at most 5.
    """

    reach: float = 0.5
    radius: float = 0.3
    count: float = 0.6
    constant: float = 0.35
    centring: Fraction = Fraction(1, 5)
    finish: Fraction = Fraction(1, 160)
    jacobian: Fraction = Fraction(1, 20)

    def split(self, whole: Pure) -> tuple[Pure, Pure]:
        """Return the share of the centre and the rest."""
        centre, rest = whole.split(self.centring, 1 - self.centring)
        return centre, rest


@final
@dataclass(frozen=True, slots=True)
class Tilt:
    """How the ε of one line is spent: shift + bend + finish, exactly.

    Attributes:
        shift: For the change of b: noise of scale (1/2)/shift.
        bend: j, for the ratio of determinants.
        finish: For the distance from the exact minimum.
        curve: Largest second derivative c of the loss.
    """

    shift: Pure
    bend: Epsilon
    finish: Pure
    curve: float = 0.25

    @classmethod
    def of(cls, whole: Pure, settings: Settings, curve: float = 0.25) -> Tilt:
        """Split by the public constants, in whole units.

        Raises:
            DeclarationError: There are fewer units than parts.
        """
        units = whole.epsilon.units
        bend = max(min(int(units * settings.jacobian), 5 * 10**12), 1)
        finish = max(int(units * settings.finish), 1)
        if units <= bend + finish:
            raise DeclarationError(
                N_("epsilon {epsilon} is too small to be split into {parts} parts"),
                hint=N_("write a larger epsilon"),
                epsilon=str(whole.epsilon),
                parts=3,
            )
        shift, j, last = map(Epsilon.from_units, (units - bend - finish, bend, finish))
        return cls(Pure(shift, whole.changes), j, Pure(last, 1), curve)

    @property
    def ridge(self) -> float:
        """Λ: at least c/(e^j - 1), so that the ratio is at most e^j.

        The floor keeps the problem well conditioned for huge ε; a larger Λ only lowers
        the ratio.
        """
        j = float(self.bend.value)
        return max(self.curve / expm1(j), 1e-3) * (1 + 2.0**-40)

    def grid(self, width: int) -> Fraction:
        """Return the steps in a length of 1 of the grid of b: 2**40, fewer where b is long.

        A double holds each number of the grid up to 2**53 steps, hence b as it was drawn,
        unless its length is beyond ``2 * width + 300`` times its scale, which happens with
        probability below e^-100 (Chernoff, for a sum of `width` exponentials). On a finer
        grid b would be rounded once more, by as much as its size, unsaid.
        """
        scale = Fraction(self.shift.changes, 2) / self.shift.epsilon.value
        longest = ceil(scale * (2 * width + 300)).bit_length()
        return Fraction(2) ** min(40, 53 - longest)

    def tilt(self, width: int) -> Floats:
        """Draw b on its grid, within half a step, in each coordinate, of the ideal draw."""
        grid = self.grid(width)
        half = grid / 2  # a row of length 1 moves b by |ℓ'| <= 1/2
        return noisy([0] * width, self.shift, length=half) / float(grid)

    def release(self, steps: Sequence[int], within: Fraction) -> Floats:
        """Return an approximate minimum with noise that hides how it was found.

        `within` bounds its distance from the exact minimum, whatever the rows; so on
        neighbouring tables, given the exact minimum, it differs by twice that.
        """
        return noisy(steps, self.finish, length=2 * within * _FINE) / _FINE


def fit_hop(
    work: Work,
    targets: Sequence[NDArray[np.float64]],
    share: Pure,
    settings: Settings,
    *,
    loss: ScoreLoss,
    prior: Line | None = None,
    ridge: float = 0.0,
) -> Line:
    """Return a line with one output per vector of targets.

    Formal guarantee: `share.epsilon`-DP in all. The centre is paid once; of the rest
    each output gets an equal part (sequential composition).

    Args:
        work: The rows.
        targets: For each output a sign, or a number in [-1, 1], per row.
        share: What may be lost.
        settings: Public constants.
        loss: What a score is measured by.
        prior: Public line towards which the ridge pulls; default zero.
        ridge: Public ridge beside the one that privacy asks for.
    """
    first, rest = settings.split(share)
    centre = find_centre(
        work.chunks(), work.width, first, reach=settings.reach, constant=settings.count
    )
    radius = settings.radius * sqrt(work.width)
    rows = np.empty((len(work), work.width + 1), np.int32)
    done = 0
    for chunk in work.chunks():
        wide = widened(chunk - centre.middle, radius, settings.constant)
        rows[done : done + len(chunk)] = lattice(wide)
        done += len(chunk)
    slopes, offsets = [], []
    frame = Frame(centre.middle, radius, settings.constant)
    for k, (target, own) in enumerate(
        zip(targets, rest.split(*([1] * len(targets))), strict=True)
    ):
        tilt = Tilt.of(own, settings, loss.curve)
        start = np.zeros(work.width + 1) if prior is None else frame.inside(prior, k)
        total, drawn = tilt.ridge + ridge, tilt.tilt(work.width + 1)
        problem = Problem(rows, target, UNIT, total, drawn, start, loss)
        grid = tilt.grid(work.width + 1)
        found, within = minimum(problem, centre.rows, _FINE, grid)
        slope, offset = frame.outside(tilt.release(found, within))
        slopes.append(slope)
        offsets.append(offset)
    return Line(np.array(slopes).T, np.array(offsets))
