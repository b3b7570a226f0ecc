"""What was asked, in words: the figures by their names, for which groups, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.declare.query import Statistic
from sfumato.release.clauses import begin, clause_words
from sfumato.release.record import Figure
from sfumato.release.text import visible
from sfumato.release.wording import Say, name_words
from sfumato.words import N_

__all__ = ["asked_words", "question_words", "release_words", "statistic_words",
           "title_words"]  # fmt: skip

_MOST = 12  # names in one line


def asked_words(names: Sequence[str], keys: Sequence[str], say: Say) -> str:
    """Return the statistics in words, and for which groups.

    Args:
        names: The figures in words.
        keys: The grouping columns.
        say: Says texts in a language.

    Examples:
        >>> from sfumato.words import speaker
        >>> asked_words(["Number of rows", "Mean of Age"], ["Sex"], speaker("en"))
        'Number of rows, Mean of Age, for each Sex'
    """
    several = list(dict.fromkeys(names))
    more = len(several) - _MOST
    words = say(N_(", ")).join(several[:_MOST])
    if more > 0:
        words = say(N_("{names} and {count} more"), names=words, count=more)
    if not keys:
        return words
    groups = say(N_(" and ")).join(map(visible, keys))
    return say(N_("{names}, for each {groups}"), names=words, groups=groups)


def question_words(
    question: str, plain: Sequence[str], asked: tuple[Sequence[str], Sequence[str]], say: Say
) -> str:  # fmt: skip
    """Return a question in words; names and filters stay in their own notation.

    A text that does not begin as the figures say, such as that of a release of which no
    group was told, keeps the plain names of its figures.

    Args:
        question: As the program writes it: ``"count, mean_Age by Sex where Age >= 30"``.
        plain: The names of the figures in it.
        asked: These in words, and the grouping columns.
        say: Says texts in a language.

    Examples:
        >>> from sfumato.words import speaker
        >>> told = (["Number of rows"], ["Sex"])
        >>> question_words("count by Sex where Age >= 30", ["count"], told, speaker("en"))
        'Number of rows, for each Sex; where Age >= 30'
    """
    names, keys = asked
    begins = ", ".join(dict.fromkeys(plain))
    if keys:
        begins += f" by {', '.join(keys)}"
    shown = visible(question)
    if names and question.startswith(begins):
        rest = visible(question[len(begins) :])
        return clause_words(asked_words(names, keys, say), rest, say)
    begins = begin(shown)
    plainly, _, by = begins.partition(" by ")
    words = asked_words([plainly], by.split(", ") if by else [], say)
    return clause_words(words, shown[len(begins) :], say)


def statistic_words(statistics: Sequence[Statistic], say: Say) -> list[str]:
    """Name the figures of a question as a release of it will.

    Examples:
        >>> from sfumato.declare.query import count, mean
        >>> from sfumato.words import speaker
        >>> statistic_words([count(), mean("Age")], speaker("en"))
        ['Number of rows', 'Mean of Age']
    """
    found = []
    for one in statistics:
        kind: Any = type(one).__name__.lower()
        other = getattr(one, "other", None)
        figure = Figure(one.name, kind, one.column, {}, 0, 0, 0, other=other)
        found.append(name_words(figure, say))
    return found


def release_words(question: str, figures: Sequence[Figure], say: Say) -> str:
    """Return what a release was asked, in words."""
    keys = list(dict.fromkeys(k for f in figures for k in f.group))
    told = [name_words(f, say) for f in figures]
    return question_words(question, [f.name for f in figures], (told, keys), say)


def title_words(title: str, question: str, figures: Sequence[Figure], say: Say) -> str:
    """Return the title; of a release that was given none, what it was asked."""
    if title in ("", question) or question.startswith(f"{title};"):
        return release_words(question, figures, say)
    return visible(title)
