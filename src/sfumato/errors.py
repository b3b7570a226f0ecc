"""Every error a user can meet: a fact, and a hint that says how to mend it.

A message names the argument and the value the *caller* passed. It never contains a
value read from a private row, and after a debit its text is fixed::

    SfumatoError
    ├── DeclarationError        a declaration or question is wrong    nothing spent
    ├── ArgumentError           an argument of an array face is wrong nothing spent
    ├── SourceError             the table cannot be opened            nothing spent
    ├── ProjectError            the project file is wrong             nothing spent
    ├── LedgerError             the ledger file is unusable           nothing spent
    ├── BudgetExceededError     the ledger refused the debit          nothing spent
    ├── MissingExtraError       an optional library is not installed  nothing spent
    └── EngineError             the engine failed after the debit     the debit stands
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from math import log10
from re import Match
from typing import ClassVar

from sfumato.words import N_, translate

__all__ = [
    "ArgumentError",
    "BudgetExceededError",
    "DeclarationError",
    "EngineError",
    "LedgerError",
    "MissingExtraError",
    "ProjectError",
    "SfumatoError",
    "SourceError",
    "closest",
    "nearest",
    "plainly",
    "quoted",
]


_PLAIN = 10**40  # numbers below are told in full
_LONG = 13_000  # bits of a number that Python would still write
_KINDS = {"analyst": N_("analyst"), "project": N_("project"), "block": N_("block")}
_DIGITS = re.compile(r"(?<![\w.])[1-9][0-9]{40,}(?![\w.])", re.ASCII)


class SfumatoError(Exception):
    """Base class. `code` is stable across releases and languages.

    Args:
        fact: What was wrong and why: an English text with named placeholders.
        hint: What to do about it, likewise.
        facts: Values of the placeholders; public values only.

    Examples:
        >>> error = SfumatoError("{name} is empty", hint="write a word", name="title")
        >>> print(error)
        [SF000] title is empty
          hint: write a word
        >>> error.hint
        'write a word'
    """

    code: ClassVar[str] = "SF000"

    def __init__(self, fact: str, *, hint: str, **facts: object) -> None:
        """Keep the parts, so that each front end can style and translate them."""
        super().__init__(fact)
        self._fact, self._hint, self._facts = fact, hint, facts

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by parts, so that errors cross process borders whole."""
        return _rebuild, (type(self), self._fact, self._hint, self._facts)

    @property
    def fact(self) -> str:
        """What was wrong, in English."""
        return self.say("en")[0]

    @property
    def hint(self) -> str:
        """What to do, in English."""
        return self.say("en")[1]

    def say(self, lang: str) -> tuple[str, str]:
        """Return the fact and the hint in the language `lang`."""
        fact, hint = (translate(t, lang) for t in (self._fact, self._hint))
        facts = {name: _shortened(value) for name, value in self._facts.items()}
        kind = facts.get("kind")  # whose budget it is, beside that one's name
        if isinstance(kind, str) and kind in _KINDS:
            facts["kind"] = translate(_KINDS[kind], lang)
        return fact.format(**facts), hint.format(**facts)

    def __str__(self) -> str:
        """Render ``[code] fact`` and, on its own line, the hint."""
        return f"[{self.code}] {self.fact}\n  hint: {self.hint}"


def _shortened(value: object) -> object:
    """Return a value as it is, or in words whose numbers are no longer than a line.

    Examples:
        >>> _shortened("epsilon " + "1" * 300)
        'epsilon 1.1111e299'
    """
    if isinstance(value, bool | float) or (type(value) is int and abs(value) < _PLAIN):
        return value  # a text may say how it is written
    try:
        text = str(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return quoted(value)
    return _DIGITS.sub(_rounded, text) if _DIGITS.search(text) else value


def _rounded(found: Match[str]) -> str:
    digits = found[0]
    return f"{digits[0]}.{digits[1:5]}e{len(digits) - 1}"


def _rebuild(
    kind: type[SfumatoError], fact: str, hint: str, facts: dict[str, object]
) -> SfumatoError:
    return kind(fact, hint=hint, **facts)


class DeclarationError(SfumatoError, ValueError):
    """A declaration or question is wrong; nothing was read and nothing spent."""

    code = "SF101"


class ArgumentError(SfumatoError, ValueError):
    """An argument of an array mechanism is wrong; nothing was drawn."""

    code = "SF102"


class ProjectError(SfumatoError, ValueError):
    """The project file is wrong; nothing was read and nothing spent."""

    code = "SF103"


class SourceError(SfumatoError):
    """The table cannot be opened as declared; nothing was spent."""

    code = "SF104"


class MissingExtraError(SfumatoError, ImportError):
    """An optional library is not installed; nothing was spent."""

    code = "SF105"


class BudgetExceededError(SfumatoError):
    """The ledger refused a debit; nothing was read and nothing spent."""

    code = "SF201"


class LedgerError(SfumatoError):
    """The ledger cannot be used as asked; nothing was spent."""

    code = "SF202"


class EngineError(SfumatoError):
    """The engine failed after the debit; the text is fixed, whatever the cause."""

    code = "SF301"

    def __init__(
        self,
        fact: str = N_("the engine could not answer; the debit stands"),
        *,
        hint: str = N_("ask the data owner to read the engine's log"),
        **facts: object,
    ) -> None:
        """Use the one fixed text; a driver's own words may quote a cell."""
        super().__init__(fact, hint=hint, **facts)


def quoted(value: object) -> str:
    """Return a value that a user gave as Python writes it, in at most 60 signs.

    Python writes no whole number of more than 4,300 digits; such a one is told as a power
    of ten, and a thing that holds one, or cannot be written at all, by its kind.

    Examples:
        >>> quoted("Age"), quoted(-(10**5000)), quoted([10**5000])
        ("'Age'", '-1.0000e5000', '<list>')
    """
    if type(value) is int and value.bit_length() > _LONG:
        return _power(value)
    try:
        return repr(value)[:60]
    except Exception:  # noqa: BLE001  whatever an object does when it is asked
        return f"<{type(value).__name__}>"[:60]


def plainly(value: object) -> str:
    """Return a value as `quoted` does, but a text as it is.

    Examples:
        >>> plainly("0.5"), plainly(10**5000)
        ('0.5', '1.0000e5000')
    """
    try:
        return str(value)[:60]
    except Exception:  # noqa: BLE001  as in `quoted`
        return quoted(value)


def _power(number: int) -> str:
    """Return a whole number of very many digits as a power of ten."""
    digits = log10(abs(number))
    mantissa = 10 ** (digits % 1)
    return f"{'-' if number < 0 else ''}{mantissa:.4f}e{int(digits)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name closest to `name`, or all of them, for a hint.

    Examples:
        >>> nearest("Glucos", ["Age", "Glucose"])
        "'Glucose'"
    """
    names = list(known)
    return closest(name, names) or ", ".join(map(repr, names))


def closest(name: str, known: Iterable[str]) -> str:
    """Return the known name close to `name`, or nothing, for a hint about a table.

    The other names are not listed: where the header is absent or broken they are cells.

    Examples:
        >>> closest("Glucos", ["Age", "Glucose"]), closest("Glucos", ["Jane Doe", "31"])
        ("'Glucose'", '')
    """
    names = list(known)
    plain = name.strip().casefold()
    near = [k for k in names if k.strip().casefold() == plain]
    near = near or get_close_matches(name, names, n=1)
    return repr(near[0]) if near else ""
