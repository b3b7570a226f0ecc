"""What ε means, in words: odds first, because people judge them best."""

from __future__ import annotations

from sfumato.account import Epsilon, odds
from sfumato.cli.table import number
from sfumato.cli.tongue import say
from sfumato.declare.unit import Rows
from sfumato.words import N_

__all__ = ["cost_words", "unit_words"]


def cost_words(epsilon: Epsilon) -> list[str]:
    """Say what one cost means for the person behind a row."""
    known = odds(epsilon)
    return [
        say(
            N_(
                "Whatever an attacker knows: being in the table multiplies the odds of "
                "any conclusion about a person by at most {factor}."
            ),
            factor=number(known.factor),
        ),
        say(
            N_(
                "Of 100 people, even the best attacker tells for about {right} "
                "whether their data were used; tossing a coin is right for 50."
            ),
            right=known.of_100_with,
        ),
    ]


def unit_words(unit: Rows) -> str:
    """Say whom the guarantee protects and between which tables it holds."""
    if unit.neighbours == "add_remove":
        return say(N_("protected unit: one row; neighbours: add or remove one row"))
    return say(
        N_(
            "protected unit: one row; neighbours: replace one row of {size}, "
            "a public number"
        ),
        size=unit.size,
    )
