"""Wished errors: from the project file, and from the command line."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.amount import exact
from sfumato.cli.failures import UsageFault
from sfumato.errors import nearest
from sfumato.project import Project
from sfumato.words import N_

__all__ = ["Wishes", "read_wishes"]

Wishes = dict[str, list[float | None]]
"""For each release the error wished of each statistic, in its unit."""


def read_wishes(project: Project, given: Sequence[str]) -> Wishes:
    """Return the wishes of the file, changed by words such as ``mean_Glucose=2.5``.

    A figure that several releases have is named with its release:
    ``overview.mean_Glucose=2.5``.

    Raises:
        UsageFault: A figure is unknown or named twice over, or an error is unusable.
    """
    wishes: Wishes = {a.name: list(a.targets) for a in project.releases}
    places = [
        (a.name, i, s.name)
        for a in project.releases
        for i, s in enumerate(a.query.statistics)
    ]
    for word in given:
        name, _, text = word.rpartition("=")
        error = exact(text)
        if not name or error is None or error <= 0:
            raise UsageFault(
                N_("--target must be a figure and an error above 0, got {value}"),
                hint=N_("write, for example: --target mean_Glucose=2.5"),
                value=repr(word[:60]),
            )
        found = [(r, i) for r, i, f in places if name in (f, f"{r}.{f}")]
        if not found:
            known = [f for _, _, f in places] + [f"{r}.{f}" for r, _, f in places]
            raise UsageFault(
                N_("there is no figure {name}"),
                hint=N_("did you mean {near}?"),
                name=repr(name),
                near=nearest(name, dict.fromkeys(known)),
            )
        if len(found) > 1:
            raise UsageFault(
                N_("several releases have a figure {name}"),
                hint=N_("name its release too: {example}"),
                name=repr(name),
                example=f"{found[0][0]}.{name}",
            )
        release, place = found[0]
        wishes[release][place] = float(error)
    return wishes
