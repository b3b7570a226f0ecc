"""The gate: the one place where a private value meets noise and becomes public.

Everything after it is post-processing. Nothing else unseals a `Secret`; a test of the
source tree holds that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add
from typing import assert_never, final

import numpy as np
from numpy.typing import NDArray

from sfumato import noise
from sfumato.account import Gaussian, Geometric, KNorm, Loss, Selection, Threshold
from sfumato.engine import Exact, Integers, Keyed
from sfumato.engine.chosen import aligned, narrowed, public
from sfumato.engine.contingency import FINE, Choose, Measure, Rate, Tables, scores
from sfumato.errors import SfumatoError
from sfumato.plan import ByChoice, Plan, Step
from sfumato.plan.bounded import BoundedPlan, Bounds
from sfumato.plan.contingency import TablePlan, choice_of, noise_of
from sfumato.post import figures, in_terms, lacking, measurements, points, short_by
from sfumato.post.claim import clipped_words, told
from sfumato.post.clipping import clipping_bounds
from sfumato.post.shown import of_told
from sfumato.release import Measurement, OwnerRehearsal, Receipt, Release
from sfumato.release.once import Once, grant, take
from sfumato.release.owner import OwnerComparison, compare
from sfumato.secret import Secret
from sfumato.words import N_

__all__ = ["Purse", "compare_for_owner", "difference_for_audit", "draws_for_audit",
           "rehearse", "release", "shown_for_audit"]  # fmt: skip

_SMALL = Fraction(2**40)  # above it noise is drawn one by one: no 64-bit limit


@final
class Purse:
    """What is left of one paid plan of contingency tables: each answer takes its share.

    Formal guarantee: all answers together are ``plan.cost``-DP for the schema's unit and
    neighbour relation, however tables and shares were picked after earlier answers,
    because the shares never exceed the cost (fully adaptive composition: Rogers, Roth,
    Ullman, Vadhan 2016 for pure ε; Feldman, Zrnic 2021 and Whitehouse, Ramdas, Rogers,
    Wu 2023 for ρ; Koskela, Tobaben, Honkela 2023 for Gaussian noise). What each share
    buys is said in `sfumato.plan.contingency`.

    Attributes:
        left: What can still be taken.
        secure: False once an answer was made under a test seed.
    """

    __slots__ = ("_unit", "left", "secure")

    def __init__(self, plan: TablePlan, receipt: Receipt) -> None:
        """Open the purse that a debit has filled.

        Raises:
            SfumatoError: The receipt does not pay for this very plan, or was used.
        """
        _take_paid(plan, receipt)
        self.left: Loss = plan.cost
        self._unit, self.secure = plan.schema.unit, True

    def measure(self, sealed: Secret[Tables], asked: Measure) -> tuple[list[int], ...]:
        """Return tables with noise in each cell."""
        mechanisms = [noise_of(self._take(s), self._unit) for s in asked.shares]
        tables = sealed.unseal()
        return tuple(
            list(map(add, tables[t].tolist(), _noise_vector(m, tables[t].size)))
            for t, m in zip(asked.tables, mechanisms, strict=True)
        )

    def choose(self, sealed: Secret[Tables], asked: Choose) -> int:
        """Return which candidate's prediction is probably the worst."""
        size = FINE * max(asked.weights)
        how = choice_of(self._take(asked.share), self._unit, size=size)
        found = scores(sealed.unseal(), asked, self._unit)
        law = noise.exponential if how.law == "exponential" else noise.permute_and_flip
        return law(found, how.rate)

    def rate(self, sealed: Secret[Tables], asked: Rate) -> list[int]:
        """Return the error of each prediction, in 1024ths of a row, with noise."""
        count, share = len(asked.tables), self._take(asked.share)
        mechanism = noise_of(share, self._unit, tables=count, size=FINE)
        found = scores(sealed.unseal(), asked, self._unit)
        return list(map(add, found, _noise_vector(mechanism, count)))

    def _take(self, share: Loss) -> Loss:
        """Take a share out, or refuse."""
        if share.units < 1 or not share.fits(self.left):  # type: ignore[arg-type]
            raise SfumatoError(
                N_("{share} was to be taken of {left} that is left"),
                hint=N_("this is a fault of sfumato; please report it"),
                share=share,
                left=self.left,
            )
        self.left -= share  # type: ignore[operator]
        self.secure = self.secure and noise.default().secure
        return share


@final
@dataclass(frozen=True, slots=True)
class Found(Once):
    """Clipping bounds that a first step found: public from here on.

    Attributes:
        plan: Both steps, which one debit pays for.
        bounds: For each column its bounds.
        measurements: The noisy counts they were read off.
        receipt: The debit that paid for both; the second step is left to take.
        secure: False when the first step was drawn under a test seed.
    """

    plan: BoundedPlan
    bounds: Bounds
    measurements: tuple[Measurement, ...]
    receipt: Receipt
    secure: bool


def find_bounds(plan: BoundedPlan, exact: Secret[Exact], receipt: Receipt) -> Found:
    """Add noise to the counts of the first step and read clipping bounds off them.

    Formal guarantee: ``plan.first.cost``-DP, as `release`; the rest is post-processing.

    Args:
        plan: Both steps.
        exact: The sealed integers of the first.
        receipt: The debit that paid for both.

    Raises:
        SfumatoError: The receipt does not pay for this very plan, or was used.
    """
    _take_paid(plan, receipt)
    secure = noise.default().secure
    noisy = _release(plan.first, exact.unseal())[1]
    bounds = clipping_bounds(plan.first, noisy)
    told_of = measurements(plan.first, noisy)
    return grant(Found(plan, bounds, told_of, receipt, secure))


def release(  # noqa: PLR0913  all but the first three are options
    plan: Plan,
    exact: Secret[Exact],
    receipt: Receipt,
    *,
    title: str = "",
    confidence: float = 0.95,
    delta: str = "0",
    found: Found | None = None,
) -> Release:
    """Add each step's own noise to its exact integers and make the figures.

    Formal guarantee: if `exact` holds the plan's aggregates, whose L1 sensitivities
    the plan states, the result is ``plan.cost``-DP for the schema's unit and neighbour
    relation: each step is a geometric, K-norm or Gaussian mechanism or a selection, steps
    compose by addition, and all that follows is post-processing
    (``docs/sensitivity.md``). Unknown keys are shown where their noisy count reaches the
    plan's threshold, which fails with the δ of the cost; all else is then measured for
    the shown keys only (``docs/proofs/thresholds.md``).

    Args:
        plan: What was measured.
        exact: Its sealed integers.
        receipt: The debit that paid.
        title: Title of the release; default the question in words.
        confidence: Of each figure's interval.
        delta: The δ at which a loss ρ is told as an ε; ``"0"`` tells none.
        found: The first step, where the plan's clipping bounds were found by one.

    Raises:
        SfumatoError: The receipt does not pay for this very plan, or was used.
    """
    whole: Plan | BoundedPlan = plan
    if found is not None:
        whole = found.plan
        if found.plan.second(found.bounds) != plan or found.receipt != receipt:
            raise _not_paid()
    _take_paid(whole, receipt, found)
    secure = noise.default().secure and (found is None or found.secure)
    plan, noisy = _release(plan, exact.unseal())
    claim = told(plan, whole.cost, receipt, delta=delta, private=secure)
    question = str(plan.query) + ("" if found is None else clipped_words(found.bounds))
    before = () if found is None else found.measurements
    return Release(
        title=title or str(plan.query),
        question=question,
        figures=figures(plan, in_terms(plan, noisy), confidence),
        confidence=confidence,
        claim=claim,
        measurements=(*before, *measurements(plan, noisy)),
    )


def _take_paid(
    plan: Plan | BoundedPlan | TablePlan, receipt: Receipt, found: Found | None = None
) -> None:
    if receipt.cost != str(plan.cost) or receipt.plan != plan.digest:
        raise _not_paid()
    take(found or receipt)


def _not_paid() -> SfumatoError:
    return SfumatoError(
        N_("the receipt does not pay for this plan"),
        hint=N_("release through a session; it debits and releases in one step"),
    )


def compare_for_owner(
    plan: Plan, exact: Secret[Exact], released: Release
) -> OwnerComparison:
    """Set the true figures beside the released ones: for the owner's eyes only.

    No guarantee: what is returned is private data, is marked so, and must not leave
    the owner's desk.
    """
    values = exact.unseal()
    if isinstance(values, Keyed):
        first = plan.query.statistics[0].name
        names = [f.group for f in released if f.name == first]
        keys = {tuple(name[k] for k in plan.query.keys) for name in names}
        plan, values = narrowed(plan, values, [g for g in values.groups if g in keys])
    plan, held = of_told(plan, in_terms(plan, values), released)
    truths: list[float] = []
    for statistic, recipe in plan.answers:
        if isinstance(recipe, ByChoice):
            chosen = [f.bin for f in released if f.name == statistic.name]
            truths += lacking(plan, recipe, held, chosen)
        else:
            truths += map(float, points(plan, recipe, held))
    return compare(released, truths)


def rehearse(plan: Plan, exact: Secret[Exact], runs: int) -> OwnerRehearsal:
    """Draw what `release` would draw, `runs` times: of a public table, or for its owner.

    No guarantee, no debit: of a private table it is marked, and must not leave the desk.

    Args:
        plan: What would be measured.
        exact: Its sealed integers.
        runs: How often; 0 for the figures without noise alone.
    """
    integers = public(exact.unseal())
    values = in_terms(plan, integers)

    def outcomes(held: list[list[float]]) -> NDArray[np.float64]:
        parts = [
            points(plan, recipe, held)
            if held is values or not isinstance(recipe, ByChoice)
            else np.array(
                short_by(plan, recipe, values, list(map(int, held[recipe.part])))
            )
            for _, recipe in plan.answers
        ]
        return np.concatenate(parts)

    truths = outcomes(values)
    drawn = [outcomes(in_terms(plan, _add_noise(plan, integers))) for _ in range(runs)]
    return OwnerRehearsal(truths, np.array(drawn).reshape(runs, len(truths)))


def difference_for_audit(plan: Plan, a: Secret[Exact], b: Secret[Exact]) -> Integers:
    """Return how far two made-up tables lie apart; no guarantee, and no debit."""
    pairs = zip(*aligned(plan, a.unseal(), b.unseal()), strict=True)
    return tuple(tuple(x - y for x, y in zip(*p, strict=True)) for p in pairs)


def draws_for_audit(plan: Plan, exact: Secret[Exact], runs: int) -> list[Integers]:
    """Draw the noisy integers of a release, `runs` times; as `difference_for_audit`."""
    values = public(exact.unseal())
    return [_add_noise(plan, values) for _ in range(runs)]


def shown_for_audit(
    plan: Plan, exact: Secret[Exact], runs: int
) -> list[tuple[Plan, Integers]]:
    """Draw which unknown keys a release shows, and its integers; as `draws_for_audit`."""
    values = exact.unseal()
    return [_release(plan, values) for _ in range(runs)]


def _release(plan: Plan, exact: Exact) -> tuple[Plan, Integers]:
    """Return the plan with the groups that are shown, and its noisy integers."""
    if not isinstance(exact, Keyed):
        return plan, _add_noise(plan, exact)
    part, threshold = plan.selecting, plan.threshold
    if part is None or threshold is None:
        raise SfumatoError(
            N_("the plan has no threshold for the unknown keys"),
            hint=N_("release through a session; it plans what it runs"),
        )
    # Sorted by the keys alone: neither rows nor noise decide the order of a release.
    groups = plan.grouping.arranged(exact.groups)
    counts = dict(zip(exact.groups, exact.integers[part], strict=False))
    drawn = _draw(plan.step_of(part), len(groups))[0]
    passed = {
        group: counts[group] + z
        for group, z in zip(groups, drawn, strict=True)
        # A key without a row is in no table, and nothing may show it.
        if counts[group] >= 1 and counts[group] + z >= threshold.least
    }
    shown, held = narrowed(plan, exact, list(passed))
    others = tuple(step for step in plan.steps if part not in step.parts)
    noisy = _add_noise(replace(shown, steps=others), held)
    return shown, (*noisy[:part], tuple(passed.values()), *noisy[part + 1 :])


def _add_noise(plan: Plan, exact: Integers) -> Integers:
    """Add to every part the noise of its step, or choose from it; of none it is empty."""
    noisy: dict[int, tuple[int, ...]] = {}
    for step in plan.steps:
        values = [exact[part] for part in step.parts]
        if isinstance(step.mechanism, Selection):
            bits, groups = plan.parts[step.parts[0]].bits, len(plan.groups)
            noisy[step.parts[0]] = _choose(step.mechanism, values[0], groups, bits)
            continue
        for part, drawn, held in zip(
            step.parts, _draw(step, len(values[0])), values, strict=True
        ):
            noisy[part] = tuple(map(add, held, drawn))
    return tuple(noisy.get(part, ()) for part in range(len(plan.parts)))


def _choose(
    mechanism: Selection, scores: tuple[int, ...], groups: int, bits: int
) -> tuple[int, ...]:
    """Return the place of a large score in each group, in the unit that scores have."""
    chance = mechanism.law == "exponential"
    law = noise.exponential if chance else noise.permute_and_flip
    each = len(scores) // groups if groups else 1
    return tuple(
        law(scores[i : i + each], mechanism.rate) << bits
        for i in range(0, len(scores), each)
    )


def _draw(step: Step, cells: int) -> list[tuple[int, ...]]:
    """Return fresh noise for each part of a step: one integer per cell."""
    mechanism = step.mechanism
    match mechanism:
        case KNorm():
            bounds, levels = mechanism.bounds, mechanism.resolution
            drawn = [
                noise.box_noise(bounds, mechanism.scale, levels) for _ in range(cells)
            ]
            return list(zip(*drawn, strict=True)) or [()] * len(bounds)
        case Geometric() | Gaussian():
            return [_noise_vector(mechanism, cells)]
        case Threshold():
            return [_draw_threshold(mechanism, cells)]
        case Selection():
            raise TypeError  # a choice adds no noise
        case _:
            assert_never(mechanism)


def _draw_threshold(threshold: Threshold, cells: int) -> tuple[int, ...]:
    """Draw the noise of counts of unknown keys; what lies beyond its ends again."""
    drawn = list(_noise_vector(threshold.noise, cells))
    while threshold.reach:
        beyond = [i for i, z in enumerate(drawn) if abs(z) > threshold.reach]
        if not beyond:
            break
        for i, z in enumerate(_noise_vector(threshold.noise, len(beyond))):
            drawn[beyond[i]] = z
    return tuple(drawn)


def _noise_vector(mechanism: Geometric | Gaussian, cells: int) -> tuple[int, ...]:
    small = mechanism.scale <= _SMALL
    if isinstance(mechanism, Geometric):
        if small:
            return tuple(noise.discrete_laplace(mechanism.scale, cells).tolist())
        return tuple(noise.discrete_laplace(mechanism.scale) for _ in range(cells))
    if mechanism.law == "discrete":
        if small:
            return tuple(noise.discrete_gaussian(mechanism.variance, cells).tolist())
        return tuple(noise.discrete_gaussian(mechanism.variance) for _ in range(cells))
    return tuple(noise.whole_gaussian(mechanism.scale, cells))
