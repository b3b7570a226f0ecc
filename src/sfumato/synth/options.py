"""What a user asks of a synthetic table; checked once, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from sfumato.amount import exact
from sfumato.declare.schema import Schema, Text
from sfumato.errors import DeclarationError, quoted
from sfumato.synth.depend import read_dependent
from sfumato.synth.rules import Rule, plain
from sfumato.words import N_

__all__ = ["Method", "Options", "read_options"]

Method: TypeAlias = Literal["adaptive", "oneshot", "independent"]
_METHODS = ("adaptive", "oneshot", "independent")
_MOST_WAYS = 3
_LIGHTEST, _HEAVIEST = Fraction(1, 1000), 1000


@final
@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a synthesizer; public.

    Attributes:
        method: How tables are chosen.
        columns: The columns to make; empty for all that are declared.
        complete: Columns that never lack a value; empty for none, ``("*",)`` for all.
        cells: The most fine cells of a number column.
        bins: About how many bins a number column is merged into.
        forbid: Combinations of values that cannot be.
        tables: Tables that are measured in any case.
        weights: How much the error of a column, or of a table, counts.
        ways: Tables of up to that many columns are chosen.
        rounds: Rounds of the adaptive method; none for a public rule.
        surrogates: Columns of new, meaningless names for the rows.
        memory: The most megabytes that fitting may need.
        dependent: Columns that another one determines: column, source, declared table.
    """

    method: Method
    columns: tuple[str, ...]
    complete: tuple[str, ...]
    cells: int
    bins: int
    forbid: tuple[Rule, ...]
    tables: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[tuple[str, ...], float], ...]
    ways: int
    rounds: int | None
    surrogates: tuple[str, ...]
    memory: int
    dependent: tuple[tuple[str, str, Any], ...] = ()

    def names(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns to make, in the order of the schema.

        Texts without declared keys cannot be made; unless named, they are left out.

        Raises:
            DeclarationError: A column is not declared.
        """
        for one in (
            *self.columns,
            *(c for c in self.complete if c != "*"),
            *(c for t in self.tables for c in t),
            *(c for t, _ in self.weights for c in t),
            *(c for rule in self.forbid for c in rule),
            *(c for name, source, _ in self.dependent for c in (name, source)),
        ):
            _ = schema[one]
        if self.columns:
            return tuple(n for n in schema if n in self.columns)
        found = tuple(n for n in schema if not isinstance(schema[n], Text))
        if not found:
            raise DeclarationError(
                N_("no column has declared keys or bounds; none can be made"),
                hint=N_("declare Category, Boolean, Integer, Real or Date columns"),
            )
        return found

    def modelled(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns of the model: those that no other column determines."""
        told = {name for name, _, _ in self.dependent}
        return tuple(n for n in self.names(schema) if n not in told)

    def whole(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns that never lack a value."""
        return tuple(schema) if "*" in self.complete else self.complete

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """All of it in words: what the receipt's digest covers."""
        return tuple((name, repr(getattr(self, name))) for name in self.__slots__)


def read_options(given: Mapping[str, Any]) -> Options:
    """Check settings; see `sfumato.synth.Synthesizer` for what they mean.

    Raises:
        DeclarationError: A setting cannot be used.
    """
    method = given["method"]
    if method not in _METHODS:
        raise DeclarationError(
            N_("unknown method {method} of making a table"),
            hint=N_('write "adaptive", "oneshot" or "independent"'),
            method=quoted(method),
        )
    listed = given["marginals"]
    if isinstance(
        listed, set | frozenset
    ):  # of names, which have an order of their own
        listed = sorted(_names("marginals", t) for t in listed)
    tables = tuple(_names("marginals", t) for t in _several("marginals", listed))
    if any(not 1 <= len(set(t)) == len(t) <= 4 for t in tables):  # noqa: PLR2004  more is no table to measure
        raise DeclarationError(
            N_("a table to be measured has 1 to 4 different columns"),
            hint=N_('write marginals=[("Age", "Outcome")]'),
        )
    return Options(
        method=method,
        columns=_names("columns", given["columns"] or ()),
        complete=("*",)
        if given["complete"] is True
        else _names("complete", given["complete"] or ()),
        cells=_whole("cells", given["cells"], 2, 1024),
        bins=_whole("bins", given["bins"], 2, 256),
        forbid=tuple(_rule(r) for r in _several("forbid", given["forbid"])),
        tables=tables,
        weights=tuple(_weights(_by_name(given, "weights"))),
        ways=_whole("ways", given["ways"], 2, _MOST_WAYS),
        rounds=None
        if given["rounds"] is None
        else _whole("rounds", given["rounds"], 1, 1000),
        surrogates=_names("surrogates", given["surrogates"] or ()),
        memory=_whole("memory", given["memory"], 50, 1_000_000),
        dependent=read_dependent(_by_name(given, "dependent")),
    )


def _several(setting: str, value: Any) -> Sequence[Any]:
    """Return the entries of a list; a mapping or a text is none."""
    if isinstance(value, list | tuple):
        return value
    raise DeclarationError(
        N_("{setting} takes a list, got {value}"),
        hint=N_("write {setting}=[…], or leave it out for none"),
        setting=setting,
        value=quoted(value),
    )


def _by_name(given: Mapping[str, Any], setting: str) -> Mapping[Any, Any]:
    value = given[setting]
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise DeclarationError(
        N_("{setting} is given by column, got {value}"),
        hint=N_('write {setting}={{"Outcome": …}}, or leave it out'),
        setting=setting,
        value=quoted(value),
    )


def _names(setting: str, value: Any) -> tuple[str, ...]:
    """Return names; those of a set in a fixed order, for the receipt's digest has one."""
    listed = (value,) if isinstance(value, str) else value
    if isinstance(listed, Iterable) and all(isinstance(n, str) for n in listed):
        return tuple(sorted(listed) if isinstance(listed, set | frozenset) else listed)
    raise DeclarationError(
        N_("{setting} takes names of columns, got {value}"),
        hint=N_('write {setting}=["Age", "Outcome"]'),
        setting=setting,
        value=quoted(value),
    )


def _whole(setting: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise DeclarationError(
        N_("{setting} must be a whole number from {low} to {high}, got {value}"),
        hint=N_("leave it out for the usual value"),
        setting=setting,
        low=low,
        high=high,
        value=quoted(value),
    )


def _rule(rule: Any) -> Rule:
    if isinstance(rule, Mapping) and rule and all(isinstance(n, str) for n in rule):
        return {name: _listed(condition) for name, condition in rule.items()}
    raise DeclarationError(
        N_("a forbidden combination names columns with their values, got {value}"),
        hint=N_('write forbid=[{{"Sex": "M", "Pregnant": True}}]'),
        value=quoted(rule),
    )


def _listed(condition: Any) -> list[Any]:
    """Return a condition as the list of what meets it; sets in a fixed order."""
    if isinstance(condition, set | frozenset):
        return sorted(map(plain, condition), key=repr)
    listed = condition if isinstance(condition, list) else [condition]
    return list(map(plain, listed))


def _weights(given: Mapping[Any, Any]) -> Sequence[tuple[tuple[str, ...], float]]:
    found = []
    for names, value in given.items():
        number = exact(value)
        if number is None or not _LIGHTEST <= number <= _HEAVIEST:
            raise DeclarationError(
                N_("weight {value} is not a number from 0.001 to 1000"),
                hint=N_('write weights={{"Outcome": 3}} or {{("Age", "Outcome"): 3}}'),
                value=quoted(value),
            )
        found.append((_names("weights", names), float(number)))
    return found
