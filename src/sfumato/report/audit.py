"""The page of an audit: each claim beside what was certified, and what was not tested."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.release.audited import Audited, Check, Kind
from sfumato.release.noted import fact_words
from sfumato.release.text import visible
from sfumato.release.tongue import language_asked
from sfumato.release.wording import Say
from sfumato.report.page import render
from sfumato.report.rebuilt import rebuilt_svg
from sfumato.words import N_, speaker

__all__ = ["audit_html"]

_TITLES: dict[Kind, str] = {
    "sensitivity": N_("Sensitivities, by brute force"),
    "noise": N_("The law of the noise"),
    "release": N_("Whole releases, as black boxes"),
    "keys": N_("Unknown keys: which are shown"),
    "model": N_("Models, by one run"),
    "synthetic": N_("The synthetic table, by one run"),
    "race": N_("A race for the budget"),
}
_CLAIMS: dict[Kind, str] = {
    "sensitivity": N_("share of the charge"),
    "noise": N_("the noise has its law"),
    "release": N_("claimed loss"),
    "keys": N_("claimed loss"),
    "model": N_("claimed loss"),
    "synthetic": N_("claimed loss"),
    "race": N_("answers that the budget buys"),
}
_FOUND: dict[Kind, str] = {
    "sensitivity": N_("largest share seen"),
    "noise": N_("smallest p-value"),
    "release": N_("certified lower bound"),
    "keys": N_("certified lower bound"),
    "model": N_("certified lower bound"),
    "synthetic": N_("certified lower bound"),
    "race": N_("answers given"),
}
_METHODS: dict[Kind, str] = {
    "sensitivity": N_(
        "Small tables are made from the declarations as an adversary would choose them: "
        "ends of ranges, halves, codes, missing cells, infinities, huge integers, equal "
        "rows, no rows. All neighbours of each are formed, the real plan runs on the real "
        "engine up to the exact integers, and their changes in L0, L1, L2 and L∞ are "
        "compared with the claims. Chance has no part in it: a violation is certain. A "
        "share of 1 means that the claim is reached: no noise is wasted."
    ),
    "noise": N_(
        "The noise, as it is added to integers that are all zero, is compared with its "
        "exact law: the counts of cells form a tree of exact binomial tests."
    ),
    "release": N_(
        "The noisy integers of two neighbouring tables, those of the hostile ones that use "
        "up most of the charge, are drawn many times. The event that tells them apart best "
        "is found on half of the draws and certified on the other half (Clopper and "
        "Pearson). A lower bound above the claim refutes it; one far below is usual and "
        "proves nothing: that needs the theorem."
    ),
    "keys": N_(
        "Of a made-up key with one row, and of one with as many rows as its threshold, "
        "releases are drawn with and without one row. Which keys are shown, and their "
        "noisy counts, are the outcome; the event that tells the tables apart best is "
        "certified as above, at the share of the loss that the counts of keys cost."
    ),
    "model": N_(
        "The made-up table consists of canaries: rows at the ends of what is declared, "
        "each in it or not by a fair coin. The model is trained once, its error on each "
        "canary guesses its coin, and too many right guesses refute the claim (Steinke, "
        "Nasr, Jagielski 2023). One run sees large violations only: the least that it "
        "could have seen stands beside it."
    ),
    "synthetic": N_(
        "As for models: the table is made once of canaries, and how much its rows "
        "resemble each canary guesses the coin of that canary."
    ),
    "race": N_(
        "Threads ask at the same moment for more answers than the budget of a ledger file "
        "buys. There must be exactly as many answers as it buys, and nothing left."
    ),
}
_FACTS: dict[Kind, str] = {
    "sensitivity": N_(
        "tables: {tables}, pairs of neighbours: {pairs}, vectors: {parts}, steps: {steps}"
    ),
    "noise": N_("draws: {draws}, tests: {tests}, false alarms: {risk}"),
    "release": N_("{draws} draws a side, false alarms: {risk}; event: {event}"),
    "keys": N_("{draws} draws a side, false alarms: {risk}; event: {event}"),
    "model": N_(
        "{canaries} canaries, {event}; false alarms: {risk}; with every guess right: "
        "ε ≥ {most}"
    ),
    "synthetic": N_(
        "{canaries} canaries, {event}; false alarms: {risk}; with every guess right: "
        "ε ≥ {most}"
    ),
    "race": N_("{threads} threads, {asked} questions"),
}
_UNTESTED = (
    N_(
        "The private table: no row of it was read. Whether bounds, keys and the unit are "
        "declared truly, its owner alone can know."
    ),
    N_(
        "Tables larger than the made-up ones, and neighbours that were not tried. For these "
        "there is the theorem, in the documents of the program."
    ),
    N_(
        "Other engines than the embedded one (DuckDB); the tests of the program compare "
        "PostgreSQL and Spark with it."
    ),
    N_(
        "Time, memory, energy and caches: who can measure them on the machine of the "
        "release may learn more than the claim says."
    ),
    N_(
        "The random bits: they come from the operating system through AES-256, and their "
        "secrecy cannot be tested from outside."
    ),
    N_(
        "Releases of the same rows by other means, and whoever can read the rows or the "
        "ledger file."
    ),
)


@dataclass(frozen=True, slots=True)
class _Row:
    subject: str
    claimed: str
    found: str
    facts: str
    violated: bool


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    method: str
    claimed: str
    found: str
    rows: tuple[_Row, ...]


def audit_html(audited: Audited, *, lang: str | None = None) -> str:
    """Return the page of an audit: one file, offline, no script.

    Args:
        audited: What was tested.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    count = len(audited.violations)
    alarm = say(N_("{count} claims are VIOLATED"), count=count) if count else ""
    alarm = say(N_("1 claim is VIOLATED")) if count == 1 else alarm
    title = say(N_("Audit: {title}"), title=visible(audited.title))
    return render(
        "audit.html",
        tongue,
        title=title,
        alarm=alarm,
        audited=audited,
        sections=_sections(audited, say),
        picture=rebuilt_svg(audited.rebuilt, say),
        untested=[say(text) for text in _UNTESTED],
        skipped=[(fact_words(a, say), say(b)) for a, b in audited.skipped],
    )


def _sections(audited: Audited, say: Say) -> list[_Section]:
    found = []
    for kind, title in _TITLES.items():
        rows = tuple(_row(c, say) for c in audited.checks if c.kind == kind)
        if rows:
            found.append(
                _Section(
                    say(title), say(_METHODS[kind]), say(_CLAIMS[kind]), say(_FOUND[kind]),
                    rows,
                )
            )  # fmt: skip
    return found


def _row(check: Check, say: Say) -> _Row:
    facts = {name: fact_words(text, say) for name, text in check.facts.items()}
    return _Row(
        fact_words(check.subject, say),
        fact_words(check.claimed, say),
        fact_words(check.found, say),
        say(_FACTS[check.kind], **facts),
        check.violated,
    )
