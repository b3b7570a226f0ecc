"""A column of texts whose values nobody has listed."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Text"]

_MOST = 1000


@dataclass(frozen=True, slots=True, init=False)
class Text:
    """A column whose keys are not declared: cities, diagnoses, words of free text.

    Cells are read as those of a `Category` are: text exactly as it is (no trimming, case
    folding or Unicode normalisation), whole numbers as their digits. Which of them occur is
    private. So a question may group by the column in two ways: by a public list of keys,
    or by unknown keys, which are shown only where enough rows have them and which cost a
    δ (``docs/keys.md``).

    Args:
        longest: A cell of more characters (Unicode code points) than this is missing; it
            is not cut, because that would merge keys.

    Raises:
        DeclarationError: `longest` is not a whole number from 1 to 1000.

    Examples:
        >>> Text()
        Text(longest=100)
    """

    longest: int

    def __init__(self, *, longest: int = 100) -> None:
        """Check the declaration once."""
        if type(longest) is not int or not 1 <= longest <= _MOST:
            raise DeclarationError(
                N_("the longest text must have 1 to {most} characters, got {value}"),
                hint=N_("write, for example, Text(longest=50)"),
                most=_MOST,
                value=quoted(longest),
            )
        object.__setattr__(self, "longest", longest)
