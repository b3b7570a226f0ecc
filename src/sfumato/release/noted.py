"""What records note in the program's own words, in the reader's language."""

from __future__ import annotations

import re

from sfumato.release.text import visible
from sfumato.release.wording import Say
from sfumato.words import N_

__all__ = ["fact_words", "measured_words"]

_NUMBER = r"\S+"
_NOT = re.compile(r"^not \((.+)\)$")
_INFINITE = re.compile(r"(?<=<= )inf\b")
_WORDS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"^ε (?P<epsilon>\S+), δ (?P<delta>\S+)$", N_("ε {epsilon}, δ {delta}")),
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
        (r"^(?P<subject>[^:]+): (?P<law>.+)$", N_("{subject}: {law}")),
    )
)


_MEASURED = {
    "count_rows": N_("rows"),
    "count_people": N_("people"),
    "count_values": N_("values of {column}"),
    "sum": N_("sum of {column}"),
    "centred_sum": N_("centred sum of {column}"),
    "centred_key": N_("centred share of a key of {column}"),
    "ranges": N_("ranges of {column}"),
    "centred_squares": N_("centred squares of {column}"),
    "centred_products": N_("centred products of {column}"),
    "pairs": N_("pairs of {column}"),
    "choice": N_("a choice among bins of {column}"),
    "bins": N_("bins of {column}"),
}
_CLASSES = {
    "CountRows": "count_rows", "CountPeople": "count_people", "CountValues": "count_values",
    "SumValues": "sum", "CentredSum": "centred_sum", "CentredKey": "centred_key",
    "Level": "ranges", "CentredSquare": "centred_squares",
    "CentredProduct": "centred_products", "Crossed": "pairs", "Choice": "choice",
    "Bins": "bins",
}  # fmt: skip
"""What a plan calls that which a record calls otherwise."""
_CALL = re.compile(r"(\w+)(?:\((.*)\))?", re.DOTALL)


def measured_words(name: str, say: Say) -> str:
    """Put the name of a measurement into words; an unknown one stays as it is.

    Examples:
        >>> from sfumato.words import speaker
        >>> measured_words("centred_sum(Age | BMI)", speaker("en"))
        'centred sum of Age, in rows with a value of BMI'
    """
    shown = visible(name)
    found = _CALL.fullmatch(shown)
    known = None if found is None else _CLASSES.get(found[1], found[1])
    if found is None or known not in _MEASURED:
        return shown
    column, _, among = (found[2] or "").partition(" | ")
    words = say(_MEASURED[known], column=column)
    if not among:
        return words
    text = N_("{measured}, in rows with a value of {columns}")
    columns = say(N_(", ")).join(among.split(", "))
    return say(text, measured=words, columns=columns)


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
