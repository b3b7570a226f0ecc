"""Conditions and computed values of a parsed SELECT → the nodes of `logic` and `value`."""

from __future__ import annotations

from typing import Any, Final, final

from sfumato.declare.expr import Term, value_of
from sfumato.declare.logic import (
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
from sfumato.declare.sqltree import (
    DEEPEST,
    MOST,
    SIGNS,
    Tree,
    kind_of,
    refuse,
    spelt,
    too_large,
    word_of,
)
from sfumato.declare.value import (
    Arithmetic,
    Choice,
    Constant,
    DatePart,
    Floor,
    Mapped,
    Missing,
    Name,
    Part,
    Sign,
    Value,
)
from sfumato.words import N_

__all__ = ["Values"]

_COMPARISONS: Final[dict[str, tuple[Operator, Operator]]] = {
    "EQ": ("==", "=="), "NEQ": ("!=", "!="), "LT": ("<", ">"),
    "LTE": ("<=", ">="), "GT": (">", "<"), "GTE": (">=", "<="),
}  # fmt: skip
"""Each comparison, and the one that holds with its sides exchanged."""
_SIGNS: Final[dict[str, Sign]] = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
_PARTS: Final[dict[str, Part]] = {
    "YEAR": "year", "MONTH": "month", "DAY": "day", "ISODOW": "weekday",
}  # fmt: skip
_FILTER = N_(
    "write comparisons of values, IN (…), BETWEEN, LIKE 'x%', IS NULL, joined with AND, "
    "OR and NOT"
)
_VALUE = N_(
    "compute with columns, constants, + - * /, CASE WHEN … END, CLIP(x, low, high), "
    "FLOOR, ABS, LOWER, TRIM, COALESCE, NULLIF, CAST(x AS DOUBLE or DATE), "
    "EXTRACT(YEAR, MONTH, DAY or ISODOW FROM x)"
)
_PREFIX = N_("only patterns that end with their one % are read: LIKE 'E11%'")
_CAST = N_(
    "write CAST(x AS DOUBLE) or CAST(x AS DATE); for whole numbers FLOOR(x), because "
    "databases round in different ways"
)


@final
class Values:
    """Reads conditions and values; each node is recognised by the name of its class."""

    def __init__(self, tree: Tree) -> None:
        """Count words in `tree`."""
        self._tree = tree
        self._conditions = 0

    def condition(self, node: Any, depth: int = 0) -> Expr:
        """Read a condition."""
        tree, kind = self._tree, kind_of(node)
        match kind:
            case _ if depth > MOST + DEEPEST:  # a chain is as deep as it is long
                raise too_large()
            case "And" | "Or":
                both = tree.open(node, "this", "expression", hint=_FILTER)
                tree.use(kind.upper())
                left, right = (self.condition(side, depth + 1) for side in both)
                return And(left, right) if kind == "And" else Or(left, right)
            case "Not":
                (inner,) = tree.open(node, "this", hint=_FILTER)
                tree.use("NOT")
                return Not(self.condition(inner, depth + 1))
            case "Paren":
                (inner,) = tree.open(node, "this", hint=_FILTER)
                tree.use("(", ")")
                return self.condition(inner, depth + 1)
            case _:
                self._conditions += 1
                if self._conditions > MOST:
                    raise too_large()
                return self._leaf(node, depth)

    def _leaf(self, node: Any, depth: int) -> Expr:  # noqa: PLR0911  one for each
        tree = self._tree
        match kind_of(node):
            case "EQ" | "NEQ" | "LT" | "LTE" | "GT" | "GTE":
                return self._comparison(node, depth)
            case "Between":
                cell, *ends = tree.open(node, "this", "low", "high", hint=_FILTER)
                tree.use("BETWEEN", "AND")
                inner = self._side(cell, depth)
                low, high = ends
                return And(
                    self._compared(inner, ">=", low, depth),
                    self._compared(inner, "<=", high, depth),
                )
            case "In":
                cell, several = tree.open(node, "this", "expressions", hint=_FILTER)
                tree.use("IN", "(", ")", *"," * (len(several or [None]) - 1))
                values = tuple(map(tree.constant, several or []))
                inner = self._side(cell, depth)
                return IsIn(inner.column, values) if isinstance(inner, Name) else Member(inner, values)  # fmt: skip
            case "Is":
                cell, null = tree.open(node, "this", "expression", hint=_FILTER)
                if kind_of(null) != "Null":
                    refuse(f"IS {word_of(null)}", _FILTER)
                tree.open(null, hint=_FILTER)
                tree.use("IS", "NULL")
                inner = self._side(cell, depth)
                return IsMissing(inner.column) if isinstance(inner, Name) else Absent(inner)  # fmt: skip
            case "Like":
                return self._like(node, depth)
            case "Column":
                name = tree.column(node, _FILTER)
                hint = N_("write a comparison: {name} = TRUE")
                return refuse(repr(name), hint, name=spelt(name))
            case _:
                return refuse(word_of(node), _FILTER)

    def _comparison(self, node: Any, depth: int) -> Expr:
        left, right = self._tree.open(node, "this", "expression", hint=_FILTER)
        self._tree.use(SIGNS[kind_of(node)])
        straight, turned = _COMPARISONS[kind_of(node)]
        if _is_constant(left) and kind_of(right) == "Column":
            left, right, straight = right, left, turned
        return self._compared(self._side(left, depth), straight, right, depth)

    def _compared(self, left: Value, operator: Operator, node: Any, depth: int) -> Expr:
        """Return a comparison: of a plain column with a constant, as of the builder."""
        if isinstance(left, Name) and _is_constant(node):
            return Compare(left.column, operator, self._tree.constant(node))
        return Relation(left, operator, self._side(node, depth))

    def _like(self, node: Any, depth: int) -> Expr:
        cell, pattern, negated = self._tree.open(
            node, "this", "expression", "negate", hint=_PREFIX
        )
        self._tree.use("LIKE")
        text = self._tree.constant(pattern)
        if not isinstance(text, str) or not text.endswith("%") or {"%", "_"} & set(text[:-1]):  # fmt: skip
            refuse(f"LIKE {str(text)[:40]!r}", _PREFIX)
        found = StartsWith(self._side(cell, depth), text[:-1])
        if not negated:
            return found
        self._tree.use("NOT")
        return Not(found)

    def _side(self, node: Any, depth: int) -> Value:
        """Read what a condition compares."""
        if kind_of(node) in ("Boolean", "Null"):
            self._tree.constant(node)
            refuse(word_of(node), N_("compare a column with it: column = TRUE"))
        return self.value(node, depth + 1)

    def value(self, node: Any, depth: int = 0) -> Value:  # noqa: C901, PLR0911, PLR0912  one for each
        """Read a computed value."""
        tree, kind = self._tree, kind_of(node)
        match kind:
            case _ if depth > MOST + DEEPEST:
                raise too_large()
            case "Column":
                return Name(tree.column(node, _VALUE))
            case "Literal":
                return value_of(tree.constant(node))
            case "Null":
                tree.open(node, hint=_VALUE)
                tree.use("NULL")
                return Missing()
            case "Paren":
                (inner,) = tree.open(node, "this", hint=_VALUE)
                tree.use("(", ")")
                return self.value(inner, depth + 1)
            case "Neg":
                (inner,) = tree.open(node, "this", hint=_VALUE)
                tree.use("-")
                if kind_of(inner) == "Literal":
                    constant = self.value(inner, depth + 1)
                    if isinstance(constant, Constant) and not isinstance(constant.value, str):  # fmt: skip
                        return Constant(-constant.value)
                    refuse("-", _VALUE)
                if kind_of(inner) == "Neg":  # - -x: two signs in a row are a comment
                    refuse("-", _VALUE)
                return Arithmetic("-", Constant(0), self.value(inner, depth + 1))
            case "Add" | "Sub" | "Mul" | "Div":
                # typed and safe say how some databases divide; here / never truncates.
                left, right, *_ = tree.open(
                    node, "this", "expression", "typed", "safe", hint=_VALUE
                )
                tree.use(_SIGNS[kind])
                one, other = self.value(left, depth + 1), self.value(right, depth + 1)
                return Arithmetic(_SIGNS[kind], one, other)
            case "Floor" | "Abs" | "Lower" | "Trim" | "Year" | "Month" | "Day":
                return self._function(node, depth)
            case "Extract":
                return self._extract(node, depth)
            case "Cast" | "TryCast":
                return self._cast(node, depth)
            case "Case":
                return self._case(node, depth)
            case "Coalesce" | "Nullif":
                return self._instead(node, depth)
            case "Anonymous":
                return self._clip(node, depth)
            case _:
                return refuse(word_of(node), _VALUE)

    def _function(self, node: Any, depth: int) -> Value:
        """Read a function of one value."""
        kind = kind_of(node)
        (inner,) = self._tree.open(node, "this", hint=_VALUE)
        self._tree.use(repr(kind.upper()), "(", ")")
        value = self.value(inner, depth + 1)
        match kind:
            case "Floor":
                return Floor(value)
            case "Abs":
                return abs(Term(value)).value
            case "Lower":
                return Mapped("lower", value)
            case "Trim":
                return Mapped("strip", value)
            case _:
                return DatePart(_PARTS[kind.upper()], value)

    def _extract(self, node: Any, depth: int) -> Value:
        part, inner = self._tree.open(node, "this", "expression", hint=_VALUE)
        word = str(part.name).upper() if kind_of(part) == "Var" else ""
        if word not in _PARTS:
            refuse(word_of(part), _VALUE)
        self._tree.open(part, "this", hint=_VALUE)
        self._tree.use("'EXTRACT'", "(", repr(word), "FROM", ")")
        return DatePart(_PARTS[word], self.value(inner, depth + 1))

    def _cast(self, node: Any, depth: int) -> Value:
        kind = kind_of(node)
        # safe says that a cast gives NULL, as every cast does here.
        inner, to, _ = self._tree.open(node, "this", "to", "safe", hint=_CAST)
        self._tree.open(to, "this", "nested", hint=_CAST)
        word = str(getattr(to.this, "name", to.this)).upper()
        functions = {"DOUBLE": "number", "FLOAT": "number", "DATE": "date"}
        if word not in functions:
            refuse(f"CAST AS {word[:40]}", _CAST)
        written = "DATE" if word == "DATE" else "DOUBLE"
        call = "'TRY_CAST'" if kind == "TryCast" else "'CAST'"
        self._tree.use(call, "(", repr(written), ")")
        value = self.value(inner, depth + 1)
        return Mapped("date", value) if word == "DATE" else Mapped("number", value)

    def _case(self, node: Any, depth: int) -> Value:
        arms, default = self._tree.open(node, "ifs", "default", hint=_VALUE)
        self._tree.use("CASE", "END")
        branches = []
        for arm in arms or []:
            condition, result = self._tree.open(arm, "this", "true", hint=_VALUE)
            self._tree.use("WHEN", "THEN")
            branches.append(
                (self.condition(condition, depth + 1), self.value(result, depth + 1))
            )
        if not branches:
            refuse("CASE", _VALUE)
        otherwise: Value = Missing()
        if default is not None:
            self._tree.use("ELSE")
            otherwise = self.value(default, depth + 1)
        return Choice(tuple(branches), otherwise)

    def _instead(self, node: Any, depth: int) -> Value:
        """Read COALESCE, the first value that is there, or NULLIF."""
        if kind_of(node) == "Nullif":
            first, second = self._tree.open(node, "this", "expression", hint=_VALUE)
            self._tree.use("'NULLIF'", "(", ",", ")")
            value = self.value(first, depth + 1)
            equal = Relation(value, "==", self.value(second, depth + 1))
            return Choice(((equal, Missing()),), value)
        first, others = self._tree.open(node, "this", "expressions", hint=_VALUE)
        others = others or []
        self._tree.use("'COALESCE'", "(", *"," * len(others), ")")
        *values, last = [self.value(one, depth + 1) for one in [first, *others]]
        branches = tuple((Not(Absent(value)), value) for value in values)
        return Choice(branches, last) if branches else last

    def _clip(self, node: Any, depth: int) -> Value:
        name, arguments = self._tree.open(node, "this", "expressions", hint=_VALUE)
        if str(name).upper() != "CLIP" or len(arguments or []) != 3:  # noqa: PLR2004  value, low, high
            refuse(word_of(node), _VALUE)
        self._tree.use("'CLIP'", "(", ",", ",", ")")
        inner, *ends = arguments
        low, high = (self._tree.constant(end) for end in ends)
        if isinstance(low, str | bool) or isinstance(high, str | bool):
            refuse("CLIP", N_("the bounds of CLIP are numbers: CLIP(x, 0, 100)"))
        return Term(self.value(inner, depth + 1)).clip(low, high).value


def _is_constant(node: Any) -> bool:
    if kind_of(node) == "Neg":
        return kind_of(node.this) == "Literal"
    return kind_of(node) in ("Literal", "Boolean", "Null")
