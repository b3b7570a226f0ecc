"""Public key sets: which combinations of keys are answered for, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NoReturn, final

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Key, Schema, Text, token
from sfumato.errors import DeclarationError, closest, quoted
from sfumato.words import N_

__all__ = ["Listed", "fitting", "no_keys", "read_listed"]


@final
@dataclass(frozen=True, slots=True)
class Listed:
    """A public list of keys of some grouping columns: these combinations, no others.

    Attributes:
        columns: The columns.
        keys: For each combination one key per column, in the order of the figures.
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[Key, ...], ...]


def no_keys(name: str, column: object) -> DeclarationError:
    """Return the refusal to group by a column of numbers or days."""
    hint = N_("declare it as Category([...]), or ask for a histogram of it")
    if isinstance(column, Date):
        hint = N_(
            "derive its year, month, day or weekday and group by that, or ask for a "
            "histogram of it"
        )
    fact = N_("column {name} cannot group: it has no declared keys")
    return DeclarationError(fact, hint=hint, name=repr(name))


def read_listed(columns: tuple[str, ...], keys: object) -> Listed:
    """Read a list of keys as a user gives it; its shape and types are checked.

    Args:
        columns: The columns that it is about.
        keys: For one column a list of keys; for several a list of tuples.

    Raises:
        DeclarationError: No list, no key, a key that is neither text, whole number nor
            truth value, a tuple of another length, or a combination that stands twice.

    Examples:
        >>> read_listed(("Sex", "Year"), [("F", 2024), ("M", 2025)]).keys
        (('F', 2024), ('M', 2025))
        >>> read_listed(("Score",), [0.5])
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] 0.5 cannot be a key of 'Score'
          hint: keys are texts, whole numbers, or true and false; cut numbers into bins
    """
    if (
        not isinstance(keys, Iterable)
        or isinstance(keys, str | bytes | Mapping | AbstractSet)
        or hasattr(keys, "columns")  # a frame iterates over its names
    ):
        raise DeclarationError(
            N_("the keys of a group must be a list, got {value}"),
            hint=N_(
                'write keys=["F", "M"], or for several columns '
                'keys=[("F", 2024), ("M", 2024)]; the order is that of the figures'
            ),
            value=type(keys).__name__,
        )
    if not columns:
        raise DeclarationError(
            N_("keys are listed, and no column to group by is named"),
            hint=N_('name it: group_by("Sex", keys=["F", "M"])'),
        )
    found = [_combination(columns, entry) for entry in keys]
    if not found:
        raise DeclarationError(
            N_("the list of keys of {names} is empty"),
            hint=N_("list the public keys to answer for, or leave keys out"),
            names=", ".join(columns),
        )
    seen = set()
    for combination in found:
        alike = tuple(map(_kind_and_text, combination))
        if alike in seen:
            raise DeclarationError(
                N_("the key {key} of {names} is listed twice"),
                hint=N_("list each key once"),
                key=_shown(combination),
                names=", ".join(columns),
            )
        seen.add(alike)
    return Listed(columns, tuple(found))


def fitting(listed: Listed, schema: Schema) -> Listed:
    """Return the list with each key as it is declared.

    Raises:
        DeclarationError: A key is not declared, or is of another type than the
            declared one that it resembles; the hint names the nearest.
    """
    known: list[dict[object, Key] | Text] = []
    for name in listed.columns:
        column = schema[name]
        if isinstance(column, Text):
            known.append(column)
            continue
        if not isinstance(column, Category | Boolean):
            raise no_keys(name, column)
        known.append({_kind_and_text(value): value for value in column.values})
    return Listed(
        listed.columns,
        tuple(
            tuple(
                _text(name, key, values)
                if isinstance(values, Text)
                else _declared(name, key, values)
                for name, key, values in zip(
                    listed.columns, combination, known, strict=True
                )
            )
            for combination in listed.keys
        ),
    )


def _declared(name: str, key: Key, known: Mapping[object, Key]) -> Key:
    if (value := known.get(_kind_and_text(key))) is not None:
        return value
    # A text that reads like a declared number, or the reverse, is the nearest of all.
    texts = {repr(str(value)): value for value in known.values()}
    near = closest(str(key), map(str, known.values()))
    like = texts.get(repr(str(key)), texts.get(near))
    listed = ", ".join(map(repr, known.values()))
    raise DeclarationError(
        N_("{key} is no declared key of {name}"),
        hint=N_("the nearest declared keys: {near}"),
        key=quoted(key),
        name=repr(name),
        near=(listed if like is None else repr(like))[:200],
    )


def _text(name: str, key: Key, column: Text) -> str:
    if not isinstance(key, str):
        raise DeclarationError(
            N_("{key} is no text, and the keys of {name} are texts"),
            hint=N_("the nearest key is {near}"),
            key=quoted(key),
            name=repr(name),
            near=repr(token(key)),
        )
    if len(key) > column.longest:
        raise DeclarationError(
            N_("{key} is longer than the {most} characters of a key of {name}"),
            hint=N_("no cell can be this key; declare Text(longest=…) for longer ones"),
            key=quoted(key),
            most=column.longest,
            name=repr(name),
        )
    return str(token(key))


def _combination(columns: tuple[str, ...], entry: object) -> tuple[Key, ...]:
    several = entry if isinstance(entry, tuple | list) else (entry,)
    if len(several) != len(columns):
        raise DeclarationError(
            N_("the key {key} has {count} parts, and the columns are {names}"),
            hint=N_("write one key per column, in their order: {example}"),
            key=_shown(several),
            count=len(several),
            names=", ".join(columns),
            example="(" + ", ".join(f"key of {c}" for c in columns) + ")",
        )
    return tuple(_key(n, k) for n, k in zip(columns, several, strict=True))


def _key(column: str, value: Any) -> Key:
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, str | int) or token(value) is None:
        _refuse(column, value)
    if isinstance(value, str):
        return str(value)
    return value if isinstance(value, bool) else int(value)


def _refuse(column: str, value: object) -> NoReturn:
    raise DeclarationError(
        N_("{key} cannot be a key of {name}"),
        hint=N_(
            "keys are texts, whole numbers, or true and false; cut numbers into bins"
        ),
        key=quoted(value),
        name=repr(column),
    )


def _kind_and_text(key: Key) -> tuple[str, str | None]:
    """Return what makes two keys one: their type, and their text by the rule of cells."""
    return type(key).__name__, token(key)


def _shown(parts: Iterable[object]) -> str:
    several = tuple(parts)
    return quoted(several[0] if len(several) == 1 else several)
