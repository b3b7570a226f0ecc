r"""Filters as text, for project files: a small closed grammar and its writer.

::

    filter     = all {"or" all}
    all        = term {"and" term}
    term       = "not" term | "(" filter ")" | condition
    condition  = name ("<" | "<=" | ">" | ">=" | "==" | "!=") value
               | name ["not"] "in" "[" value {"," value} "]"
               | name "between" value "and" value
               | name "is" ["not"] "missing"
    name       = letters, digits and _ (not first a digit), or any text in quotes
    value      = number | text in quotes | true | false

The place decides what a quoted text is: a column on the left, a value on the right.
Words may be written in capitals. Every character must belong to the filter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import assert_never, final

from sfumato.declare.expr import (
    Absent,
    And,
    Col,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Literal_,
    Member,
    Not,
    Or,
    Relation,
    StartsWith,
)
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["parse_filter", "render_filter"]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<word>[^\W\d]\w*)
    | (?P<sign><=|>=|==|!=|<(?!>)|>|[()\[\],])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL
)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_OPERATORS = ("<", "<=", ">", ">=", "==", "!=")
_RESERVED = frozenset({"and", "or", "not", "in", "is", "between"})
_DEEPEST = 50  # brackets within brackets
_MOST = 200  # conditions; engines and checks walk filters recursively
_LONGEST = 400  # characters of a number


@final
@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.text in (word, word.upper())


def parse_filter(text: str) -> Expr:
    """Read a filter as written in a project file.

    Raises:
        DeclarationError: The text is not a filter; the message quotes where it stops
            making sense.

    Examples:
        >>> print(parse_filter("Age >= 30 and Outcome == 1"))
        (Age >= 30 and Outcome == 1)
        >>> print(parse_filter('"血糖 值" between 4 and 7 or Sex not in ["F"]'))
        ((血糖 值 >= 4 and 血糖 值 <= 7) or not (Sex in ['F']))
        >>> parse_filter("capital-gain > 0")
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] the filter cannot be read from '-gain > 0' on
          hint: put column names with blanks or signs in quotes: "capital-gain" > 0
    """
    reader = _Reader(text)
    found = reader.either(0)
    if reader.here.kind != "end":
        raise reader.refusal(N_("join conditions with `and` or `or`"))
    return found


def render_filter(expr: Expr) -> str:  # noqa: PLR0911  one for each
    """Write a filter so that `parse_filter` reads it back unchanged.

    Examples:
        >>> render_filter(parse_filter("'capital-gain' > 0 and not (Sex == 'F')"))
        "('capital-gain' > 0 and not (Sex == 'F'))"
    """
    match expr:
        case Compare(column, operator, value):
            return f"{_quoted(column)} {operator} {value!r}"
        case IsIn(column, values):
            return f"{_quoted(column)} in {list(values)!r}"
        case IsMissing(column):
            return f"{_quoted(column)} is missing"
        case And(left, right):
            return f"({render_filter(left)} and {render_filter(right)})"
        case Or(left, right):
            return f"({render_filter(left)} or {render_filter(right)})"
        case Not(inner):
            return f"not ({render_filter(inner)})"
        case Relation() | Member() | Absent() | StartsWith():
            return str(expr)
        case _:
            assert_never(expr)


def _quoted(name: str) -> str:
    token = _TOKEN.fullmatch(name)
    plain = token is not None and token["word"] == name
    return name if plain and name.lower() not in _RESERVED else repr(name)


class _Reader:
    """A recursive-descent reader: one method per rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._place = 0
        self._conditions = 0

    @property
    def here(self) -> _Token:
        return self._tokens[self._place]

    def refusal(self, hint: str, **facts: object) -> DeclarationError:
        rest = self._text[self.here.start :].strip()
        fact = N_("the filter cannot be read from {rest} on")
        if not rest:
            fact = N_("the filter ends too early")
        return DeclarationError(fact, hint=hint, rest=repr(rest[:40]), **facts)

    def either(self, depth: int) -> Expr:
        found = self._all(depth)
        while self._skip_word("or"):
            found = Or(found, self._all(depth))
        return found

    def _all(self, depth: int) -> Expr:
        found = self._term(depth)
        while self._skip_word("and"):
            found = And(found, self._term(depth))
        return found

    def _term(self, depth: int) -> Expr:
        if depth > _DEEPEST:
            raise self.refusal(N_("use fewer brackets"))
        if self._skip_word("not"):
            return Not(self._term(depth + 1))
        if self._skip_sign("("):
            found = self.either(depth + 1)
            self._expect(")")
            return found
        return self._condition()

    def _condition(self) -> Expr:
        self._conditions += 1
        if self._conditions > _MOST:
            raise self.refusal(N_("use at most {most} conditions"), most=_MOST)
        name = self._name()
        token = self.here
        if token.kind == "sign" and token.text in _OPERATORS:
            self._place += 1
            return Compare(name, token.text, self._value())  # type: ignore[arg-type]
        if self._skip_word("between"):
            low = self._value()
            if not self._skip_word("and"):
                raise self.refusal(N_("write, for example, Age between 30 and 40"))
            return Col(name).between(low, self._value())
        if self._skip_word("is"):
            return self._missing(name)
        return self._membership(name)

    def _missing(self, name: str) -> Expr:
        negated = self._skip_word("not")
        if not self._skip_word("missing"):
            raise self.refusal(
                N_("after `is` only `missing` or `not missing` may stand")
            )
        return Not(IsMissing(name)) if negated else IsMissing(name)

    def _membership(self, name: str) -> Expr:
        negated = self._skip_word("not")
        if not self._skip_word("in"):
            raise self.refusal(
                N_("after a column write ==, !=, <, <=, >, >=, in, between or is")
            )
        self._expect("[")
        values = [self._value()]
        while self._skip_sign(","):
            values.append(self._value())
        self._expect("]")
        found = IsIn(name, tuple(values))
        return Not(found) if negated else found

    def _name(self) -> str:
        token = self.here
        if token.kind == "text":
            self._place += 1
            return self._unquote(token)
        if token.kind == "word" and token.text.lower() not in _RESERVED:
            self._place += 1
            return token.text
        raise self.refusal(N_("begin a condition with a column: Age >= 30"))

    def _value(self) -> Literal_:
        token = self.here
        self._place += token.kind != "end"
        if token.kind == "text":
            return self._unquote(token)
        if token.kind == "number" and len(token.text) <= _LONGEST:
            whole = token.text.lstrip("+-").isdigit()
            number = int(token.text) if whole else float(token.text)
            if whole or isfinite(number):
                return number
        if token.kind == "word" and token.text.lower() in ("true", "false"):
            return token.text.lower() == "true"
        self._place -= token.kind != "end"
        raise self.refusal(
            N_('compare with a number, or with text in quotes: Sex == "F"')
        )

    def _unquote(self, token: _Token) -> str:
        def meaning(match: re.Match[str]) -> str:
            word = match[1]
            if word in _PLAIN:
                return _PLAIN[word]
            code = int(word[1:], 16) if len(word) > 1 else -1
            if 0 <= code < 0x110000:  # noqa: PLR2004  the end of Unicode
                return chr(code)
            self._place -= 1
            raise self.refusal(N_("write a backslash inside quotes twice"))

        return _ESCAPE.sub(meaning, token.text[1:-1])

    def _skip_word(self, word: str) -> bool:
        found = self.here.is_word(word)
        self._place += found
        return found

    def _skip_sign(self, sign: str) -> bool:
        found = self.here.kind == "sign" and self.here.text == sign
        self._place += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._skip_sign(sign):
            raise self.refusal(N_("here a {sign} is missing"), sign=sign)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise _unreadable(text, place)
        kind = str(match.lastgroup)
        found.append(_Token(kind, match[kind], match.start(kind)))
        place = match.end()
    return [*found, _Token("end", "", len(text))]


def _unreadable(text: str, place: int) -> DeclarationError:
    """Say which of the usual slips stands at `place`."""
    rest = text[place:].strip()
    if re.match(r"=(?!=)|<>", rest):
        hint = N_("write == for equal and != for not equal")
    elif re.match(r"[（）［］【】，“”‘’＝＜＞《》]", rest):
        hint = N_('write brackets, commas, quotes and signs in half width: ( ) [ ] , "')
    elif rest[0] in "\"'":
        hint = N_("the closing quote is missing")
    else:
        hint = N_('put column names with blanks or signs in quotes: "capital-gain" > 0')
    return DeclarationError(
        N_("the filter cannot be read from {rest} on"), hint=hint, rest=repr(rest[:40])
    )
