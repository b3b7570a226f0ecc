"""Releases as a Parquet file: one row per figure, the claims in its metadata."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from sfumato.release.formats import to_dict
from sfumato.release.libraries import need
from sfumato.release.merged import merge
from sfumato.release.record import Release
from sfumato.release.tables import Sort, sort_of, text_of
from sfumato.release.text import whole

__all__ = ["to_parquet"]

_TYPES: dict[Sort, str] = {
    "text": "string",
    "whole": "int64",
    "real": "float64",
    "flag": "bool_",
    "mixed": "string",
}


def to_parquet(releases: Sequence[Release]) -> bytes:
    """Return the bytes of a ``.parquet`` file.

    The columns are those of the CSV form; keys of mixed types become text. The key
    ``sfumato.claims`` of its metadata holds the claims as JSON.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    fields, columns = [], []
    for name, cells in merge(releases).items():
        sort = sort_of(name, cells)
        kind = getattr(arrow, _TYPES[sort])()
        values = [text_of(c) for c in cells] if sort == "mixed" else cells
        values = [whole(c) if isinstance(c, str) else c for c in values]
        fields.append(arrow.field(whole(name), kind))
        columns.append(arrow.array(values, kind))
    claims = json.dumps([to_dict(r)["claim"] for r in releases], ensure_ascii=False)
    schema = arrow.schema(fields, metadata={"sfumato.claims": whole(claims)})
    out = io.BytesIO()
    parquet.write_table(arrow.table(columns, schema=schema), out)
    return out.getvalue()
