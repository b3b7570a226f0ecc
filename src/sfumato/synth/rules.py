"""Combinations of values that cannot be: declared, public, and never sampled."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, TypeAlias

import numpy as np

from sfumato.amount import exact
from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, token
from sfumato.engine.cell import day, grid_number
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.synth.grids import Binning, Grid
from sfumato.synth.model import Array
from sfumato.synth.tree import Axes
from sfumato.words import N_

__all__ = [
    "Condition",
    "Rule",
    "cuts_of",
    "key_place",
    "marked",
    "masks",
    "plain",
    "selected",
]

Condition: TypeAlias = Any
"""A value, a list of values, none for missing, or for numbers and days a pair (low, high)."""
Rule: TypeAlias = "Mapping[str, Condition]"
"""A forbidden combination: all conditions at once never hold."""
_FARTHEST = sys.float_info.max


def plain(value: Any) -> Any:
    """Write days as texts and numbers as Python's, so that settings can be saved.

    Raises:
        DeclarationError: It is no text, number, day or truth value.

    Examples:
        >>> plain((dt.date(2024, 2, 29), np.int64(7)))
        ('2024-02-29', 7)
    """
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, float):  # JSON has no infinity, and no bound is so large
        return value if isnan(value) else max(-_FARTHEST, min(value, _FARTHEST))
    if value is None or isinstance(value, str | int):
        return value
    number = exact(value)
    if number is None:
        raise DeclarationError(
            N_("{value} is no text, number, day or truth value"),
            hint=N_("write values as they are declared; None stands for missing"),
            value=quoted(value),
        )
    return int(number) if number.denominator == 1 else float(number)


def cuts_of(schema: Schema, rules: Sequence[Rule]) -> dict[str, list[int]]:
    """Return the grid numbers at which the ranges of rules begin and end."""
    found: dict[str, list[int]] = {}
    for rule in rules:
        for name, condition in rule.items():
            declared = schema[name]
            if isinstance(declared, Real | Integer):
                for low, high in _ranges(name, declared, condition):
                    found.setdefault(name, []).extend((low, high + 1))
    return found


def selected(grid: Grid, condition: Condition) -> Array:
    """Return a truth value per fine cell: whether it meets the condition.

    Raises:
        DeclarationError: The condition does not fit the column.
    """
    declared, coding = grid.declared, grid.coding
    chosen = np.zeros(coding.count, bool)
    listed = condition if isinstance(condition, list) else [condition]
    if None in listed and not grid.complete:
        chosen[coding.missing] = True
    if isinstance(declared, Real | Integer):
        ends = [*coding.edges[1:], declared.last + 1]
        for low, high in _ranges(grid.name, declared, condition):
            for i, (start, end) in enumerate(zip(coding.edges, ends, strict=True)):
                chosen[i] |= start <= high and low < end
        return chosen
    for value in listed:
        if value is not None:
            chosen[key_place(grid, value)] = True
    return chosen


def key_place(grid: Grid, value: object) -> int:
    """Return the fine cell of a key.

    Raises:
        DeclarationError: It is none of the declared ones.
    """
    declared = grid.declared
    assert isinstance(declared, Category | Boolean)  # noqa: S101  the caller asked
    if isinstance(declared, Boolean):
        if isinstance(value, bool):
            return int(value)
    elif token(value) in declared.tokens and not isinstance(value, bool):
        return declared.tokens.index(str(token(value)))
    raise DeclarationError(
        N_("{value} is no declared key of {name}"),
        hint=N_("name a key, such as {example}"),
        value=quoted(value),
        name=repr(grid.name),
        example=nearest(quoted(value).strip("'"), map(str, declared.values)),
    )


def _ranges(
    name: str, declared: Real | Integer, condition: Condition
) -> list[tuple[int, int]]:
    listed = condition if isinstance(condition, list) else [condition]
    found = []
    for one in listed:
        if one is None:
            continue
        pair: Any = one if isinstance(one, tuple) and len(one) == 2 else (one, one)  # noqa: PLR2004
        if isinstance(declared, Date):
            pair = tuple(map(day, pair))
        low, high = pair
        if (
            not all(isinstance(x, int | float) and x == x for x in pair)  # noqa: PLR0124  NaN
            or low > high
        ):
            hint = N_("write a number, or a pair (low, high); None stands for missing")
            if isinstance(declared, Date):
                hint = N_(
                    'write a day, "2024-02-29", or a pair of them; None stands for missing'
                )
            raise DeclarationError(
                N_("{value} is no range of column {name}"),
                hint=hint,
                value=quoted(one),
                name=repr(name),
            )
        if high < declared.lower or low > declared.upper:
            continue
        low, high = max(low, declared.lower), min(high, declared.upper)
        found.append(
            (grid_number(float(low), declared), grid_number(float(high), declared))
        )
    return found


def marked(all_grids: Sequence[Grid], rules: Sequence[Rule]) -> tuple[Grid, ...]:
    """Return the grids with marks, so that no bin lies on both sides of a rule.

    Raises:
        DeclarationError: A rule names a column that is not made.
    """
    found = list(all_grids)
    known = [g.name for g in all_grids]
    for rule in rules:
        for name, condition in rule.items():
            if name not in known:
                raise DeclarationError(
                    N_(
                        "a forbidden combination names column {name}, which is not made"
                    ),
                    hint=N_("name one of {names}"),
                    name=repr(name),
                    names=", ".join(map(repr, known)),
                )
            i = known.index(name)
            inside = selected(found[i], condition)
            pairs = [(m, bool(x)) for m, x in zip(found[i].marks, inside, strict=True)]
            names = {p: k for k, p in enumerate(sorted(set(pairs)))}
            found[i] = replace(found[i], marks=tuple(names[p] for p in pairs))
    return tuple(found)


def masks(
    binnings: Sequence[Binning], rules: Sequence[Rule]
) -> list[tuple[Axes, Array]]:
    """Return each rule as log-weights of a table: -inf where it forbids."""
    known = [b.grid.name for b in binnings]
    found = []
    for rule in rules:
        axes = tuple(sorted(known.index(name) for name in rule))
        inside: Array = np.ones((), bool)
        for i in axes:
            bins = np.zeros(binnings[i].coding.count, bool)
            fine = selected(binnings[i].grid, rule[known[i]])
            bins[np.asarray(binnings[i].places)[fine]] = True
            inside = np.multiply.outer(inside, bins)
        found.append((axes, np.where(inside, -np.inf, 0.0).ravel()))
    return found
