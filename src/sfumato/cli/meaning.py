"""What ε means, in words: odds first, because people judge them best."""

from __future__ import annotations

from sfumato.account import Loss, odds
from sfumato.account.meaning import Odds
from sfumato.cli.money import small
from sfumato.cli.table import number
from sfumato.cli.tongue import say
from sfumato.declare.dataset import Dataset
from sfumato.release.protected import protected_words
from sfumato.words import N_

__all__ = ["TOLD", "cost_words", "odds_words", "unit_words"]

TOLD = "1e-6"  # the δ at which a ρ is told where no δ was declared


def cost_words(loss: Loss, delta: str = "0") -> list[str]:
    """Say what one cost means for the person behind a row.

    Args:
        loss: The cost.
        delta: The δ at which a ρ is told as an ε; ``"0"`` for the usual one.
    """
    return odds_words(odds(loss, delta=TOLD if delta == "0" else delta))


def odds_words(known: Odds) -> list[str]:
    """Say odds in words: how far a conclusion can move, how often a guess is right."""
    factor = number(known.factor)
    text = N_(
        "Whatever an attacker knows: being in the table multiplies the odds of "
        "any conclusion about a person by at most {factor}."
    )
    if known.delta:
        text = N_(
            "Whatever an attacker knows: being in the table multiplies the odds of "
            "any conclusion about a person by at most {factor}, except with a "
            "probability of {delta}."
        )
    return [
        say(text, factor=factor, delta=small(str(known.delta))),
        say(
            N_(
                "Even the best attacker tells rightly for about {right} of 100 people "
                "whether their data were used, against 50 of 100 by tossing a coin."
            ),
            right=known.of_100_with,
        ),
    ]


def unit_words(dataset: Dataset) -> str:
    """Say whom the guarantee protects and between which tables it holds."""
    tables = 1 + len(dataset.private)
    return protected_words(dataset.schema.unit, say, tables=tables)
