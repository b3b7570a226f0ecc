"""Choices: ``when(condition).then(value).otherwise(value)``."""

from __future__ import annotations

from typing import final

from sfumato.declare.expr import Expr, Operand, Operators, Term, value_of
from sfumato.declare.value import Choice, Missing, Value
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["When", "when"]


@final
class When:
    """Branches in the making; ``then`` must follow."""

    __slots__ = ("_branches", "_condition")

    def __init__(
        self, condition: Expr, branches: tuple[tuple[Expr, Value], ...] = ()
    ) -> None:
        """Begin a branch."""
        if not isinstance(condition, Expr):
            raise DeclarationError(
                N_("{value} is not a condition"),
                hint=N_('write, for example, when(col("Age") >= 30)'),
                value=type(condition).__name__,
            )
        self._condition, self._branches = condition, branches

    def then(self, value: Operand) -> _Then:
        """Say the value where the condition is true."""
        return _Then((*self._branches, (self._condition, value_of(value))))


@final
class _Then(Operators):
    """Branches so far; without ``otherwise`` all other rows are missing."""

    __slots__ = ("_branches",)

    def __init__(self, branches: tuple[tuple[Expr, Value], ...]) -> None:
        self.value = Choice(branches, Missing())
        self._branches = branches

    def when(self, condition: Expr) -> When:
        """Begin another branch, for rows where no condition before was true."""
        return When(condition, self._branches)

    def otherwise(self, value: Operand) -> Term:
        """Say the value of all other rows."""
        return Term(Choice(self._branches, value_of(value)))


def when(condition: Expr) -> When:
    """Begin a choice: ``when(col("Age") < 18).then("minor").otherwise("adult")``.

    A condition that is missing counts as not true, as in SQL.

    Examples:
        >>> from sfumato.declare.expr import col
        >>> print(when(col("Age") < 18).then("minor").otherwise("adult").value)
        (when Age < 18 then 'minor' otherwise 'adult')
    """
    return When(condition)
