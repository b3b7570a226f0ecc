"""A release as JSON, CSV and data frames, and back from JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sfumato.release.reading import from_json
from sfumato.release.record import (
    SCHEMA_VERSION,
    Bin,
    Claim,
    Figure,
    Measurement,
    Noise,
    Release,
)
from sfumato.release.tables import to_csv, to_pandas, to_polars

__all__ = ["from_json", "to_csv", "to_dict", "to_json", "to_pandas", "to_polars"]


def to_dict(release: Release) -> dict[str, Any]:
    """Return plain lists and dicts, fit for JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "title": release.title,
        "question": release.question,
        "confidence": release.confidence,
        "figures": [_figure(f) for f in release.figures],
        "claim": _claim(release.claim),
        "measurements": [_measurement(m) for m in release.measurements],
    }


def to_json(release: Release) -> str:
    """Return JSON text with one figure per line; the same release, the same bytes.

    Raises:
        ValueError: A number is NaN or infinite, which JSON has no token for.
    """
    parts = (f"  {_dump(k)}: {_block(v)}" for k, v in to_dict(release).items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _block(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _dump(value)
    return "[\n" + ",\n".join(f"    {_dump(item)}" for item in value) + "\n  ]"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _figure(figure: Figure) -> dict[str, Any]:
    """Return the fields; what only some statistics have stands there only."""
    return _figure_always(figure) | {
        name: value
        for name, value in (
            ("other", figure.other),
            ("other_bin", _bin(figure.other_bin)),
            ("raw", figure.raw),
            ("sampling", None if figure.sampling is None else list(figure.sampling)),
            ("dots", list(figure.dots) or None),
            ("other_unit", figure.other_unit or None),
            ("closed", figure.closed or None),
        )
        if value is not None
    }


def _bin(place: Bin) -> Any:
    return list(place) if isinstance(place, tuple) else place


def _figure_always(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "kind": figure.kind,
        "column": figure.column,
        "group": dict(figure.group),
        "estimate": figure.estimate,
        "interval": list(figure.interval),
        "noise": _noises(figure.noise),
        "unit": figure.unit,
        "bin": _bin(figure.bin),
    }


def _noises(noises: Iterable[Noise]) -> list[dict[str, Any]]:
    return [
        {
            "law": n.law,
            "scale": n.scale,
            "step": n.step,
            "loss": n.loss,
            "joint": n.joint,
        }
        for n in noises
    ]


def _claim(claim: Claim) -> dict[str, Any]:
    receipt = claim.receipt
    return {
        "measure": claim.measure,
        "loss": claim.loss,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "unit": claim.unit,
        "neighbours": claim.neighbours,
        "size": claim.size,
        **({} if claim.bounds is None else {"bounds": asdict(claim.bounds)}),
        **({} if claim.tables == 1 else {"tables": claim.tables}),
        "receipt": {
            "dataset": receipt.dataset,
            "sequence": receipt.sequence,
            "cost": receipt.cost,
            "spent": receipt.spent,
            "cap": receipt.cap,
            "plan": receipt.plan,
            "time": receipt.time,
            "head": receipt.head,
        },
        "private": claim.private,
    }


def _measurement(measurement: Measurement) -> dict[str, Any]:
    least = measurement.threshold
    return {
        "name": measurement.name,
        "sensitivity": measurement.sensitivity,
        "noise": _noises([measurement.noise])[0],
        "values": list(measurement.values),
        **({} if least is None else {"threshold": least}),
    }
