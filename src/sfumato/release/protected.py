"""Whom a guarantee protects, in words, from the declared unit."""

from __future__ import annotations

from sfumato.declare.unit import PrivacyUnit, Unit
from sfumato.release.wording import Say
from sfumato.words import N_

__all__ = ["protected_words"]


def protected_words(unit: PrivacyUnit, say: Say) -> str:
    """Say whom the guarantee protects and between which tables it holds.

    Examples:
        >>> from sfumato.declare.unit import Rows
        >>> from sfumato.words import speaker
        >>> protected_words(Rows(), speaker("en"))
        'protected unit: one row; neighbours: add or remove one row'
    """
    if isinstance(unit, Unit):
        return _person_words(unit, say)
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
