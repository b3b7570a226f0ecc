"""Carry out a project: all checks first, then debit and release one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

from sfumato.account import Loss
from sfumato.project.budget import told_elsewhere
from sfumato.project.load import Asked, Project
from sfumato.project.standing import Standing, afford
from sfumato.project.unfinished import Request, State
from sfumato.question import SessionPlan
from sfumato.release import OwnerComparison, Release
from sfumato.session import Session

__all__ = ["Run", "due"]


def due(requests: Sequence[Request]) -> tuple[Asked, ...]:
    """Return the releases that a run must still pay for."""
    return tuple(r.asked for r in requests if r.state is not State.ANSWERED)


@final
class Run:
    """The releases of a project, on an open table and ledger.

    Args:
        project: The project.
        requests: The releases to make, each with the key to ask it under.
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
        requests: tuple[Request, ...],
        *,
        lang: str,
        in_memory: bool = False,
    ) -> None:
        """Open table and ledger and check the total; spends nothing."""
        with told_elsewhere():
            self._session = Session(
                project.dataset,
                project.budget,
                ledger=None if in_memory else project.ledger,
                limits=project.limits,
                anchor=None if in_memory else project.anchor,
            )
        afford(due(requests), Standing(self._session.left))
        self._requests, self._lang = requests, lang

    @property
    def left(self) -> Loss:
        """What can still be spent."""
        return self._session.left

    def releases(self) -> Iterator[Release]:
        """Debit and release, one by one; what was answered before is free.

        Raises:
            BudgetExceededError: Another process was quicker. Earlier releases stand.
            LedgerError: The ledger cannot be written. Earlier releases stand.
            EngineError: The engine failed; this debit and earlier releases stand.
        """
        for request in self._requests:
            asked = request.asked
            yield self._plan(asked).release(
                title=asked.title[self._lang],
                confidence=asked.confidence,
                request_key=request.key,
            )

    def comparisons(self, made: list[Release]) -> list[OwnerComparison]:
        """Set the true figures beside the released ones: for the owner's eyes only."""
        return [
            self._plan(request.asked).compare_for_owner(release)
            for request, release in zip(self._requests, made, strict=False)
        ]

    def _plan(self, asked: Asked) -> SessionPlan:
        return self._session.ask(asked.query).plan(asked.loss)
