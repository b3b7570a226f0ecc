"""The values that stand in a project file, each read once and exactly."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from math import isinf
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, PlainValidator, WithJsonSchema

from sfumato.account import Epsilon
from sfumato.account.loss import read_units
from sfumato.account.rho import ZCDP, read_delta
from sfumato.amount import exact, nearest_double
from sfumato.declare.calendar import day_of_text
from sfumato.errors import DeclarationError
from sfumato.project.place import shown
from sfumato.words import N_

__all__ = [
    "Day",
    "Days",
    "Delta",
    "Edge",
    "Keys",
    "Loss",
    "Number",
    "Numbers",
    "Positive",
    "Ratio",
    "Rho",
    "Share",
    "Strict",
    "Title",
    "Titles",
]


class Strict(BaseModel):
    """A table of the file: nothing unknown, nothing converted."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False
    )


class Titles(Strict):
    """A text in each language."""

    en: str
    zh: str


def _number(value: object) -> Decimal | int:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return value
    raise DeclarationError(
        N_("a number is needed, got {value}"),
        hint=N_("write it without quotes, such as 250 or 0.1"),
        value=shown(value),
    )


def _numbers(value: object) -> list[Decimal | int]:
    return list(map(_number, value if isinstance(value, list) else [value]))


def _epsilon(value: object) -> Epsilon:
    if isinstance(value, str | int | Decimal) and not isinstance(value, bool):
        return Epsilon(value)
    raise DeclarationError(
        N_("epsilon must be a finite number greater than 0, got {value}"),
        hint=N_('write a decimal such as "0.5"'),
        value=shown(value),
    )


def _rho(value: object) -> ZCDP:
    plain = isinstance(value, str | int | Decimal) and not isinstance(value, bool)
    return ZCDP.from_units(read_units("rho", value if plain else shown(value)))


def _delta(value: object) -> str:
    """Return δ as it was written, once it is known to be one."""
    plain = isinstance(value, str | int | Decimal) and not isinstance(value, bool)
    text = str(value) if plain else shown(value)
    read_delta(text)
    return text


def _positive(value: object) -> Decimal | int:
    number = exact(value) if isinstance(value, int | Decimal) else None
    none = number is None or number <= 0 or isinf(nearest_double(number))
    if none or isinstance(value, bool):
        raise DeclarationError(
            N_("a finite number greater than 0 is needed, got {value}"),
            hint=N_("write it without quotes, such as 2.5"),
            value=shown(value),
        )
    return _number(value)


def _confidence(value: object) -> float:
    number = exact(value) if isinstance(value, int | Decimal) else None
    share = float(number) if number is not None and 0 < number < 1 else 0.0
    if 0 < share < 1:  # 0.99999999999999999 would be rounded to 1
        return share
    raise DeclarationError(
        N_("confidence must lie between 0 and 1, got {value}"),
        hint=N_("write 0.95 for intervals that hold 95 times in 100"),
        value=shown(value),
    )


def _ratio(value: object) -> Decimal | int | str:
    plain = isinstance(value, str | int | Decimal) and not isinstance(value, bool)
    number = exact(value) if plain else None
    if number is None or not 0 < number < 1:
        raise DeclarationError(
            N_("ratio must lie between 0 and 1, got {value}"),
            hint=N_('write a decimal such as "0.8"'),
            value=shown(value),
        )
    return value  # type: ignore[return-value]  # one of these, as was just seen


def _keys(value: object) -> list[Any]:
    several = value if isinstance(value, list) else [value]
    for key in several:
        if not isinstance(key, str | int | Decimal) or isinstance(key, bool):
            raise DeclarationError(
                N_("a key is a text or a whole number, got {value}"),
                hint=N_('write, for example, ["F", "M"] or [0, 1]'),
                value=shown(key),
            )
    return several


def _day(value: object) -> dt.date | str:
    if isinstance(value, str) or type(value) is dt.date:
        return value
    raise DeclarationError(
        N_("{day} is no day"), hint=N_('write it as "2024-02-29"'), day=shown(value)
    )


def _days(value: object) -> list[dt.date | str]:
    return list(map(_day, value if isinstance(value, list) else [value]))


def _edge(value: object) -> Any:
    is_day = type(value) is dt.date or (
        isinstance(value, str) and day_of_text(value) is not None
    )
    return value if is_day else _number(value)


def _titles(value: object) -> Titles:
    if isinstance(value, str):
        return Titles(en=value, zh=value)
    if isinstance(value, dict):
        known = {k: v for k, v in value.items() if k in ("en", "zh")}
        if known and known == value and all(isinstance(v, str) for v in known.values()):
            return Titles(**{"en": known.get("zh"), "zh": known.get("en"), **known})
    raise DeclarationError(
        N_("a title is a text, or one text per language, got {value}"),
        hint=N_('write title = "…" or title = {{ en = "…", zh = "…" }}'),
        value=shown(value),
    )


_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}


def _or_list(*kinds: dict[str, Any]) -> dict[str, Any]:
    one = {"anyOf": list(kinds)} if len(kinds) > 1 else kinds[0]
    return {"anyOf": [*kinds, {"type": "array", "items": one}]}


Number: TypeAlias = Annotated[Any, PlainValidator(_number), WithJsonSchema(_NUMBER)]
Numbers: TypeAlias = Annotated[
    Any, PlainValidator(_numbers), WithJsonSchema(_or_list(_NUMBER))
]
Day: TypeAlias = Annotated[Any, PlainValidator(_day), WithJsonSchema(_TEXT)]
Edge: TypeAlias = Annotated[
    Any, PlainValidator(_edge), WithJsonSchema({"anyOf": [_NUMBER, _TEXT]})
]
Days: TypeAlias = Annotated[Any, PlainValidator(_days), WithJsonSchema(_or_list(_TEXT))]
Keys: TypeAlias = Annotated[
    Any, PlainValidator(_keys), WithJsonSchema(_or_list(_TEXT, {"type": "integer"}))
]
Loss: TypeAlias = Annotated[
    Any, PlainValidator(_epsilon), WithJsonSchema({"anyOf": [_TEXT, _NUMBER]})
]
Rho: TypeAlias = Annotated[
    Any, PlainValidator(_rho), WithJsonSchema({"anyOf": [_TEXT, _NUMBER]})
]
Delta: TypeAlias = Annotated[
    Any, PlainValidator(_delta), WithJsonSchema({"anyOf": [_TEXT, _NUMBER]})
]
Positive: TypeAlias = Annotated[
    Any,
    PlainValidator(_positive),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
Share: TypeAlias = Annotated[
    Any,
    PlainValidator(_confidence),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
Ratio: TypeAlias = Annotated[
    Any, PlainValidator(_ratio), WithJsonSchema({"anyOf": [_TEXT, _NUMBER]})
]
_TITLES = {
    "type": "object",
    "properties": {"en": _TEXT, "zh": _TEXT},
    "additionalProperties": False,
}
Title: TypeAlias = Annotated[
    Any, PlainValidator(_titles), WithJsonSchema({"anyOf": [_TEXT, _TITLES]})
]
