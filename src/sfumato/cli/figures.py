"""The figures of a plan in words, before they exist."""

from __future__ import annotations

from sfumato.cli.tongue import say
from sfumato.declare.calendar import DAYS
from sfumato.declare.query import Count, Crosstab, Histogram, Mode
from sfumato.plan import Plan, unit_of
from sfumato.release.asked import question_words, statistic_words
from sfumato.release.wording import measure_words

__all__ = ["figure_names", "figure_units", "plan_words"]


def figure_names(plan: Plan) -> list[str]:
    """Name the figures as a release will."""
    return statistic_words(plan.query.statistics, say)


def plan_words(plan: Plan) -> str:
    """Return the question of a plan in words, as a release will."""
    query = plan.query
    plain = [s.name for s in query.statistics]
    return question_words(str(query), plain, (figure_names(plan), query.keys), say)


def figure_units(plan: Plan, *, words: bool = True) -> list[str]:
    """Return the unit of each figure's error; shares and correlations have none.

    Args:
        plan: The plan.
        words: In the reader's language; else as a program reads it.
    """
    found = []
    for s in plan.query.statistics:
        about = s.column, getattr(s, "other", None)
        unit = unit_of(plan.schema, s, *about)
        if isinstance(s, Count | Histogram | Crosstab | Mode):
            unit = "rows"
        elif unit == DAYS:  # a day, whose error is a number of them
            unit = "days"
        found.append(measure_words(unit, say, *about) if words else unit)
    return found
