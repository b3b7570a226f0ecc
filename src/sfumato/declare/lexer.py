"""Text of a filter or value → words, and a place among them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import isfinite
from typing import final

from sfumato.declare.logic import Literal_
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["RESERVED", "SIGNS_OF_CONDITIONS", "Cursor", "Token", "quoted"]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<word>[^\W\d]\w*)
    | (?P<sign><=|>=|==|!=|<(?!>)|>|\*\*|[()\[\],+\-*/])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL
)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
RESERVED = frozenset(
    {"and", "or", "not", "in", "is", "between", "when", "then", "otherwise"}
)
SIGNS_OF_CONDITIONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_WORDS_OF_CONDITIONS = ("in", "is", "between", "starts")
_CHOICES = ("when", "then", "otherwise")
_LONGEST = 400  # characters of a number
_MOST_TOKENS = 20_000


@final
@dataclass(frozen=True, slots=True)
class Token:
    """A text in quotes, a number, a word, a sign, or the end."""

    kind: str
    text: str
    start: int

    def is_word(self, word: str) -> bool:
        """Tell whether it is this word, in small or capital letters."""
        return self.kind == "word" and self.text in (word, word.upper())

    def is_sign(self, *signs: str) -> bool:
        """Tell whether it is one of these signs."""
        return self.kind == "sign" and self.text in signs

    @property
    def compares(self) -> bool:
        """Whether a condition goes on here, after its first value."""
        return self.is_sign(*SIGNS_OF_CONDITIONS) or any(
            self.is_word(word) for word in _WORDS_OF_CONDITIONS
        )

    @property
    def computes(self) -> bool:
        """Whether a value goes on here."""
        signed = self.kind == "number" and self.text[0] in "+-"
        return signed or self.is_sign("+", "-", "*", "/", "**")


@final
class Cursor:
    """Where a reader stands among the words of a text."""

    def __init__(self, text: str) -> None:
        """Cut the text into words; every character must belong to one."""
        self._text = text
        self._tokens = list(_tokens(text))
        self.place = 0

    @property
    def here(self) -> Token:
        """The word that comes next."""
        return self._tokens[self.place]

    @property
    def after(self) -> Token:
        """The word after that one."""
        return self._tokens[min(self.place + 1, len(self._tokens) - 1)]

    def behind(self, place: int) -> int:
        """Return the place behind the bracket that closes the one at `place`."""
        depth = 0
        for i in range(place, len(self._tokens)):
            depth += self._tokens[i].is_sign("(", "[")
            depth -= self._tokens[i].is_sign(")", "]")
            if depth == 0:
                return i + 1
        return len(self._tokens) - 1

    def at(self, place: int) -> Token:
        """Return the word at a place."""
        return self._tokens[place]

    def holds_condition(self, place: int) -> bool:
        """Tell whether a condition stands at `place`, up to a comma or a bracket's end.

        Signs inside brackets do not count: they belong to what the brackets hold.
        """
        depth = 0
        if self._tokens[place].is_word("when"):
            return False
        for token in self._tokens[place:]:
            depth += token.is_sign("(", "[")
            depth -= token.is_sign(")", "]")
            ends = token.is_sign(",") or any(map(token.is_word, _CHOICES))
            if depth < 0 or (depth == 0 and ends):
                return False
            joins = any(token.is_word(w) for w in ("and", "or", "not"))
            if depth == 0 and (token.compares or joins):
                return True
        return False

    def refusal(self, hint: str, **facts: object) -> DeclarationError:
        """Return the error that quotes where reading stopped."""
        rest = self._text[self.here.start :].strip()
        fact = N_("the filter cannot be read from {rest} on")
        if not rest:
            fact = N_("the filter ends too early")
        return DeclarationError(fact, hint=hint, rest=repr(rest[:40]), **facts)

    def skip_word(self, word: str) -> bool:
        """Go past this word, if it comes next."""
        found = self.here.is_word(word)
        self.place += found
        return found

    def skip_sign(self, sign: str) -> bool:
        """Go past this sign, if it comes next."""
        found = self.here.is_sign(sign)
        self.place += found
        return found

    def expect(self, sign: str) -> None:
        """Go past a sign that must come next."""
        if not self.skip_sign(sign):
            raise self.refusal(N_("here a {sign} is missing"), sign=sign)

    def expect_word(self, word: str) -> None:
        """Go past a word that must come next."""
        if not self.skip_word(word):
            raise self.refusal(N_("here the word {word} is missing"), word=repr(word))

    def split_sign(self) -> None:
        """Read the sign of a number that comes next as a sign of its own."""
        token = self.here
        if token.kind == "number" and token.text[0] in "+-":
            rest = replace(token, text=token.text[1:], start=token.start + 1)
            sign = Token("sign", token.text[0], token.start)
            self._tokens[self.place : self.place + 1] = [sign, rest]

    def name(self) -> str:
        """Read a column: a word, or a text in quotes."""
        token = self.here
        if token.kind == "text":
            self.place += 1
            return self._unquote(token)
        if token.kind == "word" and token.text.lower() not in RESERVED:
            self.place += 1
            return token.text
        raise self.refusal(N_("begin a condition with a column: Age >= 30"))

    @property
    def has_constant(self) -> bool:
        """Whether a number, a text in quotes, true or false comes next."""
        token = self.here
        is_truth = token.kind == "word" and token.text.lower() in ("true", "false")
        return token.kind in ("text", "number") or is_truth

    def constant(self) -> Literal_:
        """Read a number, a text in quotes, true or false."""
        token = self.here
        self.place += token.kind != "end"
        if token.kind == "text":
            return self._unquote(token)
        if token.kind == "number" and len(token.text) <= _LONGEST:
            whole = token.text.lstrip("+-").isdigit()
            number = int(token.text) if whole else float(token.text)
            if whole or isfinite(number):
                return number
        if token.kind == "word" and token.text.lower() in ("true", "false"):
            return token.text.lower() == "true"
        self.place -= token.kind != "end"
        raise self.refusal(
            N_('compare with a number, or with text in quotes: Sex == "F"')
        )

    def _unquote(self, token: Token) -> str:
        def meaning(match: re.Match[str]) -> str:
            word = match[1]
            if word in _PLAIN:
                return _PLAIN[word]
            code = int(word[1:], 16) if len(word) > 1 else -1
            if 0 <= code < 0x110000:  # noqa: PLR2004  the end of Unicode
                return chr(code)
            self.place -= 1
            raise self.refusal(N_("write a backslash inside quotes twice"))

        return _ESCAPE.sub(meaning, token.text[1:-1])


def quoted(name: str) -> str:
    """Write the name of a column that begins a condition."""
    token = _TOKEN.fullmatch(name)
    plain = token is not None and token["word"] == name
    return name if plain and name.lower() not in RESERVED else repr(name)


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise _unreadable(text, place)
        kind = str(match.lastgroup)
        found.append(Token(kind, match[kind], match.start(kind)))
        place = match.end()
        if len(found) > _MOST_TOKENS:
            raise DeclarationError(
                N_("the filter has more than {most} words"),
                hint=N_("list many values of one column with is_in"),
                most=_MOST_TOKENS,
            )
    return [*found, Token("end", "", len(text))]


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
