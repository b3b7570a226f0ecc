"""Releases as a Frictionless data package: a CSV whose columns a machine can read.

The descriptor follows Data Package and Table Schema, version 1, which statistics
offices and open-data portals load (https://specs.frictionlessdata.io).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

from sfumato.release.formats import to_dict
from sfumato.release.merged import merge
from sfumato.release.promise import promise
from sfumato.release.record import Release
from sfumato.release.tables import Sort, sort_of, write_csv
from sfumato.release.tongue import language_asked
from sfumato.release.wording import Say
from sfumato.words import N_, speaker

__all__ = ["descriptor", "to_package"]

_ABOUT, _TABLE = "datapackage.json", "figures.csv"
_ONE_TIME = (1980, 1, 1, 0, 0, 0)  # same releases, same bytes
_TYPES: dict[Sort, str] = {
    "text": "string",
    "whole": "integer",
    "real": "number",
    "flag": "boolean",
    "mixed": "string",
}
_TITLES = {
    "name": N_("Name of the figure"),
    "kind": N_("Statistic"),
    "column": N_("Column that it is about"),
    "other_column": N_("Second column that it is about"),
    "other_key": N_("Category of the second column, of a table"),
    "other_bin_low": N_("Left edge of the second column's bin"),
    "other_bin_high": N_("Right edge of the second column's bin"),
    "other_unit": N_("Unit of the second column's bins, where they are of days"),
    "raw": N_("Entry of a matrix before it was adjusted"),
    "key": N_("Category, of a histogram of categories"),
    "bin_low": N_("Left edge of the bin"),
    "bin_high": N_("Right edge of the bin"),
    "estimate": N_("Estimate with noise"),
    "low": N_("Lower end of the interval, noise only"),
    "high": N_("Upper end of the interval, noise only"),
    "sampling_low": N_("Lower end of the interval, noise and choice of the rows"),
    "sampling_high": N_("Upper end of the interval, noise and choice of the rows"),
    "confidence": N_("Confidence of the intervals"),
    "unit": N_("Unit of measurement"),
    "loss": N_("Privacy loss of the release"),
    "epsilon": N_("ε of the release at its δ"),
    "delta": N_("δ"),
    "protected_unit": N_("Who or what one unit of the promise is"),
    "neighbours": N_("Neighbour relation of the promise"),
}


def to_package(releases: Sequence[Release], *, lang: str | None = None) -> bytes:
    """Return the bytes of a ``.zip`` with the table and its ``datapackage.json``.

    Args:
        releases: What to write.
        lang: Language of the description and the titles; default: that of the locale.
    """
    table = write_csv(merge(releases), guard=False).encode("utf-8", "backslashreplace")
    about = json.dumps(descriptor(releases, lang=lang), ensure_ascii=False, indent=2)
    said = about.encode("utf-8", "backslashreplace")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((_ABOUT, said), (_TABLE, table)):
            entry = zipfile.ZipInfo(name, _ONE_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()


def descriptor(
    releases: Sequence[Release], *, lang: str | None = None
) -> dict[str, Any]:
    """Return the fields of ``datapackage.json``."""
    say = speaker(language_asked(lang))
    table = merge(releases)
    fields = [_field(name, sort_of(name, c), say) for name, c in table.items()]
    dialect = {"delimiter": ",", "doubleQuote": True, "lineTerminator": "\r\n"}
    return {
        "profile": "tabular-data-package",
        "name": "sfumato-release",
        "title": releases[0].title if releases else "",
        "description": "\n".join(promise(r.claim, say) for r in releases),
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": "figures",
                "path": _TABLE,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "dialect": dialect,
                "schema": {"fields": fields, "missingValues": [""]},
            }
        ],
        "sfumato:claims": [to_dict(release)["claim"] for release in releases],
    }


def _field(name: str, sort: Sort, say: Say) -> dict[str, str]:
    field = {"name": name, "type": _TYPES[sort]}
    return field | ({"title": say(_TITLES[name])} if name in _TITLES else {})
