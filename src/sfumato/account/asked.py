"""What a user asks to spend, in the currency of the budget that pays."""

from __future__ import annotations

from fractions import Fraction

from sfumato.account.budget import ApproxDP, Budget, Loss
from sfumato.account.convert import gaussian_rho, zcdp_rho
from sfumato.account.loss import ATTO, Epsilon, decimal_text
from sfumato.account.rho import GDP, ZCDP
from sfumato.amount import Amount
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["loss_of", "told_delta"]


def loss_of(
    budget: Budget, epsilon: Amount | Loss | None = None, rho: Amount | None = None
) -> Loss:
    """Read what to spend; exactly one of the two is given.

    Under an (ε, δ) budget an ε means what the release would have alone at the budget's
    δ; it is the largest ρ that converts to it, rounded down.

    Raises:
        DeclarationError: None or both are given, or the budget has another currency.

    Examples:
        >>> loss_of(Epsilon("1"), "0.5"), loss_of(ZCDP("0.1"), rho="0.02")
        (Epsilon("0.5"), ZCDP("0.02"))
        >>> loss_of(ApproxDP("1", "1e-6"), "0.5")
        ZCDP("0.006641524356")
    """
    if (epsilon is None) == (rho is None):
        raise DeclarationError(
            N_("say what to spend: either epsilon or rho"),
            hint=N_('write release(epsilon="0.5"), or release(rho="0.01")'),
        )
    wanted = _read(budget, epsilon, rho)
    if wanted.measure != budget.measure:
        raise DeclarationError(
            N_("the budget is kept in {budget}, not in {asked}"),
            hint=N_("spend {budget} from it"),
            budget=_WORDS[budget.measure],
            asked=_WORDS[wanted.measure],
        )
    return wanted


_WORDS = {"epsilon": "epsilon", "zcdp": "rho", "gdp": "Gaussian rho"}


def _read(budget: Budget, epsilon: Amount | Loss | None, rho: Amount | None) -> Loss:
    if rho is not None:
        units = ZCDP(rho).units
        whole = budget.measure == "gdp"
        return GDP.from_units(units) if whole else ZCDP.from_units(units)
    if isinstance(epsilon, ZCDP | GDP):
        return epsilon
    loss = Epsilon(epsilon if epsilon is not None else 0)
    if not isinstance(budget, ApproxDP) or budget.measure == "epsilon":
        return loss
    spare = budget.cap.delta_units if isinstance(budget.cap, ZCDP) else 0
    delta = Fraction(budget.delta_units - spare, ATTO)
    gaussian = isinstance(budget.cap, GDP)
    units = (gaussian_rho if gaussian else zcdp_rho)(loss.value, delta)
    if not units:
        raise DeclarationError(
            N_("epsilon {epsilon} at this delta is less than 1e-12 of rho"),
            hint=N_("such an answer would be noise only; write a larger epsilon"),
            epsilon=loss,
        )
    return GDP.from_units(units) if gaussian else ZCDP.from_units(units)


def told_delta(budget: Budget) -> str:
    """Return the δ at which releases of a budget are told as an ε; ``"0"`` for none."""
    if isinstance(budget, ApproxDP):
        return decimal_text(budget.delta_units, 18)
    return "0"
