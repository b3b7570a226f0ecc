"""Walks over conditions and computed values; none recurses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from sfumato.declare.logic import (
    Absent,
    And,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Member,
    Not,
    Or,
    Relation,
    StartsWith,
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

__all__ = ["children", "mentioned"]


def children(node: Expr | Value) -> Iterator[Expr | Value]:
    """Yield the parts of a node, in order."""
    match node:
        case And(left, right) | Or(left, right) | Relation(left, _, right):
            yield from (left, right)
        case Arithmetic(_, left, right):
            yield from (left, right)
        case Not(inner) | Member(inner) | Absent(inner) | StartsWith(inner):
            yield inner
        case Floor(inner) | Clip(inner) | Cut(inner):
            yield inner
        case Mapped(_, inner) | DatePart(_, inner):
            yield inner
        case Choice(branches, otherwise):
            for condition, value in branches:
                yield from (condition, value)
            yield otherwise
        case Truth(condition):
            yield condition
        case Compare() | IsIn() | IsMissing() | Name() | Constant() | Missing():
            pass
        case _:
            assert_never(node)


def mentioned(root: Expr | Value) -> frozenset[str]:
    """Return the columns that a condition or value reads.

    Examples:
        >>> from sfumato.declare.expr import col
        >>> sorted(mentioned((col("a") > col("b") + 1) & (col("c") == 2)))
        ['a', 'b', 'c']
    """
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Name | Compare | IsIn | IsMissing):
            found.add(node.column)
        waiting += children(node)
    return frozenset(found)
