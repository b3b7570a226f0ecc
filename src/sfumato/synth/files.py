"""A saved synthesis: one zip of arrays and JSON, read without running anything."""

from __future__ import annotations

import datetime as dt
import io
import json
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.account import loss_text, read_loss
from sfumato.declare.bounds import PrivateBounds
from sfumato.declare.calendar import EPOCH, Date
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    Text,
)
from sfumato.declare.unit import Rows, Unit
from sfumato.errors import ArgumentError
from sfumato.plan.contingency import Coding
from sfumato.release import Claim, Person, Receipt
from sfumato.release.record import Noise
from sfumato.release.synthetic import MadeColumn, NoisyTable, SyntheticRelease
from sfumato.synth.depend import Dependent
from sfumato.synth.grids import Binning, Grid, known
from sfumato.synth.made import Made, Measured
from sfumato.synth.model import Model, Potentials
from sfumato.synth.options import read_options
from sfumato.synth.tree import Tree
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.synth.synthesis import Synthesis

__all__ = ["load", "save", "written"]

_FORMAT = "sfumato-synthesis-2"


def save(synthesis: Synthesis, path: Path) -> None:
    """Write the file, whole or not at all."""
    from sfumato.release.files import write

    write(path, written(synthesis))


def written(synthesis: Synthesis) -> bytes:
    """Return what `save` writes."""
    made = synthesis.made
    meta = {
        "format": _FORMAT,
        "schema": _schema(made.schema),
        "options": _options(made),
        "grids": [_grid(b) for b in made.binnings],
        "dependents": [_dependent(d) for d in made.dependents],
        "earlier": made.earlier,
        "measured": [
            {
                "axes": m.axes,
                "fine": m.fine,
                "dependent": m.dependent,
                "share": loss_text(m.share),
                "counts": m.counts,
            }
            for m in made.measured
        ],
        "secure": made.secure,
        "total": made.model.total,
        "cliques": made.model.tree.cliques,
        "release": synthesis.release.to_dict(),
    }
    text = json.dumps(meta, ensure_ascii=False, allow_nan=False).encode()
    arrays: dict[str, Any] = {"meta": np.frombuffer(text, np.uint8)}
    for j, table in enumerate(made.model.potentials):
        arrays[f"p{j}"] = table
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def load(path: Path) -> Synthesis:
    """Read it back."""
    from sfumato.synth.synthesis import Synthesis

    found: Synthesis | None = None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            meta = json.loads(held["meta"].tobytes().decode())
            if meta["format"] == _FORMAT:
                tables = [held[f"p{j}"] for j in range(len(meta["cliques"]))]
                made = _made(meta, tables)
                found = Synthesis(made, _release(meta["release"]))
    except Exception:  # noqa: BLE001  zip, zlib, numpy and JSON have many words for it
        found = None
    if found is None:
        raise ArgumentError(
            N_("{path} is no saved synthesis"),
            hint=N_("save one with Synthesis.save"),
            path=str(path),
        )
    return found


def _made(meta: dict[str, Any], tables: list[Any]) -> Made:
    schema = _read_schema(meta["schema"])
    options = read_options(_read_options(meta["options"]))
    binnings = tuple(_read_grid(g, schema) for g in meta["grids"])
    sizes = [b.coding.count for b in binnings]
    tree = Tree(sizes, [tuple(c) for c in meta["cliques"]])
    potentials = Potentials(tree)
    for axes, table in zip(meta["cliques"], tables, strict=True):
        potentials.add(tuple(axes), np.asarray(table, np.float64).ravel())
    measured = tuple(
        Measured(
            tuple(m["axes"]),
            read_loss(m["share"]),
            tuple(m["counts"]),
            fine=bool(m["fine"]),
            dependent=str(m["dependent"]),
        )
        for m in meta["measured"]
    )
    model = Model(potentials, float(meta["total"]))
    return Made(
        schema, options, binnings, model, measured, bool(meta["secure"]),
        tuple(_read_dependent(d, schema) for d in meta["dependents"]),
        int(meta["earlier"]),
    )  # fmt: skip


def _dependent(told: Dependent) -> dict[str, Any]:
    grid = told.grid
    return {
        "fine": asdict(grid.coding),
        "complete": grid.complete,
        "source": told.source,
        "places": told.places,
    }


def _read_dependent(told: dict[str, Any], schema: Schema) -> Dependent:
    fine = _read_coding(told["fine"])
    marks = (0,) * fine.count
    grid = Grid(known(schema, fine.column), fine, bool(told["complete"]), marks)
    return Dependent(grid, told["source"], tuple(told["places"]))


def _schema(schema: Schema) -> dict[str, Any]:
    return {
        "columns": [
            {"name": name, "type": type(c).__name__, **asdict(c), **_private(c)}
            for name, c in schema.columns
        ],
        "unit": {"type": type(schema.unit).__name__, **asdict(schema.unit)},
    }


def _private(column: Column) -> dict[str, Any]:
    """Write private bounds so that JSON keeps each number as it was given."""
    bounds = getattr(column, "private", None)
    if bounds is None:
        return {}
    parts = {
        name: value
        if isinstance(value, str | int | float)
        else [type(value).__name__, str(value)]
        for name, value in asdict(bounds).items()
    }
    return {"private": parts}


def _read_private(told: dict[str, Any]) -> PrivateBounds:
    kinds = {"Decimal": Decimal, "Fraction": Fraction}
    return PrivateBounds(
        **{n: kinds[v[0]](v[1]) if isinstance(v, list) else v for n, v in told.items()}
    )


def _read_schema(told: dict[str, Any]) -> Schema:
    columns = {c["name"]: _read_column(dict(c)) for c in told["columns"]}
    unit = dict(told["unit"])
    if unit.pop("type") == "Rows":
        return Schema(columns, Rows(**unit))
    return Schema(columns, Unit(unit.pop("column"), **unit))


def _read_column(told: dict[str, Any]) -> Column:
    kind = told["type"]
    if kind == "Category":
        return Category(told["values"])
    if kind == "Boolean":
        return Boolean(tuple(told["true"]), tuple(told["false"]))
    if kind == "Text":
        return Text(longest=told["longest"])
    rest = {
        "missing": tuple(told["missing"]),
        "complete": told["complete"],
        "unit": told["unit"],
    }
    if kind == "Date":
        first, last, *codes = map(
            _day, (told["lower"], told["upper"], *told["missing"])
        )
        return Date(first, last, missing=codes, complete=told["complete"])
    ends: dict[str, Any] = {"lower": told["lower"], "upper": told["upper"]}
    if told.get("private") is not None:
        ends = {"bounds": _read_private(told["private"])}
    if kind == "Integer":
        return Integer(**ends, **rest)
    return Real(**ends, step=told["step"], **rest)


def _day(number: float) -> dt.date:
    return dt.date.fromordinal(int(number) + EPOCH)


def _options(made: Made) -> dict[str, Any]:
    options = made.options
    return {
        **{n: getattr(options, n) for n in ("method", "columns", "complete", "cells",
                                            "bins", "ways", "rounds", "surrogates", "memory")},
        "forbid": [list(_rule(r).items()) for r in options.forbid],
        "marginals": options.tables,
        "weights": [[list(c), w] for c, w in options.weights],
        "dependent": options.dependent,
    }  # fmt: skip


def _rule(rule: Any) -> dict[str, Any]:
    """Write conditions so that JSON keeps apart what they are."""
    found = {}
    for name, condition in rule.items():
        found[name] = [
            {"range": list(c)} if isinstance(c, tuple) else {"value": c}
            for c in condition
        ]
    return found


def _read_options(told: dict[str, Any]) -> dict[str, Any]:
    rules = [
        {
            name: [
                tuple(c["range"]) if "range" in c else c["value"] for c in conditions
            ]
            for name, conditions in rule
        }
        for rule in told["forbid"]
    ]
    complete = True if list(told["complete"]) == ["*"] else told["complete"]
    weights = {tuple(c): w for c, w in told["weights"]}
    dependent = {
        name: source if table is None else {source: dict(table)}
        for name, source, table in told["dependent"]
    }
    read = {"forbid": rules, "weights": weights, "complete": complete}
    return {**told, **read, "dependent": dependent}


def _grid(binning: Binning) -> dict[str, Any]:
    return {
        "fine": asdict(binning.grid.coding),
        "complete": binning.grid.complete,
        "marks": binning.grid.marks,
        "places": binning.places,
        "coding": asdict(binning.coding),
        "counts": binning.counts,
        "deviation": binning.deviation,
    }


def _read_grid(told: dict[str, Any], schema: Schema) -> Binning:
    fine = _read_coding(told["fine"])
    grid = Grid(
        known(schema, fine.column), fine, bool(told["complete"]), tuple(told["marks"])
    )
    return Binning(
        grid,
        tuple(told["places"]),
        _read_coding(told["coding"]),
        tuple(map(float, told["counts"])),
        float(told["deviation"]),
    )


def _read_coding(told: dict[str, Any]) -> Coding:
    return Coding(
        told["column"],
        int(told["count"]),
        int(told["missing"]),
        tuple(told["edges"]),
        tuple(told["places"]),
    )


def _release(told: dict[str, Any]) -> SyntheticRelease:
    return SyntheticRelease(
        title=told["title"],
        method=told["method"],
        claim=_claim(told["claim"]),
        columns=tuple(
            MadeColumn(**{**c, "labels": tuple(c["labels"])}) for c in told["columns"]
        ),
        tables=tuple(
            NoisyTable(
                columns=tuple(t["columns"]),
                shape=tuple(t["shape"]),
                fine=t["fine"],
                noise=Noise(**t["noise"]),
                counts=tuple(t["counts"]),
            )
            for t in told["tables"]
        ),
        total=float(told["total"]),
        start=tuple(map(_claim, told["start"])),
        budgets=tuple(told.get("budgets", ())),  # files of earlier versions have none
    )


def _claim(told: dict[str, Any]) -> Claim:
    bounds = Person(**told["bounds"]) if told["bounds"] else None
    return Claim(**{**told, "receipt": Receipt(**told["receipt"]), "bounds": bounds})
