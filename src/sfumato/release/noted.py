"""The laws and events of an audit's record, in the reader's language."""

from __future__ import annotations

import re

from sfumato.release.text import visible
from sfumato.release.wording import Say
from sfumato.words import N_

__all__ = ["fact_words"]

_NUMBER = r"\S+"
_NOT = re.compile(r"^not \((.+)\)$")
_INFINITE = re.compile(r"(?<=<= )inf\b")
_WORDS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (
            rf"\bjoint noise of (?P<count>\d+) numbers, scale (?P<scale>{_NUMBER})$",
            N_("joint noise of {count} numbers, scale {scale}"),
        ),
        (
            rf"\bgeometric, scale (?P<scale>{_NUMBER}), cut at (?P<reach>\d+)$",
            N_("two-sided geometric noise, scale {scale}, cut off at {reach}"),
        ),
        (
            rf"\bgeometric, scale (?P<scale>{_NUMBER})$",
            N_("two-sided geometric noise, scale {scale}"),
        ),
        (
            rf"\bGaussian \(discrete\), σ (?P<scale>{_NUMBER})$",
            N_("discrete Gaussian noise, σ = {scale}"),
        ),
        (
            rf"\bGaussian \(whole\), σ (?P<scale>{_NUMBER})$",
            N_("Gaussian noise rounded to whole numbers, σ = {scale}"),
        ),
        (
            r"\bdiscriminant of (?P<count>\d+) numbers\b",
            N_("a discriminant of {count} numbers"),
        ),
        (
            r"\bfirst less second of \d+ numbers\b",
            N_("the first number less the second"),
        ),
        (r"\bsum of (?P<count>\d+) numbers\b", N_("the sum of {count} numbers")),
        (r"^no guess$", N_("no guess")),
        (r"^error$", N_("error")),
        (
            r"\binteger (?P<part>\d+)\.(?P<cell>\d+)\b",
            N_("noisy integer {cell} of measurement {part}"),
        ),
        (
            r"^(?P<right>\d+) of (?P<count>\d+) guesses right, (?P<canaries>\d+) canaries$",
            N_("{right} of {count} guesses right, {canaries} canaries"),
        ),
        (
            r"^(?P<what>.+) with a bit at or below 2\^(?P<bit>-?\d+)$",
            N_("{what} with a bit at or below 2^{bit}"),
        ),
        (r"^(?P<what>.+) is missing$", N_("{what} is missing")),
    )
)


def fact_words(text: str, say: Say) -> str:
    """Put a law or an event, as an audit records it, into the reader's words.

    Examples:
        >>> from sfumato.words import speaker
        >>> fact_words("glucose: geometric, scale 10", speaker("en"))
        'glucose: two-sided geometric noise, scale 10'
    """
    found = visible(text)
    if negated := _NOT.match(found):
        return say(N_("not ({what})"), what=fact_words(negated[1], say))
    for pattern, words in _WORDS:
        found = pattern.sub(lambda m, w=words: say(w, **m.groupdict()), found)  # type: ignore[misc]
    return _INFINITE.sub("∞", found)
