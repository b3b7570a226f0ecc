"""Whom a guarantee protects, in words, from the declared unit."""

from __future__ import annotations

from sfumato.declare.merged import OneInEach
from sfumato.declare.unit import PrivacyUnit, Unit
from sfumato.release.wording import Say
from sfumato.words import N_

__all__ = ["protected_words"]


def protected_words(unit: PrivacyUnit, say: Say, *, tables: int = 1) -> str:
    """Say whom the guarantee protects and between which tables it holds.

    Args:
        unit: The unit of a dataset, or of a plan.
        say: Says a text in a language.
        tables: How many private tables the budget pays for: where each row is a unit, one
            in each of them is protected together.

    Examples:
        >>> from sfumato.declare.unit import Rows
        >>> from sfumato.words import speaker
        >>> protected_words(Rows(), speaker("en"))
        'protected unit: one row; neighbours: add or remove one row'
    """
    if isinstance(unit, Unit):
        return _person_words(unit, say)
    tables = unit.tables if isinstance(unit, OneInEach) else tables
    if tables > 1:
        return say(
            N_(
                "protected unit: one row in each of {tables} tables; neighbours: add or "
                "remove up to one row in each of them"
            ),
            tables=tables,
        )
    if unit.neighbours == "add_remove":
        return say(N_("protected unit: one row; neighbours: add or remove one row"))
    return say(
        N_(
            "protected unit: one row; neighbours: replace one row of {size}, "
            "a public number"
        ),
        size=unit.size,
    )


def _person_words(unit: Unit, say: Say) -> str:
    facts = {
        "column": unit.column,
        "rows": unit.max_rows,
        "groups": unit.max_groups,
        "size": unit.size,
    }
    text = N_(
        "protected unit: one person, all rows with one {column}; rows of hers that count "
        "fully: {rows} in a group; groups: {groups}; neighbours: add or remove one person"
    )
    if unit.size is not None:
        text = N_(
            "protected unit: one person, all rows with one {column}; rows of hers that "
            "count fully: {rows} in a group; groups: {groups}; neighbours: replace one "
            "person of {size}, a public number"
        )
    return say(text, **facts)
