r"""Filters and values as text, for project files: a small closed grammar.

::

    filter     = all {"or" all}
    all        = term {"and" term}
    term       = "not" term | "(" filter ")" | condition
    condition  = value ("<" | "<=" | ">" | ">=" | "==" | "!=") (constant | value)
               | value ["not"] "in" "[" constant {"," constant} "]"
               | value "between" (constant | value) "and" (constant | value)
               | value "is" ["not"] "missing"
               | value ["not"] "starts" "with" text in quotes
    name       = letters, digits and _ (not first a digit), or any text in quotes
    constant   = number | text in quotes | true | false

Values are those of `formula`. A text in quotes that begins a condition, right before its
sign, is a column; elsewhere it is a text. Words may be written in capitals. Every
character must belong to the filter.
"""

from __future__ import annotations

from typing import cast

from sfumato.declare.expr import (
    Absent,
    And,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Member,
    Not,
    Operator,
    Or,
    Relation,
    StartsWith,
)
from sfumato.declare.formula import Formulas
from sfumato.declare.lexer import SIGNS_OF_CONDITIONS, Cursor, quoted
from sfumato.declare.value import Constant, Name, Truth, Value
from sfumato.words import N_

__all__ = ["parse_filter", "parse_value", "render_filter"]

_DEEPEST = 50  # brackets within brackets
_NEVER = ("nan", "inf", "infinity", "null", "none", "na")
_MOST = 200  # conditions; engines and checks walk filters recursively


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
        >>> print(parse_filter('Systolic - Diastolic > 60 or icd starts with "E11"'))
        ((Systolic - Diastolic) > 60 or icd starts with 'E11')
        >>> parse_filter("capital§gain > 0")
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] the filter cannot be read from '§gain > 0' on
          hint: put column names with blanks or signs in quotes: "capital-gain" > 0
    """
    reader = _Reader(text)
    found = reader.either(0)
    reader.end()
    return found


def parse_value(text: str) -> Value:
    """Read a computed value as written in a project file.

    Raises:
        DeclarationError: The text is not a value; the message quotes where it stops
            making sense.

    Examples:
        >>> print(parse_value("Weight / Height ** 2"))
        (Weight / (Height * Height))
        >>> print(parse_value('when Age < 18 then "minor" otherwise "adult"'))
        (when Age < 18 then 'minor' otherwise 'adult')
    """
    reader = _Reader(text)
    if reader.cursor.holds_condition(0):
        found: Value = Truth(reader.either(0))
    else:
        found = reader.values.sum(0)
    reader.end()
    return found


def render_filter(expr: Expr) -> str:  # noqa: PLR0911  one for each
    """Write a filter so that `parse_filter` reads it back unchanged.

    Examples:
        >>> render_filter(parse_filter("'capital-gain' > 0 and not (Sex == 'F')"))
        "('capital-gain' > 0 and not (Sex == 'F'))"
    """
    match expr:
        case Compare(column, operator, value):
            return f"{quoted(column)} {operator} {value!r}"
        case IsIn(column, values):
            return f"{quoted(column)} in {list(values)!r}"
        case IsMissing(column):
            return f"{quoted(column)} is missing"
        case And(left, right):
            return f"({render_filter(left)} and {render_filter(right)})"
        case Or(left, right):
            return f"({render_filter(left)} or {render_filter(right)})"
        case Not(inner):
            return f"not ({render_filter(inner)})"
        case _:  # values are written as they are said
            return str(expr)


class _Reader:
    """A recursive-descent reader: one method per rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text)
        self.values = Formulas(self.cursor, self.either)
        self._conditions = 0

    def end(self) -> None:
        """Refuse what comes after a whole filter or value."""
        if self.cursor.here.kind != "end":
            raise self.cursor.refusal(N_("join conditions with `and` or `or`"))

    def either(self, depth: int) -> Expr:
        """Read conditions joined by `or`."""
        found = self._all(depth)
        while self.cursor.skip_word("or"):
            found = Or(found, self._all(depth))
        return found

    def _all(self, depth: int) -> Expr:
        found = self._term(depth)
        while self.cursor.skip_word("and"):
            found = And(found, self._term(depth))
        return found

    def _term(self, depth: int) -> Expr:
        cursor = self.cursor
        if depth > _DEEPEST:
            raise cursor.refusal(N_("use fewer brackets"))
        if cursor.skip_word("not"):
            return Not(self._term(depth + 1))
        if cursor.here.is_sign("(") and not self._is_value():
            cursor.expect("(")
            found = self.either(depth + 1)
            cursor.expect(")")
            return found
        return self._condition(depth)

    def _is_value(self) -> bool:
        """Tell whether the brackets that open here hold a value, not a filter."""
        behind = self.cursor.at(self.cursor.behind(self.cursor.place))
        if behind.is_word("not"):
            return True
        return behind.compares or behind.computes

    def _condition(self, depth: int) -> Expr:
        self._conditions += 1
        cursor = self.cursor
        if self._conditions > _MOST:
            raise cursor.refusal(N_("use at most {most} conditions"), most=_MOST)
        left = self._left(depth)
        if cursor.here.is_sign(*SIGNS_OF_CONDITIONS):
            operator = cast("Operator", cursor.here.text)
            cursor.place += 1
            return self._compared(left, operator, depth)
        if cursor.skip_word("between"):
            low = self._compared(left, ">=", depth)
            if not cursor.skip_word("and"):
                raise cursor.refusal(N_("write, for example, Age between 30 and 40"))
            return And(low, self._compared(left, "<=", depth))
        if cursor.skip_word("is"):
            return self._missing(left)
        return self._membership(left)

    def _left(self, depth: int) -> Value:
        """Read what a condition is about; a plain column may be in quotes."""
        cursor, after = self.cursor, self.cursor.after
        lone = cursor.here.kind in ("text", "word") and not (
            after.computes or (after.is_sign("(") and cursor.here.kind == "word")
        )
        if cursor.here.kind == "end" or (
            lone and not (cursor.here.is_word("when") and not after.compares)
        ):
            return Name(cursor.name())
        start = cursor.place
        found = self.values.sum(depth)
        if isinstance(found, Constant):
            cursor.place = start
            raise cursor.refusal(N_("begin a condition with a column: Age >= 30"))
        return found

    def _compared(self, left: Value, operator: Operator, depth: int) -> Expr:
        cursor = self.cursor
        constant = cursor.has_constant and not cursor.after.computes
        if isinstance(left, Name) and constant:
            return Compare(left.column, operator, cursor.constant())
        bare = cursor.here.kind == "word" and not (
            cursor.after.computes or cursor.after.is_sign("(")
        )
        odd = bare and (operator in ("==", "!=") or cursor.here.text.lower() in _NEVER)
        if cursor.here.kind == "end" or odd or cursor.here.is_sign("["):
            raise cursor.refusal(
                N_('compare with a number, or with text in quotes: Sex == "F"')
            )
        return Relation(left, operator, self.values.sum(depth))

    def _ends(self) -> bool:
        """Tell whether a condition cannot go on here."""
        here = self.cursor.here
        joins = here.is_word("and") or here.is_word("or")
        return here.kind == "end" or here.is_sign(")") or joins

    def _missing(self, left: Value) -> Expr:
        negated = self.cursor.skip_word("not")
        if not self.cursor.skip_word("missing"):
            raise self.cursor.refusal(
                N_("after `is` only `missing` or `not missing` may stand")
            )
        found = IsMissing(left.column) if isinstance(left, Name) else Absent(left)
        return Not(found) if negated else found

    def _membership(self, left: Value) -> Expr:
        cursor = self.cursor
        negated = cursor.skip_word("not")
        found: Expr
        if cursor.skip_word("starts"):
            cursor.expect_word("with")
            prefix = cursor.constant()
            if not isinstance(prefix, str):
                cursor.place -= 1
                raise cursor.refusal(N_('write the prefix in quotes: starts with "E11"'))  # fmt: skip
            found = StartsWith(left, prefix)
            return Not(found) if negated else found
        if isinstance(left, Name) and not negated and self._ends():
            text = N_(
                "a column alone is no condition; of a boolean write {name} == true"
            )
            raise cursor.refusal(text, name=quoted(left.column))
        if not cursor.skip_word("in"):
            raise cursor.refusal(
                N_("after a column write ==, !=, <, <=, >, >=, in, between or is")
            )
        cursor.expect("[")
        values = [cursor.constant()]
        while cursor.skip_sign(","):
            values.append(cursor.constant())
        cursor.expect("]")
        several = tuple(values)
        found = IsIn(left.column, several) if isinstance(left, Name) else Member(left, several)  # fmt: skip
        return Not(found) if negated else found
