"""A first project file for a table, from its column names alone.

What the catalogue knows is written ready to be confirmed; what it does not know is
written as a comment to complete. A draft is never a finished project: no release is
active until the steward has chosen its ε.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, final

from sfumato.cli.width import wrap
from sfumato.declare.catalogue import Entry, Range, Suggestion, suggest
from sfumato.project.place import place_of
from sfumato.words import N_

__all__ = ["Draft", "person_column", "write_draft"]

_WIDTH = 86
_OPEN = "confirmed = false"
# Names of columns that say whose a row is, without blanks and signs.
_PERSON = re.compile(
    r"(patient|patienten|person|subject|participant|pat|pt|subj)"
    r"(id|no|nr|num|number|key|code|identifier)"
    r"|mrn|medicalrecord(no|number)|nhs(no|number)"
    r"|(患者|病人|人员|受试者|个人)(id|编号|编码|号|标识|唯一标识|唯一号)|病历号|病案号|身份证(号码?)?"
)

Say: TypeAlias = Callable[..., str]


@final
@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a table before its steward has declared anything.

    Attributes:
        table: Path of the table, as the project file shall write it.
        columns: The names in its header.
        encoding: Its encoding.
        separator: The sign between its cells.
        observed: For the owner, what the cells of a column look like, in words; only
            when the values were read on request.
    """

    table: str
    columns: Sequence[str]
    encoding: str = "utf-8"
    separator: str = ","
    observed: Mapping[str, str] = field(default_factory=dict)


def person_column(columns: Sequence[str]) -> str | None:
    """Return the first column whose name says that it tells whose a row is.

    Examples:
        >>> person_column(["Age", "Patient ID"]), person_column(["年龄", "患者编号"])
        ('Patient ID', '患者编号')
        >>> person_column(["id", "visit_id", "patient_age"])
    """
    for name in columns:
        plain = unicodedata.normalize("NFKC", name).casefold()
        if _PERSON.fullmatch(re.sub(r"[\W_]+", "", plain)):
            return name
    return None


def write_draft(draft: Draft, say: Say) -> str:
    """Return the text of a project file, with comments in the language of `say`."""
    found = {name: suggest(name) for name in draft.columns}
    blocks = [
        _head(draft, say),
        *(_column(name, s, draft.observed.get(name, ""), say) for name, s in found.items()),
        _releases(found, say),
    ]  # fmt: skip
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _head(draft: Draft, say: Say) -> list[str]:
    name = Path(draft.table).stem or "table"
    lines = [
        *_comment(
            say(N_("A project file of sfumato. Complete it from top to bottom."))
        ),
        *_comment(say(N_("Nothing here was read from the rows of the table."))),
    ]
    if draft.observed:
        lines = [
            *lines[:1],
            *_comment(
                say(
                    N_(
                        "FOR THE OWNER'S EYES: the lines that begin with `observed` were "
                        "read from the rows. They are not private: delete them before "
                        "this file leaves your desk, and take no bound from them."
                    )
                )
            ),
        ]
    lines += [
        "",
        f"title = {_text(name)}",
        "",
        "[data]",
        f"source = {_text(draft.table)}",
        f"name = {_text(name)}  # " + say(N_("the ledger keeps the budget under it")),
    ]
    if draft.encoding != "utf-8":
        lines.append(f"encoding = {_text(draft.encoding)}")
    if draft.separator != ",":
        lines.append(f"separator = {_text(draft.separator)}")
    return [
        *lines,
        "",
        "[unit]",
        *_comment(
            say(N_("One row is one protected unit: one person, at most one row."))
        ),
        *_comment(
            say(
                N_(
                    "Has a person several rows? Then name the column that says whose a "
                    "row is, and how much of a person counts:"
                )
            )
        ),
        f"# column = {_text(person_column(draft.columns) or 'patient_id')}",
        "# max_rows = 5",
        "# max_groups = 1",
        'neighbours = "add_remove"',
        "",
        "[budget]",
        *_comment(
            say(
                N_(
                    "What all releases of this table together may ever cost. "
                    "See: sfumato explain 1"
                )
            )
        ),
        'epsilon = "1"',
        "",
        *_comment(
            say(
                N_(
                    "Columns. Bounds and keys are public: choose them from clinical "
                    "knowledge, never from the rows. Values beyond a bound are clamped "
                    "to it; narrower bounds give less noise. Columns that no release "
                    "needs may be deleted. Where all of a column is right, delete its "
                    "line `confirmed = false`; sfumato check reminds of those left."
                )
            )
        ),
    ]


def _column(name: str, found: Suggestion | None, observed: str, say: Say) -> list[str]:
    notes = [f"# observed: {_one_line(observed)}"] if observed else []
    if found is None:
        return [*_unknown(name, say), *notes]
    lines = [f"[{place_of('columns', name)}]", *notes, *_origin(found.entry, say)]
    if found.first is None:
        return [*lines, 'type = "category"', f"values = {_keys(found.keys)}", _OPEN,
                *_spellings(found, say)]  # fmt: skip
    return [
        *lines,
        *_number(found.entry, found.first),
        _OPEN,
        *_others(found.others, say),
    ]


def _keys(keys: Sequence[object]) -> str:
    return json.dumps(list(keys), ensure_ascii=False)


def _spellings(found: Suggestion, say: Say) -> list[str]:
    text = N_("if the cells say it otherwise: {settings}")
    return [
        f"# {say(text, settings=f'values = {_keys(keys)}')}" for keys in found.spellings
    ]


def _origin(entry: Entry, say: Say) -> list[str]:
    return _comment(
        say(
            N_("{english} / {chinese}: plausible values, TO BE CONFIRMED ({source})"),
            english=entry.english,
            chinese=entry.chinese,
            source=say(entry.source),
        )
    )


def _number(entry: Entry, bounds: Range) -> list[str]:
    kind = "integer" if entry.whole else "real"
    lines = [
        f'type = "{kind}"',
        f"lower = {bounds.lower:g}",
        f"upper = {bounds.upper:g}",
    ]
    if not entry.whole:
        lines.append(f"step = {bounds.step:g}")
    if entry.missing:
        codes = ", ".join(map(str, entry.missing))
        lines.append(f"missing = [{codes}]")
    if bounds.unit:
        lines.append(f"unit = {_text(bounds.unit)}")
    return lines


def _others(ranges: Sequence[Range], say: Say) -> list[str]:
    return [
        "# "
        + say(
            N_("if the unit is {unit}: {settings}"),
            unit=r.unit,
            settings=f"lower = {r.lower:g}, upper = {r.upper:g}, step = {r.step:g}",
        )
        for r in ranges
    ]


def _unknown(name: str, say: Say) -> list[str]:
    return [
        *_comment(
            say(
                N_(
                    "{name} is not in the catalogue. Declare it, or leave it: a column "
                    "that is not declared is never read."
                ),
                name=_one_line(name),
            )
        ),
        f"# [{place_of('columns', name)}]",
        '# type = "real"        # '
        + say(N_("or integer, category, boolean, date, text")),
        "# lower = 0            # " + say(N_("smallest and largest plausible value")),
        "# upper = 100",
        '# values = ["F", "M"]  # ' + say(N_("for a category: every key, no bounds")),
        "# first = 2000-01-01   # "
        + say(N_("for a date: first and last day, no bounds")),
        "# last = 2030-12-31",
    ]


def _releases(found: Mapping[str, Suggestion | None], say: Say) -> list[str]:
    means = [name for name, s in found.items() if s and s.first][:3]
    keys = [name for name, s in found.items() if s and not s.first][:1]
    statistics = ["{ count = true }", *(f"{{ mean = {_text(n)} }}" for n in means)]
    lines = [
        *_comment(
            say(
                N_(
                    "Releases. Each costs its epsilon; see: sfumato plan project.toml "
                    "(nothing is spent until sfumato run)."
                )
            )
        ),
        "[[releases]]",
        'name = "overview"',
        'epsilon = "0.2"',
        f"statistics = [{', '.join(statistics)}]",
    ]
    lines += [f"group_by = [{_text(key)}]" for key in keys]
    if not means and not keys:
        lines[2:] = [f"# {line}" for line in lines[2:]]
    return lines


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, _WIDTH)]


def _text(value: str) -> str:
    r"""Write a TOML string: JSON's escapes are TOML's, bar DEL, which TOML refuses raw."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
