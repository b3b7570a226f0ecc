"""What one fit may lose, and how it is shared over the mechanisms inside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from sfumato.account import (
    GDP,
    ApproxDP,
    Epsilon,
    Gaussian,
    Loss,
    Measure,
    charge,
    describe,
)
from sfumato.amount import Amount, exact
from sfumato.declare.unit import PrivacyUnit, Unit
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["About", "Neighbours", "Price", "Pure", "Rho", "read_price", "rows_counted"]

Neighbours: TypeAlias = Literal["add_remove", "replace_one"]
About: TypeAlias = tuple[Literal["row", "person"], Neighbours]
"""Whom a loss is about."""


@final
@dataclass(frozen=True, slots=True)
class Pure:
    """A share of pure ε for one mechanism.

    Attributes:
        epsilon: The share, for one row.
        changes: Rows that differ between neighbours: 1, or 2 where one is replaced.
    """

    epsilon: Epsilon
    changes: int

    def split(self, *weights: Fraction | int) -> tuple[Pure, ...]:
        """Cut into shares in proportion; their sum is exactly the whole."""
        return tuple(Pure(e, self.changes) for e in self.epsilon.split(weights))


@final
@dataclass(frozen=True, slots=True)
class Rho:
    """A share of Gaussian noise: ρ = μ²/2, for one mechanism.

    Attributes:
        rho: The share, for one row.
        changes: As in `Pure`.
    """

    rho: GDP
    changes: int

    def split(self, *weights: Fraction | int) -> tuple[Rho, ...]:
        """Cut into shares in proportion; their sum is exactly the whole."""
        return tuple(Rho(r, self.changes) for r in self.rho.split(weights))


@final
@dataclass(frozen=True, slots=True)
class Price:
    r"""What one fit may lose.

    Attributes:
        epsilon: The ε of the promise.
        delta: The δ of the promise, as exact text; ``"0"`` for pure ε.
        neighbours: Which tables count as neighbours.
        rows: Most rows of one protected person: the mechanisms inside lose ε/rows, or
            μ/rows (group privacy: Dwork, Roth 2014, Thm 2.2; Dong, Roth, Su 2022,
            Thm 2.14).
        persons: Whether persons rather than rows are protected.
    """

    epsilon: Epsilon
    delta: str
    neighbours: Neighbours
    rows: int = 1
    persons: bool = False

    @property
    def about(self) -> About:
        """Whom the loss is about."""
        return "person" if self.persons else "row", self.neighbours

    @property
    def pure(self) -> bool:
        """Whether δ is 0."""
        return self.delta == "0"

    @property
    def changes(self) -> int:
        """Rows that differ between neighbours, for one row per person."""
        return 2 if self.neighbours == "replace_one" else 1

    def share(self) -> Pure | Rho:
        """Return what the mechanisms inside may lose together, per row."""
        if self.pure:
            units = self.epsilon.units // self.rows
        else:
            units = self._rho.units // self.rows**2
        if not units:
            raise DeclarationError(
                N_("epsilon {epsilon} is too small for {rows} rows per person"),
                hint=N_("write a larger epsilon, or keep fewer rows per person"),
                epsilon=self.epsilon,
                rows=self.rows,
            )
        if self.pure:
            return Pure(Epsilon.from_units(units), self.changes)
        return Rho(GDP.from_units(units), self.changes)

    def loss(self, measure: Measure) -> Loss:
        """Return the charge in the currency of a budget.

        Raises:
            DeclarationError: The budget cannot pay for such noise. Nothing was spent.
        """
        if self.pure:
            return charge(self.epsilon, measure)
        return charge(Gaussian(1, self._rho), measure)

    def described(self) -> dict[str, str | int]:
        """Return the whole loss as one mechanism: what a ledger keeps for persons."""
        if self.pure:
            return dict(describe(self.epsilon))
        return dict(describe(Gaussian(1, self._rho)))

    @property
    def _rho(self) -> GDP:
        """ρ = μ²/2 of the exact Gaussian curve at (ε, δ), rounded down."""
        cap = ApproxDP(self.epsilon, self.delta, gaussian_only=True).cap
        assert isinstance(cap, GDP)  # noqa: S101  gaussian_only makes it so
        return cap


def read_price(
    epsilon: Amount | Epsilon | None,
    delta: Amount | None,
    neighbours: Any,
    rows: int | None = None,
    *,
    persons: bool = False,
) -> Price:
    """Read the privacy parameters of an estimator, exactly as written.

    Raises:
        DeclarationError: One is missing or out of range. Nothing was spent.

    Examples:
        >>> read_price("0.6", 0, "add_remove").share().epsilon
        Epsilon("0.6")
    """
    if epsilon is None:
        raise DeclarationError(
            N_("the estimator has no epsilon"),
            hint=N_(
                'say what a fit may lose, such as epsilon="0.6"; there is no default'
            ),
        )
    if neighbours not in ("add_remove", "replace_one"):
        raise DeclarationError(
            N_("unknown neighbour relation {name}"),
            hint=N_('use "add_remove" or "replace_one"'),
            name=repr(neighbours),
        )
    if persons and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
        raise DeclarationError(
            N_("privacy_ids need rows_per_person, got {value}"),
            hint=N_("say how many rows of one person may count, such as 3"),
            value=quoted(rows),
        )
    text = "0"
    if delta and exact(delta) != 0:
        whole = ApproxDP(epsilon, delta, gaussian_only=True)
        text = str(whole).partition("delta ")[2]
    most = rows if persons and rows else 1
    return Price(Epsilon(epsilon), text, neighbours, most, persons)


def rows_counted(unit: PrivacyUnit, own: Any, *, persons: bool) -> Any:
    """Return how many rows of one person count: the estimator's number, else the schema's.

    Raises:
        DeclarationError: The schema protects people, and nobody said whose each row is.
            Nothing was spent.
    """
    if not isinstance(unit, Unit):
        return own
    if not persons:
        raise DeclarationError(
            N_("the schema protects people, and this does not know whose each row is"),
            hint=N_("name them: fit(X, y, privacy_ids=table[{column}])"),
            column=repr(unit.column),
        )
    return unit.max_rows if own is None else own
