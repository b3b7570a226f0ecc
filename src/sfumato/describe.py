"""A session in words: what is public, what is left to spend, what can be asked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TypeAlias, assert_never, final

from sfumato.declare.calendar import EPOCH, Date
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    Text,
)
from sfumato.declare.unit import PrivacyUnit
from sfumato.release.loss import stored_words
from sfumato.release.protected import protected_words
from sfumato.release.text import aligned, visible
from sfumato.release.tongue import language_asked
from sfumato.release.wording import measure_words
from sfumato.words import N_, language, speaker

__all__ = ["Described", "Description", "declared_html", "describe", "schema_text"]

Tables: TypeAlias = Mapping[str, tuple[bool, tuple[str, ...]]]
_KEYS = 8  # shown on a screen; the declaration holds all
_SUMS = ("sum", "mean", "variance", "std")
_RANKS = ("median", "quantile", "near_minimum", "near_maximum")
_BINS = ("histogram", "mode")


@final
@dataclass(frozen=True, slots=True)
class Described:
    """One declared column.

    Attributes:
        name: Its name.
        kind: ``"real"``, ``"integer"``, ``"date"``, ``"category"``, ``"boolean"`` or
            ``"text"``.
        bounds: Lower and upper bound of a number, of days since 1970-01-01; else none.
        step: Grid of a number; else none.
        unit: Unit of measurement; may be empty.
        keys: The declared keys of a category or Boolean, in order; else empty.
        missing: Codes that mean "no value".
        complete: Whether every row is declared to have a value.
        alone: Functions that take this column alone; those of `edged` want edges too.
        edged: Which of these want public edges.
        together: Functions that take it with another column.
        groups: Whether rows can be grouped by it.
    """

    name: str
    kind: str
    bounds: tuple[float, float] | None
    step: float | None
    unit: str
    keys: tuple[str | int | bool, ...]
    missing: tuple[float, ...]
    complete: bool
    alone: tuple[str, ...]
    edged: tuple[str, ...]
    together: tuple[str, ...]
    groups: bool


@final
@dataclass(frozen=True, slots=True)
class Description:
    """The public facts of a session; no row was read for it and nothing spent.

    Attributes:
        dataset: Name of the dataset.
        unit: Who or what is protected, as declared.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        size: The public number of units; none where it is protected.
        budget: The whole budget.
        spent: What is spent so far, by all sessions on the ledger.
        left: What can still be spent.
        columns: The declared columns, in order.
        whom: The declared unit itself.
        tables: Other tables that can be joined or united, by name: whether each is
            private, and its columns; of a public one the key first.
    """

    dataset: str
    unit: str
    neighbours: str
    size: int | None
    budget: str
    spent: str
    left: str
    columns: tuple[Described, ...]
    whom: PrivacyUnit = field(repr=False)
    tables: Tables = field(default_factory=dict)

    def to_text(self, *, lang: str | None = None) -> str:
        """Return the facts for a terminal.

        Args:
            lang: ``"en"`` or ``"zh"``; default: the language of the locale.
        """
        say = speaker(language_asked(lang))
        asked = [_asked(c, say) for c in self.columns]
        return "\n".join([
            *self._told(say),
            "",
            *aligned([_heads(say), *(_row(c, say) for c in self.columns)]),
            "",
            say(N_("what can be asked, beside count():")),
            *aligned(asked),
        ])  # fmt: skip

    def _told(self, say: Callable[..., str]) -> list[str]:
        money = say(
            N_("budget {budget}, spent {spent}, left {left}"),
            budget=stored_words(self.budget),
            spent=stored_words(self.spent),
            left=stored_words(self.left),
        )
        name, whom, *others = _facts(self.dataset, self.whom, self.tables, say)
        return [name, whom, money, *others]

    def __str__(self) -> str:
        """Render for a terminal, in the language of the locale."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Render for a notebook, in the language of the locale."""
        say = speaker(language(None))
        return _html(self._told(say), self.columns, say)


def declared_html(declared: Dataset | Schema) -> str:
    """Render declarations for a notebook, in the language of the locale."""
    say = speaker(language(None))
    if isinstance(declared, Schema):
        return _html([protected_words(declared.unit, say)], _columns(declared), say)
    schema = declared.schema
    told = _facts(declared.name, schema.unit, _tables(declared), say)
    return _html(told, _columns(schema), say)


def schema_text(schema: Schema) -> str:
    """Render declarations for a terminal, in the language of the locale."""
    say = speaker(language(None))
    table = [_heads(say), *(_row(c, say) for c in _columns(schema))]
    return "\n".join([protected_words(schema.unit, say), "", *aligned(table)])


def _facts(
    name: str, whom: PrivacyUnit, tables: Tables, say: Callable[..., str]
) -> list[str]:
    """Name the dataset, whom it protects, and which other tables there are."""
    private = N_("private table {name}, of the same units: {columns}")
    public = N_("public table {name}: {columns}")
    held = 1 + sum(private_ for private_, _ in tables.values())
    return [
        say(N_("dataset {name}"), name=visible(name)),
        protected_words(whom, say, tables=held),
        *(
            say(
                private if is_private else public,
                name=visible(other),
                columns=say(N_(", ")).join(map(visible, columns)),
            )
            for other, (is_private, columns) in tables.items()
        ),
    ]


def _html(
    told: Iterable[str], columns: Sequence[Described], say: Callable[..., str]
) -> str:
    facts = "<br>".join(map(escape, told))
    head = "".join(f"<th>{escape(h)}</th>" for h in (*_heads(say), _ask_head(say)))
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:left">{escape(cell)}</td>'
            for cell in (*_row(c, say), _asked(c, say)[1])
        )
        + "</tr>"
        for c in columns
    )
    return (
        f'<div class="sfumato-description"><p>{facts}</p><table><thead><tr>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )


def describe(dataset: Dataset, *, budget: str, spent: str, left: str) -> Description:
    """Describe a dataset and its budget; pure, reads no row.

    Args:
        dataset: The table, its declarations, and what it can be joined with.
        budget: The whole budget in words.
        spent: What is spent in words.
        left: What is left in words.
    """
    unit = dataset.schema.unit
    return Description(
        dataset=dataset.name,
        unit=repr(unit),
        neighbours=unit.neighbours,
        size=unit.size,
        budget=budget,
        spent=spent,
        left=left,
        columns=_columns(dataset.schema),
        whom=unit,
        tables=_tables(dataset),
    )


def _columns(schema: Schema) -> tuple[Described, ...]:
    return tuple(_described(n, column) for n, column in schema.columns)


def _tables(dataset: Dataset) -> Tables:
    private = {n: (True, tuple(t.schema)) for n, t in dataset.private.items()}
    public = {n: (False, (*t.key, *t.columns)) for n, t in dataset.public.items()}
    return private | public


def _described(name: str, column: Column) -> Described:
    match column:
        case Real() | Integer():
            return Described(
                name,
                _number_kind(column),
                (column.lower, column.upper),
                column.step,
                column.unit,
                (),
                column.missing,
                column.complete,
                ("count", *_SUMS, *_RANKS, *_BINS),
                _BINS,
                ("ratio", "covariance", "correlation", "crosstab"),
                groups=False,
            )
        case Boolean():
            return Described(
                name, "boolean", None, None, "", (False, True), (), complete=False,
                alone=("count", *_SUMS, "proportion", *_BINS), edged=(),
                together=("ratio", "covariance", "correlation", "crosstab"), groups=True,
            )  # fmt: skip
        case Category(values):
            return Described(
                name, "category", None, None, "", tuple(values), (), complete=False,
                alone=("count", "proportion", *_BINS), edged=(), together=("crosstab",),
                groups=True,
            )  # fmt: skip
        case Text():
            return Described(
                name, "text", None, None, "", (), (), complete=False, alone=("count",),
                edged=(), together=(), groups=True,
            )  # fmt: skip
        case _:
            assert_never(column)


def _number_kind(column: Real | Integer) -> str:
    if isinstance(column, Date):
        return "date"
    return "real" if isinstance(column, Real) else "integer"


def _heads(say: Callable[..., str]) -> list[str]:
    return [
        say(N_("column")),
        say(N_("kind")),
        say(N_("bounds or keys")),
        say(N_("unit")),
        say(N_("missing")),
    ]


def _ask_head(say: Callable[..., str]) -> str:
    return say(N_("what can be asked"))


_KINDS = {
    "real": N_("number"),
    "integer": N_("whole number"),
    "date": N_("day"),
    "category": N_("category"),
    "boolean": N_("true or false"),
    "text": N_("text, not listed"),
}


def _row(column: Described, say: Callable[..., str]) -> list[str]:
    codes = say(N_(", ")).join(_bound(column, code) for code in column.missing)
    if column.complete:
        codes = say(N_("none, declared complete"))
    return [
        visible(column.name),
        say(_KINDS[column.kind]),
        _range(column, say),
        "" if column.kind == "date" else measure_words(column.unit, say, column.name),
        codes,
    ]


def _bound(column: Described, value: float) -> str:
    if column.kind == "date":
        return dt.date.fromordinal(int(value) + EPOCH).isoformat()
    return f"{value:g}"


def _range(column: Described, say: Callable[..., str]) -> str:
    if column.bounds is not None:
        low, high = (_bound(column, bound) for bound in column.bounds)
        words = say(N_("{low} to {high}"), low=low, high=high)
        if column.kind == "date":
            return words
        step = f"{column.step:g}"
        return say(N_("{range}, step {step}"), range=words, step=step)
    shown = say(N_(", ")).join(visible(repr(key)) for key in column.keys[:_KEYS])
    more = len(column.keys) - _KEYS
    return (
        say(N_("{keys} and {more} more"), keys=shown, more=more) if more > 0 else shown
    )


def _asked(column: Described, say: Callable[..., str]) -> list[str]:
    alone = [f"{ask}(…, edges)" if ask in column.edged else ask for ask in column.alone]
    parts = [", ".join(alone)]
    parts.append(say(N_("with another column {asks}"), asks=", ".join(column.together)))
    if column.groups:
        parts.append("group_by")
    return [visible(column.name), "; ".join(parts)]
