"""Which groups a question answers for: public keys in order, or unknown ones by order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias, final

from sfumato.declare.keys import Listed, fitting, no_keys
from sfumato.declare.query import Query
from sfumato.declare.schema import Boolean, Category, Key, Schema, Text, token
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Group", "Grouping"]

Group: TypeAlias = "tuple[Key, ...]"


@final
@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a question.

    Attributes:
        columns: The grouping columns with their keys, as the question names them: a text
            column with listed keys is a category of these; without, it stays a text.
        blocks: Sets of columns whose combinations are listed together; the groups are
            the cross product of the blocks. A text column without listed keys is a block
            without keys.
        other: The name of the group of all other rows, at the end; or none.
        listed: For each text column with listed keys, their tokens.
        _places: For each block, the place of each combination.
    """

    columns: tuple[tuple[str, Category | Boolean | Text], ...]
    blocks: tuple[Listed, ...]
    other: str | None
    listed: Mapping[str, tuple[str, ...]]
    _places: tuple[Mapping[Group, int], ...]

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
        listed = {e.columns[0]: fitting(e, schema) for e in query.listed}
        chosen = {
            name: tuple(dict.fromkeys(str(keys[i]) for keys in block.keys))
            for block in listed.values()
            for i, name in enumerate(block.columns)
            if isinstance(schema[name], Text)
        }
        inside = {name for block in listed.values() for name in block.columns}
        columns = tuple((name, _keyed(name, schema, chosen)) for name in query.keys)
        blocks = tuple(
            listed.get(name) or Listed((name,), _keys_of(column))
            for name, column in columns
            if name in listed or name not in inside
        )
        places = tuple({key: i for i, key in enumerate(b.keys)} for b in blocks)
        made = cls(columns, blocks, query.other, chosen, places)
        made._check_other()
        return made

    @property
    def unknown(self) -> bool:
        """Whether the keys of some column are not public."""
        return any(isinstance(column, Text) for _, column in self.columns)

    @property
    def size(self) -> int:
        """How many groups there are; 1 where that is private."""
        if self.unknown:
            return 1
        return prod(len(b.keys) for b in self.blocks) + (self.other is not None)

    def groups(self) -> Iterator[Group]:
        """Iterate over the public groups in the order of the figures; none if unknown."""
        if self.unknown:
            return
        for parts in product(*(block.keys for block in self.blocks)):
            yield tuple(key for part in parts for key in part)
        if self.other is not None:
            yield (self.other,) * len(self.columns)

    def holds(self, group: Sequence[Key | None]) -> bool:
        """Tell whether found keys are a group; if not, the row is one of the others."""
        if any(key is None for key in group) or self.other in group:
            return False
        return all(not known or part in known for known, part in self._parts(group))

    def arranged(self, groups: Iterable[Group]) -> tuple[Group, ...]:
        """Return found groups in order: by declared places, else by code points.

        It depends on the groups alone, so that the order of a release tells nothing.
        """
        if not any(self._places):
            return tuple(sorted(groups))  # texts alone
        return tuple(sorted(groups, key=self._order))

    def _order(self, group: Group) -> tuple[tuple[int, str], ...]:
        return tuple(
            (known[part], "") if known else (0, str(part[0]))
            for known, part in self._parts(group)
        )

    def _parts(
        self, group: Sequence[Key | None]
    ) -> Iterator[tuple[Mapping[Group, int], Group]]:
        """Yield the keys of each block beside the places of the known ones."""
        start = 0
        for block, known in zip(self.blocks, self._places, strict=True):
            end = start + len(block.columns)
            yield known, tuple(group[start:end])  # type: ignore[arg-type]
            start = end

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
            keys = () if isinstance(column, Text) else column.values
            if token(self.other) in map(token, keys):
                raise DeclarationError(
                    N_("{other} is a key of {name}; other rows need another name"),
                    hint=N_('write, for example, other="none of these"'),
                    other=quoted(self.other),
                    name=repr(name),
                )


def _keyed(
    name: str, schema: Schema, listed: Mapping[str, tuple[str, ...]]
) -> Category | Boolean | Text:
    column = schema[name]
    if name in listed:
        return Category(listed[name])
    if not isinstance(column, Category | Boolean | Text):
        raise no_keys(name, column)
    return column


def _keys_of(column: Category | Boolean | Text) -> tuple[Group, ...]:
    return () if isinstance(column, Text) else tuple((v,) for v in column.values)
