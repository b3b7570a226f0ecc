"""A plan in words: what is measured, how it is protected, what to expect, which SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import inf
from types import MappingProxyType
from typing import final, get_args

from sfumato.account import Gaussian, Geometric, KNorm, Selection, Threshold, loss_text
from sfumato.declare.query import Query
from sfumato.declare.unit import PrivacyUnit
from sfumato.engine.compiled import NOT_RUN, Target, statement
from sfumato.engine.dialect import Dialect
from sfumato.plan import Expected, Plan, Step, expected_errors
from sfumato.release.asked import question_words, statistic_words
from sfumato.release.loss import stored_words
from sfumato.release.noted import measured_words
from sfumato.release.protected import protected_words
from sfumato.release.text import aligned, visible
from sfumato.release.tongue import language_asked
from sfumato.words import N_, language, speaker

__all__ = ["Explanation", "Measured", "cost_words", "explain", "threshold_words"]

_THOUSAND, _LONG = 1e3, 1e12
_SEEN = 0.95


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """One vector of exact integers, and how it is protected.

    Attributes:
        what: The aggregate and its column; behind a bar, columns that must have a value.
        cells: How many integers there are.
        change: How far one unit can move them, in the norm of the mechanism: in L1 for
            geometric noise, in L2 for Gaussian noise, each by itself under joint noise;
            under a choice, any one count.
        law: The law of the noise or of the choice.
        scale: Its scale, in the integers' own steps.
        step: Number of the step it belongs to, from 1; one step is one charge.
        charge: What the step costs, for all that it measures.
        share: The step's share of the plan's cost, from 0 to 1.
    """

    what: str
    cells: int
    change: float
    law: str
    scale: float
    step: int
    charge: str
    share: float


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that is known of an answer before any row is read.

    Attributes:
        question: The question in words.
        dataset: Whose budget pays.
        cost: What a release would debit.
        unit: Who or what is protected, as declared.
        measured: What is measured, in the order of the plan.
        expected: The expected error of each figure.
        engine: The dialect of the session's own engine.
        sql: The statement in each dialect, that of the session's own engine first, for
            columns that are stored as they are declared. How those of the table are
            stored is not told, though a statement that is run is fitted to it: that may
            follow from how many rows there are, and from missing cells.
        whom: The declared unit itself.
        query: The question itself.
        unknown: The rule by which unknown keys are shown; none where all are public.
    """

    question: str
    dataset: str
    cost: str
    unit: str
    measured: tuple[Measured, ...]
    expected: tuple[Expected, ...]
    engine: str
    sql: Mapping[str, str] = field(repr=False)
    whom: PrivacyUnit = field(repr=False)
    query: Query = field(repr=False)
    unknown: Threshold | None = field(repr=False)

    def to_text(self, *, lang: str | None = None) -> str:
        """Return the tables and the SQL for a terminal.

        Args:
            lang: ``"en"`` or ``"zh"``; default: the language of the locale.
        """
        say = speaker(language_asked(lang))
        lines = [*self._head(lang), ""]
        for table, right in self._tables(lang):
            lines += [*aligned(table, right=right), ""]
        if self.sql:
            lines += [say(N_("SQL ({engine})"), engine=self.engine)]
            lines.append(visible(self.sql[self.engine]))
        return "\n".join(lines).rstrip()

    def brief(self, *, lang: str | None = None) -> str:
        """Return the question, its cost and the expected errors alone, for a terminal.

        Args:
            lang: ``"en"`` or ``"zh"``; default: the language of the locale.
        """
        table, right = self._tables(lang)[-1]
        return "\n".join([*self._head(lang), "", *aligned(table, right=right)])

    def _head(self, lang: str | None) -> list[str]:
        say = speaker(language_asked(lang))
        told = threshold_words(self.unknown, self.whom, say)
        return [self._asked(say), self._costs(lang), *([told] if told else [])]

    def _asked(self, say: Callable[..., str]) -> str:
        query = self.query
        plain = [s.name for s in query.statistics]
        told = statistic_words(query.statistics, say), query.keys
        return question_words(self.question, plain, told, say)

    def _costs(self, lang: str | None) -> str:
        say = speaker(language_asked(lang))
        return say(
            N_("costs {cost} of the budget of {dataset}; {protected}"),
            cost=cost_words(self.cost),
            dataset=visible(self.dataset),
            protected=protected_words(self.whom, say),
        )

    def _tables(
        self, lang: str | None
    ) -> list[tuple[list[list[str]], tuple[int, ...]]]:
        return [
            (_measured_table(self.measured, lang), (1, 2, 4, 5)),
            (_expected_table(self.expected, lang, self.query), (1, 2)),
        ]

    def __str__(self) -> str:
        """Render for a terminal, in the language of the locale."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Render for a notebook, in the language of the locale."""
        say = speaker(language(None))
        asked, *told = map(escape, self._head(None))
        tables = "".join(_html(t, right) for t, right in self._tables(None))
        sql = "".join(
            f"<details><summary>{escape(say(N_('SQL ({engine})'), engine=name))}"
            f"</summary><pre>{escape(visible(text))}</pre></details>"
            for name, text in self.sql.items()
        )
        return (
            f'<div class="sfumato-plan"><p><b>{asked}</b><br>{"<br>".join(told)}</p>'
            f"{tables}{sql}</div>"
        )


def explain(
    plan: Plan,
    *,
    dialect: Dialect | None,
    rows: int = 1000,
) -> Explanation:
    """Explain a plan; pure, reads no row and costs nothing.

    Args:
        plan: The plan.
        dialect: That of the session's engine; none leaves out the SQL.
        rows: A public guess of the number of rows, on which means depend.
    """
    sql: dict[str, str] = {}
    if dialect is not None and plan.parts:
        targets: tuple[Target, ...] = get_args(Target)
        ordered = sorted(targets, key=lambda target: target != dialect.name)
        sql = {target: _stated(plan, target) for target in ordered}
    total = sum(plan.charge(step).units for step in plan.steps) or 1
    return Explanation(
        question=str(plan.query),
        dataset=plan.dataset,
        cost=loss_text(plan.cost),
        unit=repr(plan.schema.unit),
        whom=plan.schema.unit,
        query=plan.query,
        unknown=plan.threshold,
        measured=tuple(
            _measured(plan, number, part, plan.charge(step).units / total)
            for number, step in enumerate(plan.steps)
            for part in step.parts
        ),
        expected=expected_errors(plan, rows=rows),
        engine="" if dialect is None else dialect.name,
        sql=MappingProxyType(sql),
    )


def threshold_words(
    unknown: Threshold | None, unit: PrivacyUnit, say: Callable[..., str]
) -> str:
    """Tell beforehand which unknown keys will be shown; nothing where all are public."""
    if unknown is None:
        return ""
    text = N_(
        "Unknown keys: each is shown if its noisy count is {least} or more. A key of "
        "{visible} rows is shown with 95 %, a key of one row with {delta} at most."
    )
    if unit.name == "person":
        text = N_(
            "Unknown keys: each is shown if its noisy count of people is {least} or more. "
            "A key of {visible} people is shown with 95 %; one of the keys that one person "
            "alone has, with {delta} at most."
        )
    return say(
        text,
        least=unknown.least,
        visible=unknown.visible(_SEEN),
        delta=f"{float(unknown.cost.delta):.6g}",
    )


def cost_words(cost: str) -> str:
    """Return a stored loss as it is shown, with the name that its ρ has in the field.

    Examples:
        >>> cost_words("zcdp 0.1"), cost_words("epsilon 0.5")
        ('zCDP ρ 0.1', 'ε 0.5')
    """
    return f"{'zCDP ' if cost.startswith('zcdp ') else ''}{stored_words(cost)}"


def _stated(plan: Plan, target: Target) -> str:
    mark = f"{NOT_RUN}\n" if target in ("bigquery", "snowflake") else ""
    return mark + statement(plan, target)


def _measured(plan: Plan, number: int, part: int, share: float) -> Measured:
    step, measured = plan.steps[number], plan.parts[part]
    kind = type(measured.aggregate).__name__
    column = getattr(measured.aggregate, "column", None)
    among = getattr(measured.aggregate, "among", ())
    if among:
        column = f"{column} | {', '.join(among)}"
    change, law, scale = _law(step, step.parts.index(part))
    return Measured(
        f"{kind}({column})" if column else kind,
        measured.cells,
        change,
        law,
        scale,
        number + 1,
        loss_text(plan.charge(step)),
        share,
    )


def _law(step: Step, place: int) -> tuple[float, str, float]:
    """Return the largest change, the law and its scale."""
    m = step.mechanism
    match m:
        case KNorm():
            change = m.bounds[place] * m.rows
            return float(change), "k_norm", change / float(m.cost.value)
        case Geometric():
            return float(m.sensitivity), "geometric", float(m.scale)
        case Gaussian():
            return float(m.squared_sensitivity) ** 0.5, "gaussian", float(m.scale)
        case Selection():
            return float(m.sensitivity), m.law, float(1 / m.rate)
        case Threshold():
            return float(m.keys ** (0.5 if m.law == "gaussian" else 1)), m.law, float(m.scale)  # fmt: skip


_LAWS = {
    "k_norm": N_("joint, in step {step}"),
    "geometric": N_("two-sided geometric"),
    "truncated_geometric": N_("two-sided geometric, cut off"),
    "gaussian": N_("Gaussian"),
    "permute_and_flip": N_("choice by permute-and-flip"),
    "exponential": N_("choice by the exponential mechanism"),
}


def _measured_table(measured: Sequence[Measured], lang: str | None) -> list[list[str]]:
    say = speaker(language_asked(lang))
    heads = [
        say(N_("measured")),
        say(N_("integers")),
        say(N_("largest change by one unit")),
        say(N_("law of the noise")),
        say(N_("scale")),
        say(N_("share")),
        say(N_("charge")),
    ]
    rows = [
        [
            measured_words(m.what, say),
            f"{m.cells:,}",
            _number(m.change),
            say(_LAWS[m.law], step=m.step),
            _number(m.scale),
            f"{m.share:.1%}",
            stored_words(m.charge),
        ]
        for m in measured
    ]
    return [heads, *rows]


def _expected_table(
    expected: Sequence[Expected], lang: str | None, query: Query
) -> list[list[str]]:
    say = speaker(language_asked(lang))
    supposing = N_("{rows} rows per group") if query.keys else N_("{rows} rows")
    heads = [
        say(N_("figure")),
        say(N_("expected error")),
        say(N_("at most, 95 times in 100")),
        say(N_("supposing")),
    ]
    rows = [
        [
            visible(e.name),
            _number(e.mean_absolute),
            _number(e.error),
            say(supposing, rows=_number(e.rows)) if e.rows else "",
        ]
        for e in expected
    ]
    return [heads, *rows]


def _number(value: float) -> str:
    if value == inf:
        return "∞"
    return f"{value:,.0f}" if _THOUSAND <= abs(value) < _LONG else f"{value:.3g}"


def _html(table: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        sides = ("right" if i in right else "left" for i, _ in enumerate(cells))
        inner = "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{inner}</tr>"

    heads, *rows = table
    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>"
