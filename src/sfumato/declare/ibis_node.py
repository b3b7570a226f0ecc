"""Nodes of Ibis, known by the names of their classes; each argument is used or refused."""

from __future__ import annotations

from typing import Any, NoReturn

from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["kind_of", "opened", "refuse"]


def opened(node: Any, kind: str, *names: str, hint: str, **facts: object) -> list[Any]:
    """Return these arguments of a node of this kind; any other that is set is refused."""
    if kind_of(node) != kind:
        refuse(kind_of(node), hint, **facts)
    parts = dict(zip(node.__argnames__, node.__args__, strict=True))
    for name, value in parts.items():
        if name not in names and value is not None and value != ():
            refuse(f"{kind}.{name}", hint, **facts)
    if set(names) - set(parts):  # another Ibis, whose node means something else
        refuse(kind, hint, **facts)
    return [parts[name] for name in names]


def kind_of(node: Any) -> str:
    """Return the name of a node's class, if it is one of Ibis's own."""
    kind = type(node)
    own = kind.__module__.startswith("ibis.expr.operations.")
    return kind.__name__ if own else f"{kind.__module__}.{kind.__name__}"


def refuse(construct: str, hint: str, **facts: object) -> NoReturn:
    """Refuse the expression because of one construct."""
    raise DeclarationError(
        N_("the expression of Ibis cannot be asked because of {construct}"),
        hint=hint,
        construct=construct,
        **facts,
    )
