"""How well the declared columns fit the rows: for the owner's eyes only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sfumato.cli.table import table
from sfumato.cli.tongue import say
from sfumato.cli.width import wrap
from sfumato.project import Project
from sfumato.release.text import visible
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.engine.inspect import OwnerColumn

__all__ = ["inspected", "owner_data", "owner_lines"]


def inspected(project: Project) -> tuple[OwnerColumn, ...]:
    """Count missing and clamped cells of each declared column. NOT PRIVATE.

    Raises:
        SourceError: The table cannot be opened as declared.
        EngineError: The engine failed; its words are not shown.
    """
    from sfumato.engine.inspect import owner_inspection
    from sfumato.engine.load import open_engine

    engine = open_engine(project.dataset)
    return owner_inspection(engine, project.dataset.schema)


def owner_lines(columns: tuple[OwnerColumn, ...]) -> list[str]:
    """Return the counts as a table, marked above and below."""
    mark = say(N_("FOR THE OWNER'S EYES: exact counts, not private, never to publish."))
    heads = [
        say(N_("column")),
        say(N_("stored as")),
        say(N_("rows")),
        say(N_("missing or unfit")),
        say(N_("below the bound")),
        say(N_("above the bound")),
    ]
    rows = [
        [c.name, c.stored, *map(str, (c.rows, c.missing, c.below, c.above))]
        for c in columns
    ]
    advice = say(
        N_(
            "Many clamped cells make a mean too small or too large. Do not move a bound "
            "because of these counts unless clinical knowledge gives you the new one: a "
            "bound that follows the rows tells about them."
        )
    )
    alarm = click.style(f"*** {mark} ***", fg="red", bold=True)
    body = table(heads, rows, right=(2, 3, 4, 5))
    return [alarm, "", *body, "", *_unfit(columns), *wrap(advice, 88), "", alarm]


def _unfit(columns: tuple[OwnerColumn, ...]) -> list[str]:
    """Say of which columns no cell fits: their figures would be paid for in vain."""
    names = [visible(c.name) for c in columns if c.missing == c.rows > 0]
    if not names:
        return []
    text = N_(
        "No cell fits the declaration of: {columns}. A release would be noise and cost as "
        "much. sfumato init --read-values shows how cells are written."
    )
    return [*wrap(say(text, columns=say(N_(", ")).join(names)), 88), ""]


def owner_data(columns: tuple[OwnerColumn, ...]) -> dict[str, Any]:
    """Return the counts as JSON values, marked."""
    return {
        "warning": "FOR THE OWNER'S EYES: exact counts, NOT PRIVATE, never to publish",
        "columns": [
            {
                "name": c.name,
                "stored": c.stored,
                "rows": c.rows,
                "missing": c.missing,
                "below": c.below,
                "above": c.above,
            }
            for c in columns
        ],
    }
