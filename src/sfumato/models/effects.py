"""What a fitted model learned of each feature, as the lines of a model card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.models.declared import Span
from sfumato.models.door import Floats
from sfumato.models.table import Encoder
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["Effect", "effects", "intercept_words", "order_words"]

Say: TypeAlias = Callable[..., str]


@final
@dataclass(frozen=True, slots=True)
class Effect:
    """One line: a number, or one key of a category.

    Attributes:
        name: The feature, and its key.
        bounds: Its declared bounds.
        coefficient: Per unit, one per output; empty where there is none.
        effect: Over the whole range, or with this key, one per output.
    """

    name: str
    bounds: str
    coefficient: str = ""
    effect: str = ""


def effects(model: Any, features: Sequence[str], say: Say) -> Iterator[Effect]:
    """Iterate over the lines of a fitted model: all of it was paid for by the fit."""
    coef, curves = _coefficients(model), _curves(model)
    place = 0
    for j, (name, feature) in enumerate(zip(features, model.features_, strict=True)):
        cells = (None,) if isinstance(feature, Span) else feature.cells
        for k, group in enumerate(cells):
            values = None if coef is None else coef[:, place]
            place += 1
            curve = None if curves is None else curves[j]
            if isinstance(feature, Span):
                bounds = f"{feature.lower:g} – {feature.upper:g}"
                swing = None if curve is None else curve.max(axis=0) - curve.min(axis=0)
                width = feature.upper - feature.lower
                yield Effect(visible(name), bounds, *_shown(values, width, swing))
            else:
                label = visible(f"{name} = {group[0]}")
                level = None if curve is None else curve[k]
                yield Effect(label, say(N_("yes or no")), *_shown(values, 1.0, level))


def order_words(model: Any, say: Say) -> str:
    """Say in which order several numbers of one line stand; empty for one."""
    coef, curves = _coefficients(model), _curves(model)
    table = coef.T if coef is not None else curves[0] if curves else None
    if table is None or table.shape[1] == 1:
        return ""
    names = " / ".join(visible(str(c)) for c in model.classes_.tolist())
    return say(N_("One number per class, in this order: {classes}"), classes=names)


def intercept_words(model: Any) -> str:
    """Return the intercept of each output; empty where there is none."""
    found = getattr(model, "intercept_", None)
    if found is None and _is_plain_line(model):
        found = model._line.raw(Encoder(model.features_))[1]  # noqa: SLF001
    return "" if found is None else _row(np.ravel(found), ".4g")


def _is_plain_line(model: Any) -> bool:
    """Tell a line over the features themselves, as naive Bayes has it."""
    return hasattr(model, "_line") and getattr(model, "degree", 1) == 1


def _coefficients(model: Any) -> Floats | None:
    """Return coefficients, shape (outputs, encoded columns), or none."""
    if hasattr(model, "coef_"):
        return np.atleast_2d(model.coef_)
    if _is_plain_line(model):
        coef: Floats = model._line.raw(Encoder(model.features_))[0]  # noqa: SLF001
        return coef
    return None


def _curves(model: Any) -> list[Floats] | None:
    """Return what each feature adds at the points of its curve, or none."""
    return [s.adds for s in model.shapes()] if hasattr(model, "shapes") else None


def _shown(
    values: Floats | None, width: float, swing: Floats | None
) -> tuple[str, str]:
    if values is not None:
        return _row(values, ".4g"), _row(values * width, "+.2f")
    return "", "" if swing is None else _row(swing, ".2f")


def _row(values: Floats, form: str) -> str:
    return " / ".join(format(v, form) for v in values.tolist())
