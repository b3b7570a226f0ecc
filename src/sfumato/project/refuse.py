"""What pydantic found wrong → one clear line: place, fact, and how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sfumato.errors import ProjectError, SfumatoError, nearest
from sfumato.project import column, learned, model, synthetic
from sfumato.project.place import PlacedError, place_of, shown
from sfumato.words import N_, translate

__all__ = ["refusal"]

_MORE = N_("{advice} ({more} more in this file)")
_COLUMNS: Mapping[str, type[BaseModel]] = {
    "real": column.RealColumn,
    "integer": column.IntegerColumn,
    "date": column.DateColumn,
    "category": column.CategoryColumn,
    "boolean": column.BooleanColumn,
    "text": column.TextColumn,
}
_TABLES: Mapping[str, type[BaseModel]] = {
    "data": model.DataTable,
    "unit": model.UnitTable,
    "budget": model.BudgetTable,
    "output": model.OutputTable,
    "synthetic": synthetic.SyntheticTable,
    "models": learned.ModelTable,
}
_WANTED = {
    "string_type": N_("{place} must be a text in quotes, got {value}"),
    "bool_type": N_("{place} must be true or false, got {value}"),
    "int_type": N_("{place} must be a whole number, got {value}"),
    "list_type": N_("{place} must be a list, got {value}"),
    "dict_type": N_("{place} must be a table, got {value}"),
    "model_type": N_("{place} must be a table, got {value}"),
    "model_attributes_type": N_("{place} must be a table, got {value}"),
    "string_too_short": N_("{place} is empty"),
    "too_short": N_("{place} is empty"),
}
_MEND = {
    "string_type": N_('write, for example, {key} = "…"'),
    "bool_type": N_("write {key} = true or {key} = false, without quotes"),
    "int_type": N_("write it without quotes and without a point"),
    "list_type": N_("put it in square brackets: {key} = […]"),
    "dict_type": N_("write it under a heading in square brackets: [{key}]"),
    "model_type": N_("write it under a heading in square brackets: [{key}]"),
    "model_attributes_type": N_("write it under a heading in square brackets: [{key}]"),
    "string_too_short": N_("write at least one letter"),
    "too_short": N_("write at least one entry"),
}

_USUAL = {
    "avg": "mean", "average": "mean", "total": "sum", "n": "count", "rows": "count",
    "var": "variance", "stddev": "std", "sd": "std", "hist": "histogram",
    "percentile": "quantile", "share": "proportion", "percentage": "proportion",
    "cov": "covariance", "corr": "correlation", "minimum": "near_minimum",
    "maximum": "near_maximum",
}  # fmt: skip
"""What other programs call a statistic."""

_STATISTIC = N_('write {{ count = true }} or {{ mean = "Age" }}, one per entry')


def refusal(error: ValidationError, raw: Mapping[str, Any], file: str) -> ProjectError:
    """Return the first finding as an error, with the number of further ones."""
    found = _unions_once(error.errors(include_url=False))
    first = _one(found[0], raw, file)
    return first if len(found) == 1 else _MoreError(first, len(found) - 1)


class _MoreError(ProjectError):
    """An error, and how many further ones there are."""

    def __init__(self, inner: SfumatoError, more: int) -> None:
        super().__init__("{inner}", hint=_MORE, inner=inner, advice="", more=more)
        self._inner, self._number = inner, more

    def say(self, lang: str) -> tuple[str, str]:
        fact, hint = self._inner.say(lang)
        more = translate(_MORE, lang).format(advice=hint, more=self._number)
        return fact, more


def _unions_once(found: list[ErrorDetails]) -> list[ErrorDetails]:
    """Keep one finding per value: pydantic reports each member of a union."""
    kept: dict[tuple[int | str, ...], ErrorDetails] = {}
    for item in found:
        kept.setdefault(_keys_of(item["loc"]), item)
    # A misspelt name explains the missing one beside it, so it is told first.
    return sorted(kept.values(), key=lambda e: e["type"] != "extra_forbidden")


def _keys_of(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Strip what pydantic adds to a path: the column's tag and a union's member."""
    keys = list(loc)
    if keys[:1] == ["columns"] and len(keys) > 2:  # noqa: PLR2004  name, then tag
        del keys[2]
    if keys[:1] == ["derive"] and keys[2:3] == ["column"]:
        del keys[3:4]
    if keys[:1] == ["releases"] and keys[2:3] == ["statistics"]:
        del keys[5:]
        if keys[4:5] == ["edges"]:
            keys = list(loc[:6])
    return tuple(keys)


def _one(item: ErrorDetails, raw: Mapping[str, Any], file: str) -> ProjectError:
    keys = _keys_of(item["loc"])
    place = f"{file}: {_name(keys, raw)}" if keys else file
    inner = item.get("ctx", {}).get("error")
    if isinstance(inner, SfumatoError):
        return PlacedError(inner, place)
    key = str(keys[-1]) if keys else ""
    facts = {"place": place, "value": shown(item["input"]), "key": key}
    match item["type"]:
        case "extra_forbidden":
            return _unknown(keys, item["loc"], place)
        case "missing":
            return ProjectError(
                N_("{place} is missing"),
                hint=N_("add it; docs/project-file.md shows every entry"),
                **facts,
            )
        case "union_tag_not_found" | "union_tag_invalid":
            return _kind(item, place)
        case "literal_error":
            told = item["ctx"]["expected"].replace("'", '"')
            told = "true" if told == "True" else told
            first, _, last = told.rpartition(" or ")
            return ProjectError(
                N_("{place} cannot be {value}"),
                hint=N_("write {expected} or {last}")
                if first
                else N_("write {expected}"),
                expected=first or last,
                last=last,
                **facts,
            )
        case kind:
            mend = _MEND.get(kind, N_("docs/project-file.md shows every entry"))
            if kind.startswith("model_") and "statistics" in keys:
                mend = _STATISTIC
            headed = len(keys) == 1 or key == "tables"
            if kind == "list_type" and headed and isinstance(item["input"], dict):
                mend = N_("write its heading in double square brackets: [[{key}]]")
            return ProjectError(
                _WANTED.get(kind, N_("{place} cannot be {value}")),
                hint=mend,
                **facts,
            )


def _kind(item: ErrorDetails, place: str) -> ProjectError:
    given = item["input"].get("type") if isinstance(item["input"], dict) else None
    if given is None:
        return ProjectError(
            N_("{place}.type is missing"),
            hint=N_(
                'write type = "real", "integer", "date", "category", "boolean" or "text"'
            ),
            place=place,
        )
    near = nearest(str(given), _COLUMNS)
    hint = N_("did you mean {near}?") if "," not in near else N_("choose one of {near}")
    return ProjectError(
        N_("{place}.type cannot be {value}"),
        hint=hint,
        place=place,
        value=shown(given),
        near=near,
    )


def _unknown(
    keys: tuple[int | str, ...], loc: tuple[int | str, ...], place: str
) -> ProjectError:
    fields = _table(loc).model_fields.items()
    near = nearest(str(keys[-1]), [field.alias or name for name, field in fields])
    hint = N_("did you mean {near}?")
    if "," in near:
        hint = N_("remove it; here may stand {near}")
    known = _USUAL.get(str(keys[-1]).lower()) if "statistics" in keys else None
    if known is not None:
        near, hint = repr(known), N_("did you mean {near}?")
    if keys[-1] in ("min", "max") and "statistics" in keys:
        hint = N_(
            "one row decides it; ask for near_minimum, near_maximum or a quantile"
        )
    return ProjectError(N_("{place} is unknown"), hint=hint, place=place, near=near)


def _table(loc: tuple[int | str, ...]) -> type[BaseModel]:  # noqa: C901, PLR0911, PLR0912  one per table
    """Return the model that the last key of a path was looked for in."""
    match loc:
        case (_,):
            return model.ProjectFile
        case ("columns", _, tag, _):
            return _COLUMNS[str(tag)]
        case ("derive", _, "column", tag, _):
            return _COLUMNS[str(tag)]
        case ("derive", *_):
            return column.DeriveTable
        case ("tables", _, "columns", _, tag, _):
            return _COLUMNS[str(tag)]
        case ("tables", _, "unit", _):
            return model.UnitTable
        case ("tables", *_):
            return model.OtherTable
        case ("releases", _, "rows", _, "per_person", _, "column", tag, _):
            return _COLUMNS[str(tag)]
        case ("releases", _, "rows", _, "per_person", _, *_):
            return model.FigureTable
        case ("releases", _, "rows", *_):
            return model.RowsTable
        case ("releases", _, "statistics", *_):
            return model.StatisticTable
        case ("budget", "limits", *_):
            return model.LimitTable
        case ("releases", *_):
            return model.ReleaseTable
        case (table, *_):
            return _TABLES[str(table)]
        case _:
            return model.ProjectFile


def _name(keys: tuple[int | str, ...], raw: Mapping[str, Any]) -> str:
    """Write a path, with releases and derived columns called by their names."""
    named = list(keys)
    if named[0] in ("releases", "derive", "tables") and len(named) > 1:
        entry = raw[str(named[0])][named[1]]
        name = entry.get("name") if isinstance(entry, dict) else None
        named[1] = name if isinstance(name, str) and name else named[1]
    return place_of(*named)
