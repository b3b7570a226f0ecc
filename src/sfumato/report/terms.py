"""The guarantee in one precise sentence for each kind of budget, and what it protects."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.account.deployment import DEPLOYMENTS, SCENARIOS, Deployment
from sfumato.account.loss import ATTO, decimal_text
from sfumato.release.loss import failing, read, symbol
from sfumato.release.record import Claim
from sfumato.release.wording import Say
from sfumato.report.cost import Risks
from sfumato.words import N_

__all__ = ["Other", "budget_words", "guarantee", "many_rows", "others", "scenarios"]

_THEOREMS = {
    "epsilon": N_(
        "Pure differential privacy: between any two neighbouring tables, the probability "
        "of any set of results differs at most by the factor exp(ε)."
    ),
    "zcdp": N_(
        "Zero-concentrated differential privacy: for any two neighbouring tables and every "
        "order α > 1, the Rényi divergence of order α between the distributions of the "
        "results is at most αρ."
    ),
    "gdp": N_(
        "Gaussian differential privacy: to tell any two neighbouring tables apart by the "
        "results is at least as hard as to tell a normal distribution from the same one "
        "shifted by μ = √(2ρ) standard deviations."
    ),
}
_FAILING = N_(
    "Approximate zero-concentrated differential privacy: for any two neighbouring tables "
    "and every order α > 1, the Rényi divergence of order α between the distributions of "
    "the results is at most αρ, outside an event of probability {delta}."
)
_APPROXIMATE = {
    "zcdp": N_(
        "Hence approximate differential privacy: between any two neighbouring tables, the "
        "probability of any set of results is at most exp(ε) times as large, plus δ "
        "(Canonne, Kamath and Steinke 2020, Corollary 13)."
    ),
    "gdp": N_(
        "Hence approximate differential privacy: between any two neighbouring tables, the "
        "probability of any set of results is at most exp(ε) times as large, plus δ (Balle "
        "and Wang 2018, Theorem 8)."
    ),
}
_RELATIONS = {
    ("row", "add_remove"): N_(
        "Tables are neighbours if one has one row more than the other; the number of rows "
        "is itself protected."
    ),
    ("row", "replace_one"): N_(
        "Tables are neighbours if they differ in the content of one row; the number of rows "
        "is public."
    ),
    ("person", "add_remove"): N_(
        "Tables are neighbours if one has all rows of one person more than the other; the "
        "number of people is itself protected."
    ),
    ("person", "replace_one"): N_(
        "Tables are neighbours if they differ in the rows of one person; the number of "
        "people is public."
    ),
}
_IN_EACH = N_(
    "Tables are neighbours if they differ by up to one row, added or removed, in each of "
    "{tables} united tables; the number of rows is itself protected."
)
_MANY = {
    "epsilon": N_(
        "The bounds count one row per person: whoever has k rows is protected with k times "
        "ε."
    ),
    "rho": N_(
        "The bounds count one row per person: whoever has k rows is protected with k² times "
        "ρ."
    ),
}
_MANY_IN_EACH = {
    "epsilon": N_(
        "The bounds count one row per person in each table: whoever has up to k rows in "
        "each is protected with k times ε."
    ),
    "rho": N_(
        "The bounds count one row per person in each table: whoever has up to k rows in "
        "each is protected with k² times ρ."
    ),
}


@dataclass(frozen=True, slots=True)
class Other:
    """A public deployment, as ready words."""

    name: str
    epsilon: str
    delta: str
    unit: str
    source: str


def guarantee(claim: Claim, say: Say) -> tuple[str, ...]:
    """Return the theorem's sentence, its (ε, δ) form if a δ is named, the relation."""
    inside = failing(read(claim.measure, claim.loss))
    theorem = _FAILING if inside else _THEOREMS[claim.measure]
    said = [say(theorem, delta=decimal_text(int(inside * ATTO), 18))]
    if claim.epsilon is not None and claim.measure in _APPROXIMATE:
        said.append(say(_APPROXIMATE[claim.measure]))
    known = _RELATIONS.get((claim.unit, claim.neighbours))
    if claim.unit == "row" and claim.tables > 1:
        known = _IN_EACH
    if known:
        said.append(say(known, tables=claim.tables))
    return tuple(said)


def many_rows(claim: Claim, say: Say) -> str:
    """Say what holds for a person with several rows (Bun, Steinke 2016, Prop. 1.9)."""
    if claim.unit == "person":
        return say(N_("The bounds hold for one person with all rows together."))
    if failing(read(claim.measure, claim.loss)):
        if claim.tables > 1:
            return say(N_("The bounds count one row per person in each table."))
        return say(N_("The bounds count one row per person."))
    many = _MANY_IN_EACH if claim.tables > 1 else _MANY
    return say(many["epsilon" if claim.measure == "epsilon" else "rho"])


def budget_words(
    claim: Claim, risks: Risks, terms: dict[str, str], say: Say
) -> tuple[str, ...]:
    """Say in which currency the budget is kept, with unit and neighbours."""
    if claim.measure == "epsilon" or not risks.named:
        return (
            say(
                N_(
                    "The dataset has one budget for all releases together, in {letter} "
                    "({unit}; {neighbours}). What is spent never comes back."
                ),
                letter=symbol(claim.measure),
                **terms,
            ),
        )
    return (
        say(
            N_(
                "The dataset has one budget for all releases together: ε = {epsilon} at "
                "δ = {delta} ({unit}; {neighbours}). What is spent never comes back."
            ),
            epsilon=risks.cap.epsilon,
            delta=risks.delta,
            **terms,
        ),
        say(
            N_(
                "It is kept as the ρ that it converts to, because charges in ρ add up: "
                "several releases cost less ε together than one by one."
            )
        ),
    )


def others(say: Say) -> tuple[Other, ...]:
    """Return public deployments: what was read of each, and nothing else."""
    return tuple(_other(deployment, say) for deployment in DEPLOYMENTS)


def _other(known: Deployment, say: Say) -> Other:
    low, high = known.epsilon, known.epsilon_to
    secondary = N_("a summary by others")
    return Other(
        say(known.name),
        low if low == high else say(N_("{low} to {high}"), low=low, high=high),
        known.delta or say(N_("not stated")),
        say(known.unit) if known.unit else say(N_("not stated")),
        say(N_("its maker") if known.source == "primary" else secondary),
    )


def scenarios(say: Say) -> tuple[str, ...]:
    """Return the ranges of ε that the tutorials suggest for kinds of use."""
    return tuple(
        say(N_("{use}: {low} to {high}"), use=say(s.name), low=s.low, high=s.high)
        for s in SCENARIOS
    )
