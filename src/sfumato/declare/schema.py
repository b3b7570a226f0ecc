"""Tables as their owner declares them; nothing here is ever inferred from rows.

Every cell is read by one total rule, the same on every engine
(``docs/missing-values.md``): null, NaN, declared codes and cells that do not fit the
declared type are *missing*; infinities and values beyond the bounds are clamped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

from sfumato.declare.number import Integer, Number, Real
from sfumato.declare.text import Text
from sfumato.declare.token import token
from sfumato.declare.unit import Identifier, Rows, Unit, check_unit
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.words import N_

__all__ = [
    "Boolean",
    "Category",
    "Column",
    "Integer",
    "Key",
    "Known",
    "Number",
    "Real",
    "Schema",
    "Stored",
    "Text",
    "describing",
    "token",
]

Key: TypeAlias = "str | int | bool"


@dataclass(frozen=True, slots=True, init=False)
class Category:
    """A column whose public values are declared; any other cell is missing.

    Keys and cells are compared as text after one rule: a whole number is its digits
    (``1``, ``1.0`` and the texts ``"1"`` and ``"1.0"`` are one key); all other text
    is compared exactly (no trimming, case folding or Unicode normalisation).

    Args:
        values: The keys in the order in which figures shall appear: texts or integers.

    Raises:
        DeclarationError: No key, a key twice, or a key that is not text or an integer.

    Examples:
        >>> Category(["男", "女"]).values
        ('男', '女')
        >>> Category([0.0, 1]).tokens
        ('0', '1')
    """

    values: tuple[Key, ...]

    def __init__(self, values: Iterable[object]) -> None:
        """Check the keys once."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            values = [values]
        keys: list[Key] = []
        for value in values:
            if isinstance(value, bool) or token(value) is None:
                raise DeclarationError(
                    N_("category {value} is not a text or a whole number"),
                    hint=N_("use texts or integers; for true/false declare Boolean()"),
                    value=quoted(value),
                )
            keys.append(value if isinstance(value, str) else int(value))  # type: ignore[call-overload]
        object.__setattr__(self, "values", tuple(keys))
        if not keys or len(set(self.tokens)) < len(keys):
            raise DeclarationError(
                N_("categories must be given, each once; got {values}"),
                hint=N_('list the public keys; note that 1 and "1" are one key'),
                values=keys,
            )

    @property
    def tokens(self) -> tuple[str, ...]:
        """The canonical text of each key, in order."""
        return _texts(self.values)


@dataclass(frozen=True, slots=True, init=False)
class Boolean:
    """A column of true and false; any other cell is missing.

    Args:
        true: Cells that mean true; default ``true``/``True``/``TRUE`` and ``1``.
        false: Cells that mean false; default ``false``/``False``/``FALSE`` and ``0``.

    Raises:
        DeclarationError: Only one side is given, or a cell stands on both sides.

    Examples:
        >>> Boolean(true="yes", false="no").values
        (False, True)
    """

    true: tuple[str, ...]
    false: tuple[str, ...]

    def __init__(self, true: object = None, false: object = None) -> None:
        """Check the mapping once."""
        yes = ("true", "True", "TRUE", "1") if true is None else _tokens(true)
        no = ("false", "False", "FALSE", "0") if false is None else _tokens(false)
        if (true is None) != (false is None) or set(yes) & set(no) or not (yes and no):
            raise DeclarationError(
                N_("Boolean needs separate cells for true and for false"),
                hint=N_('give both, such as Boolean(true="yes", false="no")'),
            )
        object.__setattr__(self, "true", yes)
        object.__setattr__(self, "false", no)

    @property
    def values(self) -> tuple[bool, bool]:
        """The keys in the order in which figures appear."""
        return (False, True)


Known: TypeAlias = Real | Integer | Category | Boolean
"""Columns whose every value is declared: by bounds, or by a list of keys."""
Column: TypeAlias = Known | Text

Stored: TypeAlias = Column | Identifier
"""What a loader reads: a declared column, or the identifiers of the protected unit."""


@dataclass(frozen=True, slots=True, init=False)
class Schema:
    """The public facts of a table: its columns and whose rows they are.

    Args:
        columns: Declared columns by their exact name in the source. Columns that are
            not declared cannot be asked about.
        unit: The protected unit and the neighbour relation; default one row, added or
            removed. ``Unit("patient_id", …)`` for people with several rows.

    Raises:
        DeclarationError: No column, something that is not a column declaration or not
            a unit, or the unit's column declared as a column too.

    Examples:
        >>> schema = Schema({"Age": Integer(0, 120), "Outcome": Category([0, 1])})
        >>> list(schema)
        ['Age', 'Outcome']
        >>> schema["Ages"]
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] unknown column 'Ages'
          hint: did you mean 'Age'? Only declared columns can be asked about
    """

    columns: tuple[tuple[str, Column], ...]
    unit: Rows | Unit

    def __init__(
        self, columns: Mapping[str, Column], unit: Rows | Unit | None = None
    ) -> None:
        """Check the declarations once."""
        if not isinstance(columns, Mapping):
            raise DeclarationError(
                N_("the columns of a schema are named, got {value}"),
                hint=N_('write Schema({{"Age": Integer(0, 120)}})'),
                value=type(columns).__name__,
            )
        for name, column in columns.items():
            if not isinstance(column, Column):
                raise DeclarationError(
                    N_("column {name} is not declared with a column type"),
                    hint=N_("use Real, Integer, Date, Category, Boolean or Text"),
                    name=quoted(name),
                )
        if not columns:
            raise DeclarationError(
                N_("the schema declares no column"),
                hint=N_('declare at least one, such as {{"Age": Integer(0, 120)}}'),
            )
        whose = Rows() if unit is None else unit
        check_unit(whose, columns)
        object.__setattr__(self, "columns", tuple(columns.items()))
        object.__setattr__(self, "unit", whose)

    @property
    def stored(self) -> tuple[tuple[str, Stored], ...]:
        """What is read of each row: the declared columns, then the unit's."""
        if isinstance(self.unit, Rows):
            return self.columns
        return (*self.columns, (self.unit.column, self.unit.identifier))

    @property
    def declared(self) -> Schema:
        """The schema as it was declared, whatever clipping bounds were found since."""
        columns = {
            name: column.declared if isinstance(column, Real | Integer) else column
            for name, column in self.columns
        }
        return Schema(columns, self.unit)

    def __str__(self) -> str:
        """Render as a table; `repr` names all, for what a receipt paid for hashes it."""
        return str(describing().schema_text(self))

    def _repr_html_(self) -> str:
        """Render for a notebook: declarations only."""
        return str(describing().declared_html(self))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the declared names, in order."""
        return (name for name, _ in self.columns)

    def __getitem__(self, name: str) -> Column:
        """Return a declared column, or say which name is near."""
        for known, column in self.columns:
            if known == name:
                return column
        if name == getattr(self.unit, "column", None):
            raise DeclarationError(
                N_("column {name} says whose a row is; it cannot be used otherwise"),
                hint=N_("to count the people, ask for people()"),
                name=repr(name),
            )
        raise DeclarationError(
            N_("unknown column {name}"),
            hint=N_("did you mean {near}? Only declared columns can be asked about"),
            name=repr(name),
            near=nearest(str(name), self),
        )


def describing() -> Any:
    """Return `sfumato.describe`: a link upward by name, as that of releases to reports."""
    return import_module("sfumato.describe")


@lru_cache(maxsize=64)  # thousands of codes, and every key of a filter asks for them
def _texts(values: tuple[Key, ...]) -> tuple[str, ...]:
    return tuple(str(token(v)) for v in values)


def _tokens(cells: object) -> tuple[str, ...]:
    several = cells if isinstance(cells, tuple | list | set) else (cells,)
    return tuple(t for c in several if (t := token(c)) is not None)
