"""Fitted models as JSON: no pickle, no code, and nothing but what the fit paid for."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.account import GDP, ZCDP, Epsilon, loss_text, read_loss
from sfumato.errors import DeclarationError
from sfumato.models.declared import Keys, Span
from sfumato.models.line import Line
from sfumato.models.trees import Tree
from sfumato.release.files import write
from sfumato.words import N_

__all__ = ["from_json", "load", "save", "to_json"]

_FORMAT = "sfumato-model"
_PARTS: dict[str, type[Any]] = {"Span": Span, "Keys": Keys, "Line": Line, "Tree": Tree}
_DROPPED = {"budget", "schema"}


def to_json(model: Any) -> str:
    """Return a fitted model as JSON: its settings, fitted numbers and claim.

    The budget and the schema are left out; what the fit needed of them is in the
    fitted facts.
    """
    fitted = {k: v for k, v in vars(model).items() if _is_fitted(k)}
    if "best_estimator_" in fitted:
        raise DeclarationError(
            N_("a search is not saved, its model is"),
            hint=N_("save best_estimator_, whose claim is the search's"),
        )
    if "privacy_claim_" not in fitted:
        raise DeclarationError(
            N_("only a fitted model can be saved"),
            hint=N_("call fit first"),
        )
    settings = {
        k: v for k, v in model.get_params(deep=False).items() if k not in _DROPPED
    }
    told = {
        "format": _FORMAT,
        "version": 1,
        "estimator": type(model).__name__,
        "settings": {k: _plain(v) for k, v in settings.items()},
        "fitted": {k: _plain(v) for k, v in fitted.items()},
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1)


def from_json(text: str) -> Any:
    """Return the model that `to_json` wrote; it predicts, and has no budget.

    Raises:
        DeclarationError: The text is no model of a known kind.
    """
    from sfumato import models

    try:
        told = json.loads(text)
        name = told["estimator"]
        kind = getattr(models, name) if name in models.__all__ else None
        if told["format"] != _FORMAT or told["version"] != 1 or kind is None:
            raise _unreadable()
        known = kind().get_params()
        settings = {k: _read(v) for k, v in told["settings"].items() if k in known}
        model = kind(**settings)
        for attribute, value in told["fitted"].items():
            if not _is_fitted(attribute):
                raise _unreadable()
            setattr(model, attribute, _read(value))
    except DeclarationError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _unreadable() from None
    return model


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file; an existing one is replaced as a whole."""
    write(Path(path), to_json(model))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Raises:
        DeclarationError: The file cannot be read, or holds no model of a known kind.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _unreadable() from None
    except OSError as error:
        raise DeclarationError(
            N_("{path} cannot be read: {reason}"),
            hint=N_("check the path and your right to read the file"),
            path=str(path),
            reason=error.strerror or str(error),
        ) from None
    return from_json(text)


def _is_fitted(name: str) -> bool:
    return name == "_line" or (name.endswith("_") and not name.startswith("_"))


def _plain(value: Any) -> Any:
    """Return a value as JSON, with a tag where JSON has no such kind."""
    found: Any
    match value:
        case np.ndarray():
            kind = "O" if value.dtype.kind in "OUS" else value.dtype.str
            cells = [_plain(v) for v in value.ravel().tolist()]
            found = {"$": "array", "dtype": kind, "shape": value.shape, "cells": cells}
        case np.generic():
            item = value.item()
            found = str(item) if isinstance(item, np.generic) else _plain(item)
        case Span() | Keys() | Line() | Tree():
            fields = {n: _plain(getattr(value, n)) for n in type(value).__slots__}
            found = {"$": type(value).__name__, **fields}
        case tuple():
            found = {"$": "tuple", "cells": [_plain(v) for v in value]}
        case list():
            found = [_plain(v) for v in value]
        case Mapping():
            pairs = [[_plain(k), _plain(v)] for k, v in value.items()]
            found = {"$": "dict", "cells": pairs}
        case Epsilon() | ZCDP() | GDP():
            found = {"$": "loss", "text": loss_text(value)}
        case float() if not isfinite(value):  # which JSON does not know
            found = {"$": "float", "text": repr(value)}
        case None | str() | int() | float() | bool():
            found = value
        case _:
            found = str(value)
    return found


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(v) for v in value]
    return _tagged(value) if isinstance(value, dict) else value


def _tagged(value: Mapping[str, Any]) -> Any:
    match value["$"]:
        case "array":
            return _array(value)
        case "tuple":
            return tuple(_read(v) for v in value["cells"])
        case "dict":
            return {_read(k): _read(v) for k, v in value["cells"]}
        case "float":
            return float(value["text"])
        case "loss":
            return read_loss(value["text"])
        case kind:
            fields = {k: _read(v) for k, v in value.items() if k != "$"}
            return _PARTS[kind](**fields)


def _array(told: Mapping[str, Any]) -> Any:
    cells = [_read(c) for c in told["cells"]]
    if told["dtype"] == "O":
        return np.array(cells).reshape(told["shape"])
    return np.array(cells, np.dtype(told["dtype"])).reshape(told["shape"])


def _unreadable() -> DeclarationError:
    return DeclarationError(
        N_("this is no model that can be read"),
        hint=N_("give a file that save() of this version wrote"),
    )
