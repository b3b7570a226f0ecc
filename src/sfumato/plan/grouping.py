"""Which groups a question answers for: public keys, in the order of the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias, final

from sfumato.declare.keys import Listed, fitting
from sfumato.declare.query import Query
from sfumato.declare.schema import Boolean, Category, Key, Schema, token
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Group", "Grouping"]

Group: TypeAlias = "tuple[Key, ...]"


@final
@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a question.

    Attributes:
        columns: The grouping columns with their keys, as the question names them.
        blocks: Sets of columns whose combinations are listed together; the groups are
            the cross product of the blocks.
        other: The name of the group of all other rows, at the end; or none.
    """

    columns: tuple[tuple[str, Category | Boolean], ...]
    blocks: tuple[Listed, ...]
    other: str | None

    @classmethod
    def of(cls, query: Query, schema: Schema) -> Grouping:
        """Check the grouping of a question; reads no rows.

        Raises:
            DeclarationError: A column has no keys or groups twice, or a listed key is
                not declared.
        """
        if len(set(query.keys)) < len(query.keys):
            raise DeclarationError(
                N_("a column groups twice: {names}"),
                hint=N_("name each grouping column once"),
                names=", ".join(query.keys),
            )
        columns = tuple((name, _keyed(name, schema)) for name in query.keys)
        listed = {e.columns[0]: fitting(e, schema) for e in query.listed}
        inside = {name for block in listed.values() for name in block.columns}
        blocks = tuple(
            listed.get(name) or Listed((name,), tuple((v,) for v in column.values))
            for name, column in columns
            if name in listed or name not in inside
        )
        made = cls(columns, blocks, query.other)
        made._check_other()
        return made

    @property
    def size(self) -> int:
        """How many groups there are."""
        return prod(len(b.keys) for b in self.blocks) + (self.other is not None)

    def groups(self) -> Iterator[Group]:
        """Iterate over the groups, one key per column, in the order of the figures."""
        for parts in product(*(block.keys for block in self.blocks)):
            yield tuple(key for part in parts for key in part)
        if self.other is not None:
            yield (self.other,) * len(self.columns)

    def _check_other(self) -> None:
        if self.other is None:
            return
        if not self.columns:
            raise DeclarationError(
                N_("there is a group of other rows, and no column to group by"),
                hint=N_("name the columns: group_by({example}, other={name})"),
                example='"Sex"',
                name=repr(self.other),
            )
        for name, column in self.columns:
            if token(self.other) in map(token, column.values):
                raise DeclarationError(
                    N_("{other} is a key of {name}; other rows need another name"),
                    hint=N_('write, for example, other="none of these"'),
                    other=repr(self.other)[:60],
                    name=repr(name),
                )


def _keyed(name: str, schema: Schema) -> Category | Boolean:
    column = schema[name]
    if not isinstance(column, Category | Boolean):
        raise DeclarationError(
            N_("column {name} cannot group: it has no declared keys"),
            hint=N_("declare it as Category([...]), or ask for a histogram of it"),
            name=repr(name),
        )
    return column
