"""Computed values and questions about them as an adversary would choose them."""

from __future__ import annotations

import adversary as a
from hypothesis import HealthCheck
from hypothesis import strategies as st

from sfumato.declare import query as ask
from sfumato.declare.choice import when
from sfumato.declare.expr import Term, col, value_of
from sfumato.declare.logic import Absent, Member
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.plan import make_plan
from sfumato.plan.kinds import Words, kind_of
from sfumato.plan.reach import reach
from sfumato.plan.widen import widened

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

CONSTANTS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([0, 0.0, -0.0, 1, 0.1, 1 / 3, 5e-324, 1e-50, 9e-51, 1e50, -1e50, 2**53, 1e25, 1e-25]),
    st.floats(-1e50, 1e50),
)  # fmt: skip
LABELS = st.sampled_from(["a", "A", " a ", "low", "2", "2.0", "é", "1e3", "-7", "x y"])


def _of(schema, *kinds):
    return [name for name, column in schema.columns if isinstance(column, kinds)]


@st.composite
def numbers(draw, schema, depth=3):
    """Numbers: cells, constants, arithmetic, floors, bounds, choices and casts."""
    kinds = ["cell", "cell", "constant"]
    if depth:
        kinds += ["sum", "sum", "floor", "clip", "choice", "text", "truth", "power"]
    match draw(st.sampled_from(kinds)):
        case "cell" if _of(schema, Real, Integer):
            return col(draw(st.sampled_from(_of(schema, Real, Integer))))
        case "sum":
            left = draw(numbers(schema, depth - 1))
            right = draw(numbers(schema, depth - 1))
            sign = draw(st.sampled_from(["add", "sub", "mul", "truediv"]))
            return getattr(Term(left.value), f"__{sign}__")(right)
        case "power":
            return draw(numbers(schema, depth - 1)) ** draw(st.integers(1, 3))
        case "floor":
            return draw(numbers(schema, depth - 1)).floor()
        case "clip":
            low, high = sorted([draw(CONSTANTS), draw(CONSTANTS)])
            return draw(numbers(schema, depth - 1)).clip(low, high)
        case "choice":
            return draw(choices(schema, numbers(schema, depth - 1), depth))
        case "text":
            return draw(texts(schema, depth - 1)).to_number()
        case "truth":
            return Term(draw(choices(schema, numbers(schema, 0), depth)).value)
        case _:
            from sfumato.declare.value import Constant

            return Term(Constant(draw(CONSTANTS)))


@st.composite
def choices(draw, schema, values, depth):
    """Choices between values of one kind."""
    many = draw(st.integers(1, 3))
    found = when(draw(computed(schema, depth - 1))).then(draw(values))
    for _ in range(many - 1):
        found = found.when(draw(computed(schema, depth - 1))).then(draw(values))
    return found.otherwise(draw(values)) if draw(st.booleans()) else found


@st.composite
def texts(draw, schema, depth=3):
    """Texts: keys, small letters, without blanks, bins and choices."""
    kinds = ["cell"]
    if depth:
        kinds += ["lower", "strip", "cut", "choice"]
    match draw(st.sampled_from(kinds)):
        case "lower":
            return draw(texts(schema, depth - 1)).lower()
        case "strip":
            return draw(texts(schema, depth - 1)).strip()
        case "cut":
            edges = draw(st.lists(CONSTANTS.map(float), min_size=2, max_size=5, unique=True).map(sorted))  # fmt: skip
            labels = draw(
                st.none()
                | st.lists(
                    LABELS,
                    min_size=len(edges) - 1,
                    max_size=len(edges) - 1,
                    unique=True,
                )
            )
            return draw(numbers(schema, depth - 1)).cut(edges, labels)
        case "choice":
            either = st.one_of(texts(schema, depth - 1), LABELS)
            return draw(choices(schema, either, depth))
        case _:
            return col(draw(st.sampled_from(_of(schema, Category))))


@st.composite
def computed(draw, schema, depth=2):
    """Conditions on computed values, and on plain columns."""
    kinds = ["plain", "compare", "member", "missing"]
    if depth > 0:
        kinds += ["and", "or", "not", "words", "prefix"]
    depth = max(depth, 0)
    match draw(st.sampled_from(kinds)):
        case "and":
            return draw(computed(schema, depth - 1)) & draw(computed(schema, depth - 1))
        case "or":
            return draw(computed(schema, depth - 1)) | draw(computed(schema, depth - 1))
        case "not":
            return ~draw(computed(schema, depth - 1))
        case "compare":
            sign = draw(st.sampled_from(["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"]))  # fmt: skip
            left = draw(numbers(schema, depth))
            return getattr(Term(left.value), sign)(draw(numbers(schema, depth)))
        case "member":
            some = draw(st.lists(CONSTANTS, max_size=3))
            return Member(draw(numbers(schema, depth)).value, tuple(some))
        case "missing":
            either = st.one_of(numbers(schema, depth), texts(schema, depth))
            return Absent(draw(either).value)
        case "words":
            left, right = draw(texts(schema, depth - 1)), draw(texts(schema, depth - 1))
            return left == right if draw(st.booleans()) else left != right
        case "prefix":
            return draw(texts(schema, depth - 1)).starts_with(
                draw(st.sampled_from(["a", "", "2", "é"]))
            )
        case _ if not set(a.NAMES) <= set(schema):
            return col(draw(st.sampled_from(list(schema)))).is_missing()
        case _:
            return draw(a.conditions(Schema(dict(_own(schema))), 1))


def _own(schema):
    return [(n, c) for n, c in schema.columns if n in a.NAMES]


def declared(draw, value, schema):
    """Return a declaration that fits a computed value, or none where it may be left out."""
    kind = kind_of(value, schema)
    if isinstance(kind, Words):
        if draw(st.booleans()):
            return None
        vocabulary = sorted(kind.vocabulary)
        return Category(draw(st.lists(st.sampled_from(vocabulary), min_size=1, unique=True)))  # fmt: skip
    if type(kind).__name__ == "Numeric":
        if reach(value, schema) is not None and draw(st.booleans()):
            return None
        if draw(st.booleans()):
            return Category(draw(st.sampled_from([[0, 1], [2, -3, 10**24], range(-3, 12)])))  # fmt: skip
        return draw(a.number_columns())
    if type(kind).__name__ == "Nothing":
        return Integer(0, 3)
    return draw(st.sampled_from([None, Boolean()]))


DERIVED = ("d0", "D 1", 'd"2')


@st.composite
def plans(draw, unit=a.ADDED_OR_REMOVED):
    """Questions about derived columns, which may use one another."""
    own = draw(a.schemas(unit))
    query, schema = ask.Query(), own
    for name in DERIVED[: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from([numbers, numbers, texts, computed]))
        value = draw(kind(schema))
        node = value_of(value)
        column = declared(draw, node, schema)
        query = query.derive(name, value, column)
        schema = widened(query, own)
    groupable = _of(schema, Category, Boolean)
    keys = draw(st.lists(st.sampled_from(groupable), max_size=2, unique=True))
    query = query.group_by(*keys)
    if draw(st.booleans()):
        query = query.where(draw(computed(schema)))
    asked = [about(draw, schema, name) for name in schema if name in DERIVED]
    asked += [draw(a.statistics(own))]
    return make_plan(query.select(*asked), own, 1)


def about(draw, schema, name):
    """One statistic about a derived column."""
    column = schema[name]
    if isinstance(column, Category):
        return draw(st.sampled_from([ask.count(name), ask.histogram(name), ask.proportion(name, column.values[0])]))  # fmt: skip
    if isinstance(column, Boolean):
        return draw(st.sampled_from([ask.count(name), ask.histogram(name), ask.mean(name)]))  # fmt: skip
    inner = (column.lower, (column.lower + column.upper) / 2, column.upper)
    edges = sorted(set(inner))
    return draw(st.sampled_from([ask.count(name), ask.sum(name), ask.mean(name), ask.variance(name), ask.median(name), ask.histogram(name, edges)]))  # fmt: skip
