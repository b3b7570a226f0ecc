"""What kind of thing is a computed value? Typed before any row is read, or refused.

A text value carries its *vocabulary*: every text that it can be, in public order. It
follows from declared keys and constants alone, so functions of texts are computed here,
once per text, and no engine is ever asked to change one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never, final

from sfumato.declare.calendar import Date, day_of_text
from sfumato.declare.logic import (
    Absent,
    And,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Literal_,
    Member,
    Not,
    Operator,
    Or,
    Relation,
    StartsWith,
)
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    Text,
    token,
)
from sfumato.declare.value import (
    Arithmetic,
    Choice,
    Clip,
    Constant,
    Cut,
    DatePart,
    Floor,
    Mapped,
    Missing,
    Name,
    Truth,
    Value,
)
from sfumato.declare.walk import children
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.plan.constants import check_literal, is_number
from sfumato.words import N_

__all__ = ["FIRST_DAY", "LAST_DAY", "Days", "Kind", "Logical", "Nothing", "Numeric", "Words", "check_condition",
           "check_size", "dated", "kind_of", "text_function"]  # fmt: skip

_MOST = 400  # nodes of all expressions of a question
_DEEPEST = 50
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31


@final
@dataclass(frozen=True, slots=True)
class Numeric:
    """A number."""


@final
@dataclass(frozen=True, slots=True)
class Logical:
    """True or false."""


@final
@dataclass(frozen=True, slots=True)
class Words:
    """One of these texts; each is a token (see `schema.token`) and stands once."""

    vocabulary: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Days:
    """A day, as days since 1970-01-01."""


@final
@dataclass(frozen=True, slots=True)
class Nothing:
    """Missing on every row; it goes with any kind."""


Kind: TypeAlias = Numeric | Logical | Words | Days | Nothing


def kind_of(value: Value, schema: Schema) -> Kind:  # noqa: C901, PLR0911, PLR0912  one for each
    """Return the kind of a value, whose columns the schema declares.

    Raises:
        DeclarationError: A column is unknown, or an operation does not fit its operand.
    """
    match value:
        case Name(column):
            return _cell(schema[column])
        case Constant(str() as text):
            return _words([text])
        case Constant():
            return Numeric()
        case Missing():
            return Nothing()
        case Arithmetic("-", left, right) if isinstance(kind_of(left, schema), Days):
            if not isinstance(kind_of(right, schema), Days | Nothing):
                raise _unfit(N_("{value} needs a day"), str(value))
            return Numeric()
        case Arithmetic(_, left, right):
            _number(left, schema)
            _number(right, schema)
            return Numeric()
        case Floor(inner) | Clip(inner):
            _number(inner, schema)
            return Numeric()
        case Mapped(function, inner):
            return _mapped(function, inner, schema)
        case DatePart(part, inner):
            if not isinstance(kind_of(inner, schema), Days | Nothing):
                raise _unfit(N_("{value} needs a day"), f"{part}({inner})")
            return Numeric()
        case Cut(inner, _, labels):
            _number(inner, schema)
            return _words(labels)
        case Choice():
            return _choice(value, schema)
        case Truth(condition):
            check_condition(condition, schema)
            return Logical()
        case _:
            assert_never(value)


def _cell(column: Column) -> Kind:
    match column:
        case Date():
            return Days()
        case Real() | Integer():
            return Numeric()
        case Category():
            return Words(column.tokens)
        case Boolean():
            return Logical()
        case Text():
            raise DeclarationError(
                N_("no value can be computed from a text column: its keys are unknown"),
                hint=N_("declare it as Category([...]), or group by the column itself"),
            )
        case _:
            assert_never(column)


def text_function(function: str) -> Callable[[str], str]:
    """Return what a function of texts does to one; it is Python's, on public texts."""
    return str.lower if function == "lower" else str.strip


def _mapped(function: str, inner: Value, schema: Schema) -> Kind:
    kind = kind_of(inner, schema)
    if isinstance(kind, Nothing):
        return kind
    if function == "number":
        if isinstance(kind, Words | Logical | Numeric):
            return Numeric()
        raise _unfit(N_("{value} needs a text or a condition"), f"number({inner})")
    if function == "date" and isinstance(kind, Days):
        return kind
    if not isinstance(kind, Words):
        raise _unfit(N_("{value} needs a text"), f"{function}({inner})")
    if function == "date":
        return Days()
    change = text_function(function)
    return _words(map(change, kind.vocabulary))


def _words(texts: Iterable[str]) -> Words:
    return Words(tuple(dict.fromkeys(str(token(text)) for text in texts)))


def _choice(value: Choice, schema: Schema) -> Kind:
    for condition, _ in value.branches:
        check_condition(condition, schema)
    values = [branch for _, branch in value.branches] + [value.otherwise]
    found: Kind = Nothing()
    for kind in (kind_of(v, schema) for v in values):
        if isinstance(kind, Nothing):
            continue
        if isinstance(found, Nothing):
            found = kind
        elif isinstance(found, Words) and isinstance(kind, Words):
            found = _words(found.vocabulary + kind.vocabulary)
        elif type(found) is not type(kind):
            raise DeclarationError(
                N_("the branches of {value} are of different kinds"),
                hint=N_("let every branch be a number, or every one a text"),
                value=_short(value),
            )
    return found


def _number(value: Value, schema: Schema) -> None:
    if not isinstance(kind_of(value, schema), Numeric | Nothing):
        raise DeclarationError(
            N_("{value} is no number to compute with"),
            hint=N_(
                "write to_number() for the number that a text is; of a condition it "
                "gives 1 and 0"
            ),
            value=_short(value),
        )


def check_condition(expr: Expr, schema: Schema) -> None:  # noqa: C901, PLR0912  one for each
    """Refuse unknown columns, constants of another kind, and keys that are not declared.

    Raises:
        DeclarationError: With the nearest known name or key where there is one.
    """
    match expr:
        case Compare(column, operator, value):
            ordered = operator not in ("==", "!=")
            check_literal(column, schema[column], value, ordered=ordered)
        case IsIn(column, values):
            for one in values:
                check_literal(column, schema[column], one, ordered=False)
        case IsMissing(column):
            _ = schema[column]
        case Relation(operator=operator):
            left, _, right = dated(expr, schema)
            _check_relation(left, operator, right, schema)
        case Member(inner, values):
            kind = kind_of(inner, schema)
            for one in values:
                _check_member(inner, kind, one)
        case Absent(inner):
            kind_of(inner, schema)
        case StartsWith(Name(column)) if isinstance(schema[column], Text):
            pass  # the cell itself is compared, whatever texts there are
        case StartsWith(inner):
            if not isinstance(kind_of(inner, schema), Words | Nothing):
                raise _unfit(N_("{value} needs a text"), str(expr))
        case And(left, right) | Or(left, right):
            check_condition(left, schema)
            check_condition(right, schema)
        case Not(inner):
            check_condition(inner, schema)
        case _:
            assert_never(expr)


def dated(relation: Relation, schema: Schema) -> tuple[Value, Operator, Value]:
    """Return the sides of a comparison; a text beside a day is the day it names."""
    left, right = relation.left, relation.right
    if _names_day(right) and isinstance(kind_of(left, schema), Days):
        right = Mapped("date", right)
    elif _names_day(left) and isinstance(kind_of(right, schema), Days):
        left = Mapped("date", left)
    return left, relation.operator, right


def _names_day(value: Value) -> bool:
    text = value.value if isinstance(value, Constant) else None
    return isinstance(text, str) and day_of_text(text) is not None


def _check_relation(left: Value, operator: str, right: Value, schema: Schema) -> None:
    one, other = kind_of(left, schema), kind_of(right, schema)
    if isinstance(one, Nothing) or isinstance(other, Nothing):
        raise DeclarationError(
            N_("a comparison with what is always missing says nothing"),
            hint=N_("write is_missing() to find missing values"),
        )
    ordered = operator not in ("==", "!=")
    if type(one) is not type(other) or isinstance(one, Logical) or (ordered and isinstance(one, Words)):  # fmt: skip
        raise DeclarationError(
            N_("{left} cannot be compared with {right} by {operator}"),
            hint=N_(
                "compare numbers with numbers, and texts with texts by == and !=; "
                "join conditions with &, | and ~"
            ),
            left=_short(left),
            right=_short(right),
            operator=operator,
        )
    if isinstance(one, Words) and isinstance(other, Words):
        for side, constant, kind in ((left, right, one), (right, left, other)):
            if isinstance(constant, Constant) and not isinstance(side, Constant):
                _check_member(side, kind, constant.value)


def _check_member(value: Value, kind: Kind, constant: Literal_) -> None:
    match kind:
        case Numeric():
            if is_number(constant):
                return
            expected = N_("compare it with a finite number, such as {example}")
            example = "1"
        case Days():
            if isinstance(constant, str) and day_of_text(constant) is not None:
                return
            expected = N_("compare it with a day, such as {example}")
            example = '"2024-02-29"'
        case Words(vocabulary):
            if token(constant) in vocabulary and not isinstance(constant, bool):
                return
            expected = N_("it can only be one of its public texts: {example}")
            example = nearest(str(constant), vocabulary)
        case Logical() | Nothing():
            expected = N_("use it as a condition: join it with &, | and ~")
            example = ""
        case _:
            assert_never(kind)
    raise DeclarationError(
        N_("{name} cannot be compared with {value}"),
        hint=expected,
        name=_short(value),
        value=quoted(constant),
        example=example,
    )


def check_size(roots: list[Expr | Value]) -> None:
    """Refuse expressions too long or too deep to be walked; counted without recursion.

    A chain of one of & and | counts as flat, as engines render it.
    """
    open_: list[tuple[Expr | Value, int]] = [(root, 0) for root in roots]
    count = 0
    while open_:
        node, depth = open_.pop()
        count += not isinstance(node, And | Or)
        if count > _MOST:
            raise DeclarationError(
                N_("the filter has more than {most} conditions"),
                hint=N_("list many values of one column with is_in"),
                most=_MOST,
            )
        if depth > _DEEPEST:
            raise DeclarationError(
                N_("the expression has more than {most} steps within one another"),
                hint=N_("derive a part of it as a column of its own"),
                most=_DEEPEST,
            )
        flat = isinstance(node, And | Or | Not)
        open_ += [(child, depth + (not flat)) for child in children(node)]


def _unfit(fact: str, value: str) -> DeclarationError:
    hint = N_(
        "texts are declared keys and constants, days are columns of type Date; a name in "
        'quotes is a text: for the column write column("…"), in Python col("…")'
    )
    return DeclarationError(fact, hint=hint, value=value[:60])


def _short(value: Value) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else f"{text[:57]}…")  # noqa: PLR2004  a line
