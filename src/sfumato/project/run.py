"""Carry out a project: all checks first, then debit and release one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from sfumato.account import Epsilon, Loss
from sfumato.errors import BudgetExceededError
from sfumato.ledger import Ledger
from sfumato.project.load import Asked, Project, total_cost
from sfumato.release import OwnerComparison, Release
from sfumato.session import Session, SessionPlan
from sfumato.words import N_

__all__ = ["Run", "afford", "budget_left"]


def budget_left(project: Project) -> Epsilon:
    """Return what the ledger has left; all of it when there is no ledger file yet.

    Raises:
        LedgerError: The ledger cannot be used.
    """
    if not project.ledger.exists():
        return project.budget
    ledger = Ledger(project.ledger, dataset=project.dataset.name, cap=project.budget)
    return ledger.left


def afford(releases: tuple[Asked, ...], left: Loss) -> None:
    """Refuse releases that cost more together than is left.

    Raises:
        BudgetExceededError: With both amounts. Nothing was spent.
    """
    cost = total_cost(releases)
    if not cost.fits(left):  # type: ignore[arg-type]
        raise BudgetExceededError(
            N_("the releases cost epsilon {cost} together, {left} is left"),
            hint=N_("lower their epsilon, or make only some of them: --only NAME"),
            cost=cost,
            left=left,
        )


@final
class Run:
    """The releases of a project, on an open table and ledger.

    Args:
        project: The project.
        releases: Those to make; see `Project.chosen`.
        lang: Language of their titles.
        in_memory: Keep the budget in memory: for a public table only.

    Raises:
        SourceError: The table cannot be opened as declared.
        LedgerError: The ledger cannot be used.
        BudgetExceededError: The releases cost more than is left. Nothing was spent.
    """

    def __init__(
        self,
        project: Project,
        releases: tuple[Asked, ...],
        *,
        lang: str,
        in_memory: bool = False,
    ) -> None:
        """Open table and ledger and check the total; spends nothing."""
        self._session = Session(
            project.dataset,
            project.budget,
            ledger=None if in_memory else project.ledger,
        )
        afford(releases, self._session.left)
        self._releases, self._lang = releases, lang

    @property
    def left(self) -> Loss:
        """What can still be spent."""
        return self._session.left

    def releases(self) -> Iterator[Release]:
        """Debit and release, one by one.

        Raises:
            BudgetExceededError: Another process was quicker. Earlier releases stand.
            EngineError: The engine failed; this debit and earlier releases stand.
        """
        for asked in self._releases:
            title = asked.title[self._lang]
            yield self._plan(asked).release(title=title, confidence=asked.confidence)

    def comparisons(self, made: list[Release]) -> list[OwnerComparison]:
        """Set the true figures beside the released ones: for the owner's eyes only."""
        return [
            self._plan(asked).compare_for_owner(release)
            for asked, release in zip(self._releases, made, strict=False)
        ]

    def _plan(self, asked: Asked) -> SessionPlan:
        return self._session.ask(asked.query).plan(asked.epsilon)
