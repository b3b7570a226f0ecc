"""What a user asks to spend, in the currency of the budget that pays."""

from __future__ import annotations

from fractions import Fraction

from sfumato.account.budget import ApproxDP, Budget, Loss
from sfumato.account.convert import gaussian_rho, zcdp_rho
from sfumato.account.loss import ATTO, Epsilon, decimal_text
from sfumato.account.rho import GDP, ZCDP, read_delta
from sfumato.amount import Amount
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["loss_of", "told_delta", "with_delta"]


def loss_of(
    budget: Budget,
    epsilon: Amount | Loss | None = None,
    rho: Amount | None = None,
    delta: Amount | None = None,
) -> Loss:
    """Read what to spend; exactly one of ε and ρ is given, and a δ for unknown keys.

    Under an (ε, δ) budget an ε means what the release would have alone at the budget's
    δ; it is the largest ρ that converts to it, rounded down. The δ of unknown keys is
    charged beside it, to the part of the budget's δ that is kept for them.

    Raises:
        DeclarationError: None or both are given, the budget has another currency, or it
            holds no δ for unknown keys.

    Examples:
        >>> loss_of(Epsilon("1"), "0.5"), loss_of(ZCDP("0.1"), rho="0.02")
        (Epsilon("0.5"), ZCDP("0.02"))
        >>> loss_of(ApproxDP("1", "1e-6"), "0.5")
        ZCDP("0.006641524356")
        >>> loss_of(Epsilon("1", "1e-6"), "0.5", delta="1e-7")
        Epsilon("0.5", "0.0000001")
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
    return with_delta(budget, wanted, read_delta(delta))


def with_delta(budget: Budget, loss: Loss, delta_units: int) -> Loss:
    """Return the loss with a δ for unknown keys beside it.

    Raises:
        DeclarationError: The budget holds none.
    """
    cap = budget.cap
    if not delta_units:
        return loss
    if isinstance(cap, GDP) or isinstance(loss, GDP) or not cap.delta_units:
        raise DeclarationError(
            N_("the budget holds no delta for unknown keys"),
            hint=N_(
                'open it as Epsilon("1", "1e-6"), ZCDP("0.1", "1e-6") or '
                'ApproxDP("1", "2e-6", threshold_delta="1e-6")'
            ),
        )
    return type(loss).from_units(loss.units, loss.delta_units + delta_units)


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
    spare = 0 if isinstance(budget.cap, GDP) else budget.cap.delta_units
    delta = Fraction(budget.delta_units - spare, ATTO)
    gaussian = isinstance(budget.cap, GDP)
    units = (gaussian_rho if gaussian else zcdp_rho)(loss.value, delta)
    if not units:
        raise DeclarationError(
            N_("epsilon {epsilon} at this delta is less than 1e-12 of rho"),
            hint=N_("such an answer would be noise only; write a larger epsilon"),
            epsilon=loss,
        )
    return (
        GDP.from_units(units) if gaussian else ZCDP.from_units(units, loss.delta_units)
    )


def told_delta(budget: Budget) -> str:
    """Return the δ at which releases of a budget are told as an ε; ``"0"`` for none."""
    if isinstance(budget, ApproxDP):
        return decimal_text(budget.delta_units, 18)
    return "0"
