"""JSON → release: every field is checked; a file from elsewhere is not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, get_args

from sfumato.account import Measure
from sfumato.account.loss import ATTO
from sfumato.amount import exact
from sfumato.errors import ArgumentError
from sfumato.release.loss import FAILING
from sfumato.release.record import (
    SCHEMA_VERSION,
    Claim,
    Figure,
    Kind,
    Measurement,
    Noise,
    Person,
    Receipt,
    Release,
)
from sfumato.words import N_

__all__ = ["from_json"]

T = TypeVar("T")
Reader = Callable[[Any, str], Any]

_DOTS = 20
_HINT = N_("give a release.json that sfumato wrote, unchanged")


def from_json(text: str | bytes) -> Release:
    """Read a release back, exactly as it was.

    Args:
        text: What `to_json` wrote; bytes are UTF-8.

    Raises:
        ArgumentError: Not JSON, not a release, or of a later version.
    """
    document = _parse(text)
    _is_object(document, "")
    version = document.get("schema_version")
    if type(version) is int and version > SCHEMA_VERSION:
        raise ArgumentError(
            N_("the release has schema version {version}; this sfumato reads {known}"),
            hint=N_("update sfumato: pip install --upgrade sfumato"),
            version=version,
            known=SCHEMA_VERSION,
        )
    release: Release = _release(document, "")
    return release


def _parse(text: str | bytes) -> Any:
    try:
        words = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(
            words.removeprefix("\ufeff"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique,
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(N_("this is not a JSON text"), hint=_HINT) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ArgumentError(
        N_("{name} is not a number that JSON knows"), hint=_HINT, name=name
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ArgumentError(N_("a field is given twice"), hint=_HINT)
    return record


def _wrong(fact: str, where: str) -> ArgumentError:
    return ArgumentError(fact, hint=_HINT, where=where or "release")


def _is_object(value: Any, where: str) -> None:
    if not isinstance(value, dict):
        raise _wrong(N_("{where} must be an object"), where)


def _is_text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(N_("{where} must be text"), where)
    return value


def _is_number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(N_("{where} must be a number"), where)
    if not _fits(value):
        raise _wrong(N_("{where} must be a finite number"), where)
    return value


def _fits(value: float | Fraction) -> bool:
    """Tell whether a number is finite, also as a float: pages compute with floats."""
    try:
        return isfinite(float(value))
    except OverflowError:
        return False


def _is_share(value: Any, where: str) -> float:
    if not 0 < _is_number(value, where) < 1:
        raise _wrong(N_("{where} must lie between 0 and 1"), where)
    return float(value)


def _is_whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(N_("{where} must be a whole number"), where)
    return value


def _is_flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(N_("{where} must be true or false"), where)
    return value


def _is_amount(value: Any, where: str) -> str:
    amount = exact(_is_text(value, where))
    if amount is None or amount < 0 or not _fits(amount):
        raise _wrong(N_("{where} must be the text of a number, 0 or more"), where)
    return str(value)


def _is_delta(value: Any, where: str) -> str:
    delta = exact(_is_amount(value, where)) or Fraction(0)
    if delta >= 1 or ATTO % delta.denominator:
        raise _wrong(N_("{where} must lie in [0, 1), in steps of 1e-18"), where)
    return str(value)


def _is_loss(value: Any, where: str) -> str:
    """Read a loss: a number, or a number and a δ: ``0.1 + delta 0.000001``."""
    amount, joined, delta = _is_text(value, where).partition(FAILING)
    _is_amount(amount, where)
    if joined:
        _is_delta(delta, where)
    return str(value)


def _is_measure(value: Any, where: str) -> str:
    if value not in get_args(Measure):
        raise _wrong(N_("{where} is not a currency that this sfumato knows"), where)
    return str(value)


def _is_kind(value: Any, where: str) -> str:
    if value not in get_args(Kind):
        raise _wrong(N_("{where} is not a statistic that this sfumato knows"), where)
    return str(value)


def _is_key(value: Any, where: str) -> str | int | bool:
    if not isinstance(value, str | int):
        raise _wrong(N_("{where} must be text, a whole number, true or false"), where)
    return value


def _is_group(value: Any, where: str) -> dict[str, str | int | bool]:
    _is_object(value, where)
    return {k: _is_key(v, f"{where}.{k}") for k, v in value.items()}


def _is_bin(value: Any, where: str) -> Any:
    return _is_pair(value, where) if isinstance(value, list) else _is_key(value, where)


def _is_pair(value: Any, where: str) -> tuple[float, float]:
    numbers = _is_list(_is_number)(value, where)
    if len(numbers) != 2 or numbers[0] > numbers[1]:  # noqa: PLR2004  a pair
        raise _wrong(N_("{where} must be two numbers in order"), where)
    return (numbers[0], numbers[1])


def _is_dots(value: Any, where: str) -> tuple[float, ...]:
    dots: tuple[float, ...] = _is_list(_is_number)(value, where)
    if len(dots) != _DOTS or list(dots) != sorted(dots):
        raise _wrong(N_("{where} must be twenty numbers in order"), where)
    return dots


def _is_list(reader: Reader) -> Reader:
    def read(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong(N_("{where} must be a list"), where)
        return tuple(reader(item, f"{where}[{i}]") for i, item in enumerate(value))

    return read


def _or_none(reader: Reader) -> Reader:
    return lambda value, where: None if value is None else reader(value, where)


def _record(
    make: Callable[..., T],
    fields: Mapping[str, Reader],
    optional: Mapping[str, Reader] = MappingProxyType({}),
) -> Reader:
    known = {**fields, **optional}

    def read(value: Any, where: str) -> T:
        _is_object(value, where)
        places = {k: f"{where}.{k}".lstrip(".") for k in (*fields, *value)}
        for key in value:
            if key not in known:
                raise _wrong(N_("{where} is not a field of a release"), places[key])
        for key in fields:
            if key not in value:
                raise _wrong(N_("{where} is missing"), places[key])
        return make(
            **{k: read(value[k], places[k]) for k, read in known.items() if k in value}
        )

    return read


def _make_figure(interval: tuple[float, float], **fields: Any) -> Figure:
    return Figure(low=interval[0], high=interval[1], **fields)


def _make_claim(**fields: Any) -> Claim:
    """Refuse a claim in ε that tells another ε or δ than its loss; only ρ converts."""
    claim = Claim(**fields)
    paid = claim.receipt
    losses = (claim.loss, paid.cost, paid.spent, paid.cap)
    if claim.measure == "gdp" and any(FAILING in loss for loss in losses):
        raise _wrong(N_("{where} has no part delta in this currency"), "claim.loss")
    if claim.measure == "epsilon":
        epsilon, _, delta = claim.loss.partition(FAILING)
        if claim.epsilon != epsilon:
            raise _wrong(N_("{where} must be the loss itself"), "claim.epsilon")
        if exact(claim.delta) != exact(delta or "0"):
            raise _wrong(N_("{where} must be that of the loss"), "claim.delta")
    return claim


def _make_release(schema_version: int, **fields: Any) -> Release:
    if schema_version != SCHEMA_VERSION:
        raise _wrong(N_("{where} is not a known version"), "schema_version")
    return Release(**fields)


_noise = _record(
    Noise,
    {
        "law": _is_text,
        "scale": _is_amount,
        "step": _is_number,
        "loss": _is_loss,
        "joint": _is_whole,
    },
)

_figure = _record(
    _make_figure,
    {
        "name": _is_text,
        "kind": _is_kind,
        "column": _or_none(_is_text),
        "group": _is_group,
        "estimate": _is_number,
        "interval": _is_pair,
        "noise": _is_list(_noise),
        "unit": _is_text,
        "bin": _or_none(_is_bin),
    },
    {
        "other": _is_text,
        "other_bin": _is_bin,
        "raw": _is_number,
        "sampling": _is_pair,
        "dots": _is_dots,
        "other_unit": _is_text,
        "closed": _is_flag,
    },
)

_receipt = _record(
    Receipt,
    {
        "dataset": _is_text,
        "sequence": _is_whole,
        "cost": _is_loss,
        "spent": _is_loss,
        "cap": _is_loss,
        "plan": _is_text,
        "time": _is_text,
        "head": _is_text,
    },
)

_bounds = _record(
    Person, {"column": _is_text, "max_rows": _is_whole, "max_groups": _is_whole}
)

_claim = _record(
    _make_claim,
    {
        "measure": _is_measure,
        "loss": _is_loss,
        "epsilon": _or_none(_is_amount),
        "delta": _is_delta,
        "unit": _is_text,
        "neighbours": _is_text,
        "size": _or_none(_is_whole),
        "receipt": _receipt,
        "private": _is_flag,
    },
    {"bounds": _bounds, "tables": _is_whole},
)

_measurement = _record(
    Measurement,
    {
        "name": _is_text,
        "sensitivity": _is_number,
        "noise": _noise,
        "values": _is_list(_is_whole),
    },
    {"threshold": _is_whole},
)

_release = _record(
    _make_release,
    {
        "schema_version": _is_whole,
        "title": _is_text,
        "question": _is_text,
        "confidence": _is_share,
        "figures": _is_list(_figure),
        "claim": _claim,
        "measurements": _is_list(_measurement),
    },
)
