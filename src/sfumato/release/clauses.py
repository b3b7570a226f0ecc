"""The rest of a question in words: filters, computed columns, order, and whose rows.

A release keeps its question as one text (`Query.__str__`). That text is cut where the
program put its own words; what people wrote, names and filters, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sfumato.release.loss import stored_words
from sfumato.release.wording import Say
from sfumato.words import N_

__all__ = ["begin", "clause_words"]

_WITHIN = {
    " where ": N_("{asked}; where {rest}"),
    " with ": N_("{asked}; with {rest}"),
    " having ": N_("{asked}; having {rest}"),
    " ordered by ": N_("{asked}; ordered by {rest}"),
    ", first ": N_("{asked}; the first {rest}"),
}
_AFTER = {
    "; of ": N_("{asked}; of {rest}"),
    "; finds bounds of ": N_("{asked}; finds bounds of {rest}"),
    "; ": N_("{asked}; {rest}"),
}
_STEPS = {
    " where ": N_("{rows} where {rest}"),
    " with ": N_("{rows} with {rest}"),
    " joined with ": N_("{rows} joined with {rest}"),
    " on the person": N_("{rows} on the person"),
    " on ": N_("{rows} on {rest}"),
    " and ": N_("{rows} and {rest}"),
}
_SKIPPED = (
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"| starts with """
    r"""|(?P<open>[(\[])|(?P<close>[)\]])"""
)
_LISTED = re.compile(r" \((\d+) listed keys\)")
_PEOPLE = re.compile(r"one row per person \((.*?)\) of (.*)", re.DOTALL)
_LAST = re.compile(r"\b(first|last)\(((?:(?! by ).)+) by ([^)]+)\)")
_CLIPPED = re.compile(r"(^|, )([^;]+?) clipped to (\[[^\]]*\])")
_FINDS = re.compile(r"(.+?) first, for (\S+ .+)")


def begin(question: str) -> str:
    """Return the figures and groups that a question begins with.

    Examples:
        >>> begin("count by Sex where Ward == ' with '")
        'count by Sex'
    """
    return _LISTED.split(next(_clauses(question))[1])[0]


def clause_words(asked: str, rest: str, say: Say) -> str:
    """Add the rest of a question to what it asks.

    Args:
        asked: The figures and groups in words.
        rest: What follows them in the program's text.
        say: Says texts in a language.

    Examples:
        >>> from sfumato.words import speaker
        >>> clause_words("Number of rows", " where Age > 30, first 3; of labs", speaker("en"))
        'Number of rows; where Age > 30; the first 3; of labs'
    """
    for sign, words in _clauses(rest):
        if sign:
            text = (_WITHIN | _AFTER)[sign]
            asked = say(text, asked=asked, rest=_clause(sign, words, say))
        elif words:
            asked = _keys(asked, words, say)
    return asked


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    first, *others = _cut(text, _AFTER)
    yield from _cut(first[1], _WITHIN)
    yield from others


def _cut(text: str, signs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Cut a text before each sign outside quotes and brackets; the first has none."""
    pattern = "|".join([_SKIPPED, *map(re.escape, signs)])
    sign, start, depth = "", 0, 0
    for match in re.finditer(pattern, text):
        depth += bool(match["open"]) - bool(match["close"])
        if depth == 0 and match[0] in signs:
            yield sign, text[start : match.start()]
            sign, start = match[0], match.end()
    yield sign, text[start:]


def _keys(asked: str, words: str, say: Say) -> str:
    """Say which keys of the groups are told."""
    if listed := _LISTED.match(words):
        text = N_("{asked} (1 listed key)")
        if listed[1] != "1":
            text = N_("{asked} ({count} listed keys)")
        asked, words = say(text, asked=asked, count=listed[1]), words[listed.end() :]
    if words.startswith(" and "):
        text = N_("{asked}; all other rows as {other}")
        return say(text, asked=asked, other=words.removeprefix(" and "))
    return say(_AFTER["; "], asked=asked, rest=words.lstrip(" ,;")) if words else asked


def _clause(sign: str, words: str, say: Say) -> str:
    if sign == "; of ":
        return _rows(words, say)
    if sign == " ordered by ":
        return say(N_(", ")).join(_order(name, say) for name in words.split(", "))
    if sign == "; finds bounds of ":
        text = N_("{columns} first, for {cost}")
        return _FINDS.sub(
            lambda m: say(text, columns=m[1], cost=stored_words(m[2])), words
        )
    if sign == "; ":
        text = N_("{column} clipped to {bounds}")
        return _CLIPPED.sub(lambda m: m[1] + say(text, column=m[2], bounds=m[3]), words)
    return words


def _order(name: str, say: Say) -> str:
    plain = name.removesuffix(" descending")
    return name if plain == name else say(N_("{name} descending"), name=plain)


def _rows(text: str, say: Say) -> str:
    """Say whose rows a question is about, in the order of the program's text.

    In English it is the same text: a test holds the signs to what relations say.
    """
    if people := _PEOPLE.fullmatch(text):
        ordered = N_("{feature}({column} by {order})")
        figures = _LAST.sub(
            lambda m: say(ordered, feature=m[1], column=m[2], order=m[3]), people[1]
        )
        told = N_("one row per person ({figures}) of {rows}")
        return say(told, figures=figures, rows=_rows(people[2], say))
    told = ""
    for sign, words in _cut(text, _STEPS):
        named = say(N_("the table")) if words == "the table" else words
        if _PEOPLE.fullmatch(words):
            named = _rows(words, say)
        told = say(_STEPS[sign], rows=told, rest=named) if sign else named
    return told
