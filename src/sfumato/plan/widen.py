"""From a table's schema to that of a question: with the columns that it derives.

A derived column is declared like any other, so that bounds and keys are public: the
sensitivity of a statistic rests on the declaration alone, and not on how the column is
computed. The declaration may be left out where it follows exactly from public facts:
a condition is a Boolean, a text has the keys of its vocabulary, and a number that is
made of constants, bounds of ``clip`` and the like reaches no farther than they do.
"""

from __future__ import annotations

from typing import assert_never

from sfumato.declare.calendar import Date
from sfumato.declare.derived import Derived
from sfumato.declare.query import Query
from sfumato.declare.relation import Part
from sfumato.declare.schema import Boolean, Category, Column, Integer, Real, Schema
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.plan.kinds import (
    Days,
    Kind,
    Logical,
    Nothing,
    Numeric,
    Words,
    check_size,
    kind_of,
)
from sfumato.plan.reach import Reach, reach
from sfumato.words import N_

__all__ = ["widened"]

_MOST_KEYS = 10_000
_WHOLE = 2.0**53


def widened(query: Query | Part, schema: Schema) -> Schema:
    """Return the schema with the derived columns of a query, in their order.

    Args:
        query: The question, or rows that it is made of.
        schema: That of the rows.

    Raises:
        DeclarationError: A name is taken, an expression does not fit its columns, or a
            declaration is missing or does not fit the expression. Nothing was spent.
    """
    roots = [one.value for one in query.derived]
    check_size([*roots, query.condition] if query.condition is not None else [*roots])
    for one in query.derived:
        _check_name(one.name, schema)
        kind = kind_of(one.value, schema)
        column = one.column
        if column is None:
            column = _inferred(one, kind, schema, groups=one.name in query.keys)
        else:
            _check_column(one, kind)
        schema = Schema({**dict(schema.columns), one.name: column}, schema.unit)
    return schema


def _check_name(name: str, schema: Schema) -> None:
    # A question about one row per person still has her column, though not stored.
    whose = getattr(schema.unit, "column", None)
    for known in (*schema, *([] if whose is None else [whose])):
        if known.casefold() == name.casefold():
            raise DeclarationError(
                N_("the derived column {name} has the name of column {known}"),
                hint=N_(
                    "give it a name of its own, which differs in more than small and "
                    "capital letters"
                ),
                name=repr(name),
                known=repr(known),
            )


def _inferred(one: Derived, kind: Kind, schema: Schema, *, groups: bool) -> Column:
    match kind:
        case Logical():
            return Boolean()
        case Words(vocabulary):
            return Category(vocabulary)
        case Numeric():
            return _of_reach(one, reach(one.value, schema), groups=groups)
        case Days():
            raise DeclarationError(
                N_("the derived column {name} is a day without public bounds"),
                hint=N_("declare them: derive({name}, …, Date(first, last))"),
                name=repr(one.name),
            )
        case Nothing():
            raise DeclarationError(
                N_("the derived column {name} is missing on every row"),
                hint=N_("give it a value on some rows"),
                name=repr(one.name),
            )
        case _:
            assert_never(kind)


def _of_reach(one: Derived, found: Reach | None, *, groups: bool) -> Column:
    """Return the declaration of a number; whole ones are keys where they group."""
    if found is None:
        raise DeclarationError(
            N_("the derived column {name} is a number without public bounds"),
            hint=N_(
                "declare them, derive({name}, …, Real(lower, upper)), or put clip around "
                "the value"
            ),
            name=repr(one.name),
        )
    low, high = found.low, found.high
    if groups and found.whole and high - low < _MOST_KEYS:
        return Category(range(int(low), int(high) + 1))
    if low == high:  # one value says nothing, but 0 and it do
        low, high = (min(low, 0.0), max(high, 0.0)) if low else (0.0, 1.0)
    return Integer(low, high) if found.whole and max(-low, high) < _WHOLE else Real(low, high)  # fmt: skip


def _check_column(one: Derived, kind: Kind) -> None:
    match kind, one.column:
        case (Nothing(), _) | (Days(), Date()):
            return
        case (Numeric(), Real() | Integer() | Category()) if not isinstance(
            one.column, Date
        ):
            return
        case Logical(), Boolean():
            if one.column == Boolean():
                return
        case Words(vocabulary), Category(values):
            unknown = [t for t in Category(values).tokens if t not in vocabulary]
            if not unknown:
                return
            raise DeclarationError(
                N_("the derived column {name} can never be {key}"),
                hint=N_("it can only be one of its public texts: {example}"),
                name=repr(one.name),
                key=quoted(unknown[0]),
                example=nearest(unknown[0], vocabulary),
            )
        case _:
            pass
    raise DeclarationError(
        N_("the derived column {name} is {kind} and cannot be declared as {column}"),
        hint=N_(
            "numbers are Real, Integer or Category, texts Category, conditions Boolean()"
        ),
        name=repr(one.name),
        kind=type(kind).__name__.lower(),
        column=type(one.column).__name__,
    )
