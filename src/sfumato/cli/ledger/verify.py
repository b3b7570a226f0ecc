"""``sfumato ledger verify``: is it whole, and is this receipt in it?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from sfumato.cli.command import Command
from sfumato.cli.failures import STOPPED
from sfumato.cli.ledger.place import Place, anchor_option, find, ledger_argument
from sfumato.cli.options import AnyPath, as_json, echo_json
from sfumato.cli.tongue import say, tongue
from sfumato.errors import ArgumentError
from sfumato.ledger import Finding, Verdict, export, show, verify
from sfumato.ledger.amounts import Amounts
from sfumato.release import Receipt, from_json
from sfumato.words import N_

__all__ = ["command"]


def _verify(
    ledger: str, *, anchor: Path | None, receipt: Path | None, as_json: bool
) -> int:
    place = find(ledger, anchor)
    receipts = _receipts(receipt) if receipt else []
    if isinstance(place.path, Path) and not place.path.exists():
        show(place.path, anchor=place.anchor)  # refuses: there is nothing to verify
    verdict = verify(place.path, anchor=place.anchor)
    findings = list(verdict.findings)
    if not findings:
        findings += _compare(place, receipts)
    if as_json:
        echo_json(_data(verdict, findings, receipts))
    else:
        click.echo("\n".join(_words(verdict, findings, receipts)))
    return STOPPED if findings else 0


def _receipts(path: Path) -> list[Receipt]:
    """Read the receipts of a release file: one release, or several under one roof.

    Raises:
        ArgumentError: It is no release of ours.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise ArgumentError(
            N_("{path} cannot be read: {reason}"),
            hint=N_("give a release.json that sfumato wrote, unchanged"),
            path=str(path),
            reason=getattr(error, "strerror", None) or str(error),
        ) from None
    try:
        releases = json.loads(text)["releases"]
        texts = [json.dumps(r) for r in releases]
    except (ValueError, KeyError, TypeError, RecursionError):
        texts = [text]
    return [from_json(t).claim.receipt for t in texts]


def _compare(place: Place, receipts: list[Receipt]) -> Iterator[Finding]:
    """Find each receipt in a sound ledger, and compare every word of it."""
    if not receipts:
        return
    debits: dict[int, tuple[str, dict[str, Any]]] = {}
    for line in export(place.path, anchor=place.anchor):
        entry = json.loads(line)
        if entry["body"]["kind"] == "debit":
            debits[entry["body"]["debits"]] = entry["hash"], entry["body"]
    for r in receipts:
        where = f"receipt {r.sequence}"
        hash_, said = debits.get(r.sequence, ("", {}))
        if hash_ != r.head or said.get("dataset") != r.dataset:
            yield Finding(where, N_("is not in this ledger"))
        elif _said(said) != (r.cost, r.spent, r.plan, r.time):
            yield Finding(where, N_("was changed: the ledger states another debit"))


def _said(body: dict[str, Any]) -> tuple[str, str, str, str]:
    cost = Amounts(body["measure"], body["units"], body["delta_units"])
    spent = Amounts(body["measure"], body["spent"], body["delta_spent"])
    return str(cost), str(spent), body["plan"], body["time"]


def _words(
    verdict: Verdict, findings: list[Finding], receipts: list[Receipt]
) -> list[str]:
    if findings:
        head = say(N_("The ledger does not hold; {count} faults:"), count=len(findings))
        if len(findings) == 1:
            head = say(N_("The ledger does not hold; 1 fault:"))
        faults = [f"  {finding.say(tongue())}" for finding in findings]
        advice = say(
            N_("Keep the files as they are. Nothing was changed and nothing repaired.")
        )
        return [head, *faults, advice]
    text = N_("The ledger is whole: {entries} entries, every hash and balance fits.")
    if verdict.entries == 1:
        text = N_("The ledger is whole: 1 entry, its hash and balance fit.")
    lines = [
        say(text, entries=verdict.entries),
        say(N_("head {head}"), head=verdict.head),
    ]
    if receipts:
        text = N_("All {count} receipts are in it, word for word.")
        if len(receipts) == 1:
            text = N_("The receipt is in it, word for word.")
        lines.append(say(text, count=len(receipts)))
    return lines


def _data(
    verdict: Verdict, findings: list[Finding], receipts: list[Receipt]
) -> dict[str, Any]:
    return {
        "sound": not findings,
        "entries": verdict.entries,
        "head": verdict.head,
        "receipts": len(receipts),
        "findings": [{"where": f.where, "fact": f.fact} for f in findings],
    }


command = Command(
    "verify",
    callback=_verify,
    params=[
        ledger_argument(),
        anchor_option(),
        click.Option(
            ["--receipt"],
            type=AnyPath(),
            metavar="FILE",
            help=N_("A release.json whose receipts must be in the ledger."),
        ),
        as_json(),
    ],
    about=(
        N_("Recompute every hash and balance; check a published receipt."),
        N_(
            "Exit code 0 when everything fits; 1 with every fault found; 2 when there "
            "is no ledger or no release to check. It changes nothing."
        ),
    ),
    examples=(
        ("sfumato ledger verify clinic.ledger", N_("before an audit")),
        (
            "sfumato ledger verify clinic.ledger --receipt results/release.json",
            N_("is the published release in it, and is nothing changed?"),
        ),
    ),
)
