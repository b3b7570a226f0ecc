"""Finding one figure of a release: the one that is meant, never the first of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.release.record import Figure

__all__ = ["FigureError", "find"]


class FigureError(ArgumentError, KeyError):
    """No figure matches a name and group, or several do."""


def find(figures: Sequence[Figure], name: str, group: Mapping[str, Any]) -> Figure:
    """Return the figure of a name and group.

    Raises:
        FigureError: None or several match.
    """
    found = [
        figure
        for figure in figures
        if figure.name == name
        and all(k in figure.group and figure.group[k] == v for k, v in group.items())
    ]
    if len(found) == 1:
        return found[0]
    asked = ", ".join([quoted(name), *(f"{k}={v!r}" for k, v in group.items())])
    if not found:
        raise FigureError(
            N_("the release has no figure {asked}"),
            hint=N_("its figures are called {names}; groups are named as the keys are"),
            asked=asked,
            names=", ".join(dict.fromkeys(figure.name for figure in figures)) or "–",
        )
    raise FigureError(
        N_("the release has {count} figures {asked}"),
        hint=N_(
            'name the group as well, find("count", Sex="F"), or go through them all'
        ),
        count=len(found),
        asked=asked,
    )
