"""The integers of some of the unknown keys, and of all other rows together."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.engine import Exact, Integers, Keyed
from sfumato.errors import SfumatoError
from sfumato.plan import Group, Plan
from sfumato.words import N_

__all__ = ["aligned", "narrowed", "public"]


def narrowed(
    plan: Plan, exact: Keyed, groups: Sequence[Group]
) -> tuple[Plan, Integers]:
    """Return the plan and the integers of some groups, and of all other rows if asked."""
    places = {group: i for i, group in enumerate(exact.groups)}
    chosen = [places[g] for g in groups]
    other = plan.query.other
    named = tuple(groups)
    if other is not None:
        named += ((other,) * len(plan.query.keys),)
    hidden = sorted({*range(len(places) + (other is not None))} - {*chosen})
    integers = []
    for measured, values in zip(plan.parts, exact.integers, strict=True):
        width = measured.cells
        found = [v for i in chosen for v in values[i * width : (i + 1) * width]]
        if other is not None:
            found += [sum(values[i * width + b] for i in hidden) for b in range(width)]
        integers.append(tuple(found))
    return plan.shown(named), tuple(integers)


def public(exact: Exact) -> Integers:
    """Return the integers of public groups.

    Raises:
        SfumatoError: The keys are unknown, so nothing but a threshold may show them.
    """
    if isinstance(exact, Keyed):
        raise SfumatoError(
            N_("a question with unknown keys cannot be rehearsed"),
            hint=N_("list public keys: group_by(…, keys=[…])"),
        )
    return exact


def aligned(plan: Plan, one: Exact, other: Exact) -> tuple[Integers, Integers]:
    """Return the integers of two tables, of the same groups in the same order.

    Unknown keys that one of them lacks have zeros there: no row is in them.
    """
    if not isinstance(one, Keyed) or not isinstance(other, Keyed):
        return public(one), public(other)
    groups = sorted({*one.groups, *other.groups}, key=repr)
    return _spread(plan, one, groups), _spread(plan, other, groups)


def _spread(plan: Plan, exact: Keyed, groups: Sequence[Group]) -> Integers:
    places = {group: i for i, group in enumerate(exact.groups)}
    found = []
    for part, values in zip(plan.parts, exact.integers, strict=True):
        width = part.cells
        rest = values[len(places) * width :]
        starts = [places[g] * width if g in places else None for g in groups]
        cells = [(0,) * width if s is None else values[s : s + width] for s in starts]
        found.append(tuple(v for several in (*cells, rest) for v in several))
    return tuple(found)
