"""What a release promises, in words: its loss, never without its terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from sfumato.account import Loss, epsilon_at
from sfumato.release.loss import FAILING, amount_words, brief, read
from sfumato.release.record import Claim, Release
from sfumato.release.wording import Say, neighbour_words, unit_words
from sfumato.words import N_

__all__ = [
    "hidden_words",
    "interval_words",
    "loss_words",
    "promise",
    "together",
    "uncounted_words",
]

_ALONE = {
    "zcdp": N_("ρ = {loss} (zero-concentrated)"),
    "gdp": N_("ρ = {loss} (Gaussian noise)"),
}
_CONVERTED = {
    "zcdp": N_("ε = {epsilon}, δ = {delta} (ρ = {loss} zero-concentrated)"),
    "gdp": N_("ε = {epsilon}, δ = {delta} (ρ = {loss} of Gaussian noise)"),
}


def loss_words(claim: Claim, say: Say) -> str:
    """Return the loss, and as (ε, δ) too where the budget names a δ.

    An amount in the currency that the asker chose stands exactly; where ρ and ε are
    converted, both are rounded up, so that each is a bound that holds.
    """
    if claim.measure == "epsilon":
        amount, failing, delta = claim.loss.partition(FAILING)
        text = N_("ε = {loss}, δ = {delta}") if failing else N_("ε = {loss}, δ = 0")
        return say(text, loss=amount, delta=delta)
    if claim.epsilon is None:
        return say(_ALONE[claim.measure], loss=amount_words(claim.loss))
    return say(
        _CONVERTED[claim.measure],
        epsilon=brief(read("epsilon", claim.epsilon)),
        delta=claim.delta,
        loss=brief(read(claim.measure, claim.loss)),
    )


def together(claims: Sequence[Claim]) -> Claim:
    """Return one claim of releases that one budget pays for: their losses add up.

    The ε of the sum is that of the summed ρ, and not the sum of their ε, which is more.

    Examples:
        >>> from sfumato.release.record import Receipt
        >>> paid = Receipt("pima", 1, "0.01", "0.01", "1", "ab", "2025-01-01T00:00:00Z")
        >>> one = Claim("zcdp", "0.01", "0.68", "0.000001", "row", "add_remove", None, paid)
        >>> together([one, one]).loss, together([one, one]).epsilon
        ('0.02', '0.899935267661')
    """
    first = claims[0]
    whole: Loss = reduce(add, (read(one.measure, one.loss) for one in claims))
    told = None if first.epsilon is None else epsilon_at(whole, first.delta)
    return replace(
        first,
        loss=str(whole),
        epsilon=None if told is None else str(told),
        private=all(one.private for one in claims),
    )


def hidden_words(release: Release, say: Say) -> tuple[str, ...]:
    """Say which keys a release may have left out; nothing where all are public."""
    least = next((m.threshold for m in release.measurements if m.threshold), None)
    if least is None:
        return ()
    text = N_(
        "Keys of few rows are not shown: a key is shown if its noisy count is {least} or "
        "more."
    )
    if release.claim.unit == "person":
        text = N_(
            "Keys of few people are not shown: a key is shown if its noisy count of people "
            "is {least} or more."
        )
    none = () if release.figures else (say(N_("No key had enough rows.")),)
    return (*none, say(text, least=least))


def interval_words(claim: Claim, say: Say) -> tuple[str, ...]:
    """Say what no interval covers: the sample, and what of a person does not count."""
    said = say(N_("The intervals cover the noise only, not the choice of the sample."))
    uncounted = uncounted_words(claim, say)
    return (said, uncounted) if uncounted else (said,)


def uncounted_words(claim: Claim, say: Say) -> str:
    """Say what of a person does not count; nothing where a unit is a row."""
    if claim.bounds is None:
        return ""
    text = N_(
        "A person's rows count only up to {rows} in a group, her groups only up to "
        "{groups}: counts and sums may lie below the table's, and no interval covers the "
        "difference."
    )
    rows, groups = claim.bounds.max_rows, claim.bounds.max_groups
    return say(text, rows=rows, groups=groups)


def promise(claim: Claim, say: Say) -> str:
    """Return what is promised, in full: no loss is printed without these terms.

    Examples:
        >>> from dataclasses import replace
        >>> from sfumato.release.record import Receipt
        >>> from sfumato.words import speaker
        >>> paid = Receipt("pima", 1, "0.01", "0.01", "1", "ab", "2025-01-01T00:00:00Z")
        >>> claim = Claim("epsilon", "0.5", "0.5", "0", "row", "add_remove", None, paid)
        >>> promise(claim, speaker("en"))
        'ε = 0.5, δ = 0; protected unit: one row; neighbours: add or remove one row'
        >>> loss_words(replace(claim, measure="zcdp", epsilon=None), speaker("en"))
        'ρ = 0.5 (zero-concentrated)'
    """
    terms = say(
        N_("{loss}; protected unit: {unit}; neighbours: {neighbours}"),
        loss=loss_words(claim, say),
        unit=unit_words(claim, say),
        neighbours=neighbour_words(claim, say),
    )
    if claim.private:
        return terms
    return say(N_("NOT PRIVATE; with real noise it would be: {terms}"), terms=terms)
