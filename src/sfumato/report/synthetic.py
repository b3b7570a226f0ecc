"""Pages about a synthetic table: one to publish with it, one for its owner only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from sfumato.release.owner import OWNER_ONLY
from sfumato.release.promise import loss_words, promise, together
from sfumato.release.quality import Attack, OwnerQuality, Portrait
from sfumato.release.synthetic import SyntheticRelease
from sfumato.release.text import visible
from sfumato.release.tongue import language_asked
from sfumato.release.wording import NOT_PRIVATE, Say
from sfumato.report.page import render
from sfumato.words import N_, speaker

__all__ = ["linked_html", "quality_html", "synthetic_html"]

_MOST_BARS, _MOST_TABLES, _MOST_MAP = 24, 60, 30

_METHODS = {
    "adaptive": N_("tables were chosen round by round"),
    "oneshot": N_("tables were chosen all at once"),
    "independent": N_("single columns only: no dependence is kept"),
}
_ATTACKS = {
    "membership": N_("Was this person in the table? (nearest synthetic row)"),
    "attribute": N_("What is this person's {target}? (nearest synthetic rows)"),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bin of a column: its label, its share in words and as a width in per cent."""

    label: str
    share: str
    width: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a map: what it says, and how strong its colour is, 0 to 100."""

    text: str
    strength: int
    negative: bool


@dataclass(frozen=True, slots=True)
class Map:
    """A heat map as a table."""

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def synthetic_html(
    release: SyntheticRelease,
    portrait: Portrait,
    *,
    rows: int | None = None,
    lang: str | None = None,
) -> str:
    """Return the page of a synthetic table: what it is, how it was made, at which cost.

    Args:
        release: Its record.
        portrait: What its model says of the columns.
        rows: Rows of the file beside the page.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    return render(
        "synthetic.html",
        tongue,
        title=visible(release.title),
        alarm="" if release.claim.private else say(NOT_PRIVATE),
        linked=None,
        parts=[_part("", release, portrait, rows, say)],
    )


def linked_html(
    title: str,
    releases: Mapping[str, SyntheticRelease],
    portraits: Mapping[str, Portrait],
    rows: Mapping[str, int],
    *,
    key: str,
    lang: str | None = None,
) -> str:
    """Return the page of linked tables: each as `synthetic_html`, under one promise.

    Args:
        title: Title of the page.
        releases: Their records, the head first.
        portraits: What each model says of its columns.
        rows: Rows of each file beside the page.
        key: The column that names people, new names in every table.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    whole = together([r.claim for r in releases.values()])
    return render(
        "synthetic.html",
        tongue,
        title=visible(title),
        alarm="" if whole.private else say(NOT_PRIVATE),
        linked={
            "count": len(releases),
            "key": visible(key),
            "cost": loss_words(whole, say),
        },
        parts=[
            _part(name, release, portraits[name], rows[name], say)
            for name, release in releases.items()
        ],
    )


def _part(
    name: str, release: SyntheticRelease, portrait: Portrait, rows: int | None, say: Say
) -> dict[str, Any]:
    """Return what the page tells of one table; no name where it is the only one."""
    columns = [
        (visible(column), _bars(labels, shares))
        for column, labels, shares in zip(
            portrait.names, portrait.labels, portrait.shares, strict=True
        )
    ]
    tables = [
        (
            " × ".join(map(visible, t.columns)),
            str(len(t.counts)),
            t.noise.loss,
            f"{float_of(t.noise.scale) * t.noise.step:.4g}",
        )
        for t in release.tables
    ]
    return {
        "name": visible(name),
        "promise": promise(release.claim, say),
        "before": [promise(claim, say) for claim in release.start],
        "method": say(_METHODS[release.method]),
        "rows": rows,
        "total": f"{release.total:,.0f}",
        "columns": columns,
        "left_out": say(N_(", ")).join(map(visible, portrait.left_out)),
        "surrogates": say(N_(", ")).join(map(visible, portrait.surrogates)),
        "map": _map(
            say(N_("Association in the model (Cramér's V)")),
            portrait.names,
            portrait.association,
        ),
        "tables": tables[:_MOST_TABLES],
        "more": max(0, len(tables) - _MOST_TABLES),
        "receipt": release.claim.receipt,
    }


def quality_html(quality: OwnerQuality, *, lang: str | None = None) -> str:
    """Return the owner's page, marked on every screen: it compares with true rows.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    maps = [
        _map(
            say(N_("Association, true (Cramér's V)")),
            quality.names,
            quality.true_association,
        ),
        _map(
            say(N_("Association, synthetic (Cramér's V)")),
            quality.names,
            quality.made_association,
        ),
    ]
    if len(quality.numbers) > 1:
        maps += [
            _map(
                say(N_("Correlation, true")), quality.numbers, quality.true_correlation
            ),
            _map(
                say(N_("Correlation, synthetic")),
                quality.numbers,
                quality.made_correlation,
            ),
        ]
    return render(
        "quality.html",
        tongue,
        title=say(
            N_("Synthetic table beside the true one: {title}"),
            title=visible(quality.title),
        ),
        alarm=say(OWNER_ONLY),
        quality=quality,
        columns=[_gap(c) for c in quality.columns],
        pairs=[
            (" × ".join(map(visible, t.columns)), f"{t.distance:.3f}")
            for t in quality.tables[:_MOST_TABLES]
        ],
        mean_pairs=_mean([t.distance for t in quality.tables]),
        maps_=maps,
        aucs=[_three(quality.true_auc), _three(quality.made_auc)],
        attacks=[_attack(a, quality, say) for a in quality.attacks],
        classes=[one.words(say) for one in quality.classes],
        promise=promise(quality.claim, say),
        target=visible(quality.target),
    )


def float_of(text: str) -> float:
    """Return the number that an exact fraction or decimal text stands for.

    Examples:
        >>> float_of("9/2"), float_of("4.5")
        (4.5, 4.5)
    """
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def _bars(labels: Sequence[str], shares: Sequence[float]) -> list[Bar]:
    most = max(shares, default=1.0) or 1.0
    pairs = list(zip(labels, shares, strict=True))
    return [
        Bar(visible(label), f"{100 * share:.1f}%", f"{100 * share / most:.1f}")
        for label, share in pairs[:_MOST_BARS]
    ]


def _map(title: str, names: Sequence[str], matrix: Sequence[Sequence[float]]) -> Map:
    shown = tuple(map(visible, names[:_MOST_MAP]))
    rows = tuple(
        (
            name,
            tuple(
                Cell(f"{v:.2f}".replace("-", "−"), min(100, round(100 * abs(v))), v < 0)
                for v in row[:_MOST_MAP]
            ),
        )
        for name, row in zip(shown, matrix, strict=False)
    )
    return Map(title, shown, rows)


def _gap(column: Any) -> tuple[str, ...]:
    return (
        visible(column.name),
        f"{column.distance:.3f}",
        "–" if column.true_mean is None else f"{column.true_mean:.4g}",
        "–" if column.made_mean is None else f"{column.made_mean:.4g}",
        f"{100 * column.true_missing:.1f}%",
        f"{100 * column.made_missing:.1f}%",
    )


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else "–"


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _attack(attack: Attack, quality: OwnerQuality, say: Say) -> tuple[str, ...]:
    return (
        say(_ATTACKS[attack.name], target=visible(quality.target)),
        f"{100 * attack.inside:.1f}%",
        f"{100 * attack.outside:.1f}%",
        f"{100 * attack.gain:+.1f} ± {100 * attack.margin:.1f}".replace("-", "−"),
        f"{ceil(100 * attack.bound - 1e-9)}",
    )
