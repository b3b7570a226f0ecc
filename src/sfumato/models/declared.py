"""Public facts of features and labels: declared, or refused; read only on request.

``on_leak="refuse"`` (the default) raises `PrivacyLeakError` for what is not declared.
``on_leak="warn"`` reads it from the rows, warns, and marks the model NOT PRIVATE.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    Text,
    token,
)
from sfumato.engine.cell import plain
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.words import N_

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,14}")

__all__ = [
    "Feature",
    "Keys",
    "Leaks",
    "PrivacyLeakError",
    "PrivacyLeakWarning",
    "Span",
    "classes_of",
    "feature_facts",
    "spelt",
]


class PrivacyLeakError(DeclarationError):
    """A public fact is not declared; it was not read from the rows."""

    code = "SF106"


class PrivacyLeakWarning(UserWarning):
    """A fact was read from the rows: the model is NOT PRIVATE."""


@final
@dataclass(frozen=True, slots=True)
class Span:
    """A numeric feature: its public bounds and codes for "no value"."""

    lower: float
    upper: float
    missing: tuple[float, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """A feature of declared keys: one indicator per key, none for any other cell.

    Attributes:
        cells: For each indicator, the cells (as text) that it stands for.
    """

    cells: tuple[tuple[str, ...], ...]


Feature: TypeAlias = Span | Keys


class Leaks:
    """What to do about facts that were not declared, and what was done.

    Args:
        policy: ``"refuse"`` or ``"warn"``.
    """

    def __init__(self, policy: str) -> None:
        """Check the policy."""
        if policy not in ("refuse", "warn"):
            raise DeclarationError(
                N_("unknown on_leak {value}"),
                hint=N_('write "refuse", or "warn" to read facts from the rows'),
                value=quoted(policy),
            )
        self.warn = policy == "warn"
        self.found: list[str] = []

    def need(self, word: str, fact: str, hint: str) -> None:
        """Refuse a missing fact, or note that it will be read from the rows."""
        if not self.warn:
            raise PrivacyLeakError(fact, hint=hint)
        self.found.append(word)

    def tell(self) -> None:
        """Warn of what was read from the rows."""
        if self.found:
            warnings.warn(
                f"{', '.join(self.found)} read from the rows: the model is NOT PRIVATE",
                PrivacyLeakWarning,
                stacklevel=4,
            )


def feature_facts(
    names: Sequence[str] | None,
    width: int,
    schema: Schema | None,
    bounds: Any,
    missing: Any,
) -> tuple[Feature, ...] | None:
    """Return the declared facts of each feature; none when bounds are not declared.

    Args:
        names: Names of the columns, where the table has names.
        width: Number of columns.
        schema: Declarations by name; without names, in the order of the columns.
        bounds: ``(lower, upper)``, each a number or one number per column; or a
            mapping from names to ``(lower, upper)``.
        missing: A code, one code per column, or a mapping from names to codes.

    Raises:
        DeclarationError: A declaration does not fit the table. Nothing was spent.
    """
    if bounds is None:
        return None if schema is None else _of_schema(names, width, schema)
    if isinstance(bounds, Mapping):
        pairs = [bounds[n] for n in _named(names, bounds)]
    else:
        try:
            lows, highs = bounds
            sides = [
                np.broadcast_to(np.asarray(s, float), width) for s in (lows, highs)
            ]
        except (TypeError, ValueError):
            raise DeclarationError(
                N_("bounds must be (lower, upper) for {width} columns"),
                hint=N_("give two numbers, two lists, or a mapping by column name"),
                width=width,
            ) from None
        pairs = list(zip(*sides, strict=True))
    codes = _codes(names, width, missing)
    return tuple(_bounded(p, c) for p, c in zip(pairs, codes, strict=True))


def _bounded(pair: Any, code: Any) -> Span:
    try:
        low, high = map(float, pair)
    except (TypeError, ValueError):
        raise DeclarationError(
            N_("bounds must be two numbers, got {value}"),
            hint=N_("write (lower, upper), such as (0, 120)"),
            value=quoted(pair),
        ) from None
    return _span(Real(low, high, missing=code))


def _of_schema(
    names: Sequence[str] | None, width: int, schema: Schema
) -> tuple[Feature, ...]:
    if names is not None:
        return tuple(_feature(schema[n]) for n in names)
    columns = schema.columns
    if len(columns) not in (width, width + 1):
        raise DeclarationError(
            N_("the schema declares {columns} columns, the table has {width}"),
            hint=N_("pass a data frame, so that columns are found by name"),
            columns=len(columns),
            width=width,
        )
    return tuple(_feature(column) for _, column in columns[:width])


def classes_of(column: Category | Boolean) -> tuple[str | int | bool, ...]:
    """Return the classes of a target, as its rows spell them.

    Examples:
        >>> classes_of(Boolean()), classes_of(Boolean(true=["yes", "y"], false="no"))
        ((False, True), ('no', 'yes'))
        >>> classes_of(Boolean(true=1, false=2))
        (2, 1)
    """
    if isinstance(column, Boolean) and column != Boolean():
        no, yes = column.false[0], column.true[0]
        whole = _WHOLE.fullmatch(no) and _WHOLE.fullmatch(yes)
        return (int(no), int(yes)) if whole else (no, yes)
    return column.values


def spelt(labels: NDArray[Any], column: Boolean) -> NDArray[Any]:
    """Return labels with each spelling of true and false as its class; others stay.

    Labels are in the caller's hand, who may have made booleans of them: True, False and
    what else a plain `Boolean` takes stand for the classes, unless the column says what
    some of it means.
    """
    no, yes = classes_of(column)
    known = dict.fromkeys(column.false, no) | dict.fromkeys(column.true, yes)
    usual = dict.fromkeys(Boolean().false, no) | dict.fromkeys(Boolean().true, yes)
    if known.keys().isdisjoint(usual):
        known |= usual
    known = {"false": no, "true": yes} | known
    found = [_class(label, known) for label in labels.tolist()]
    return np.array([*found, None], object)[:-1]


def _class(label: Any, known: Mapping[str, Any]) -> Any:
    try:
        text = token(plain(label))
        return label if text is None else known.get(text, label)
    except Exception:  # noqa: BLE001  no label may raise an error
        return label


def _feature(column: Column) -> Feature:
    if isinstance(column, Text):
        raise DeclarationError(
            N_("a text column cannot be a feature: its keys are not declared"),
            hint=N_("declare it as Category([...]), or leave it out"),
        )
    if isinstance(column, Category):
        return Keys(tuple((t,) for t in column.tokens))
    if isinstance(column, Boolean):
        return Keys((column.true,))
    return _span(column)


def _span(column: Real | Integer) -> Span:
    return Span(column.lower, column.upper, column.missing)


def _named(names: Sequence[str] | None, known: Mapping[str, Any]) -> Sequence[str]:
    if names is None:
        raise DeclarationError(
            N_("declarations by name need a table with column names"),
            hint=N_("pass a data frame, or declare in the order of the columns"),
        )
    for name in names:
        if name not in known:
            raise DeclarationError(
                N_("column {name} is not declared"),
                hint=N_("declare it; near names: {near}"),
                name=repr(name),
                near=nearest(str(name), [str(k) for k in known]),
            )
    return names


def _codes(names: Sequence[str] | None, width: int, missing: Any) -> list[Any]:
    if missing is None:
        return [()] * width
    if isinstance(missing, Mapping):
        if names is None:
            _named(names, missing)
        return [missing.get(n, ()) for n in names or ()]
    if isinstance(missing, Sequence | np.ndarray) and not isinstance(missing, str):
        if len(missing) != width:
            raise DeclarationError(
                N_("missing must be one code, or one per column ({width})"),
                hint=N_("write None for a column without a code"),
                width=width,
            )
        return [() if m is None else m for m in missing]
    return [missing] * width
