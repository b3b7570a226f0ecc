"""FROM and JOIN of SQL: which rows a statement is about.

Only joins that act on each unit by itself have a form here: with a public table on its
key, and of private tables on the person. Anything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from sfumato.declare.lookup import Lookup
from sfumato.declare.relation import Base, Joined, Looked, Other, Part, United
from sfumato.declare.schema import Schema
from sfumato.declare.sqlpeople import PEOPLE, People
from sfumato.declare.sqltree import SHAPE, Scope, Tree, kind_of, refuse, spelt, word_of
from sfumato.errors import DeclarationError, nearest
from sfumato.words import N_

__all__ = ["From", "Tables"]

Tables: TypeAlias = "Mapping[str, Schema | Lookup]"
"""What may stand after FROM and JOIN, by name: private tables and public ones."""

_PUBLIC = N_("write [LEFT] JOIN sites USING (site), or ON visits.site = sites.code")
_PERSON = N_(
    "private tables are joined on the person alone: JOIN labs USING (patient_id), or "
    "ON visits.patient_id = labs.id"
)
_UNION = N_("write FROM (SELECT * FROM a UNION ALL SELECT * FROM b) AS both_years")
_Pair: TypeAlias = "tuple[tuple[str | None, str], tuple[str | None, str]]"


@final
@dataclass(frozen=True, slots=True)
class _Theirs:
    """Private rows that are joined: their columns, and whose they are."""

    rows: Part
    names: list[str]
    person: str | None


@final
class From:
    """Reads the source of a statement."""

    def __init__(self, tree: Tree, tables: Tables | None) -> None:
        """Count words in `tree`; without `tables` its one name is all that is known."""
        self._tree, self._tables = tree, tables

    def read(self, source: Any, joins: Any) -> Base | None:
        """Return the rows that are asked about; none is the dataset's own table.

        Raises:
            DeclarationError: A table is unknown, or a join has another form.
        """
        base = self._source(source)
        for join in joins or []:
            base = self._join(base, join)
        return base

    def _source(self, source: Any) -> Base | None:
        tree = self._tree
        if source is None:
            raise self._unknown(None)
        (found,) = tree.open(source, "this", hint=SHAPE)
        tree.use("FROM")
        if kind_of(found) == "Subquery" and self._tables is not None:
            if kind_of(found.args.get("this")) == "Select":
                base, alias, names, person = self._people(found)
                tree.scope = Scope({alias: {n: n for n in names}}, {alias: person})
                return base
            return self._union(found)
        if kind_of(found) != "Table":
            refuse(word_of(found), SHAPE, table=tree.table)
        name, alias = self._named(found)
        schema = self._private(name)
        self._enter(alias, schema)
        return None if schema is None else self._rows(name, schema).base

    def _named(self, node: Any) -> tuple[str, str]:
        """Return a table's name, and the name that it has in the statement."""
        tree = self._tree
        if self._tables is None:
            (name,) = tree.open(node, "this", hint=SHAPE)
            found = tree.name(name, SHAPE)
            return found, found
        name, alias = tree.open(node, "this", "alias", hint=SHAPE)
        found = tree.name(name, SHAPE)
        return found, found if alias is None else self._alias(alias)

    def _alias(self, alias: Any) -> str:
        (name,) = self._tree.open(alias, "this", hint=SHAPE)
        return self._tree.name(name, SHAPE)

    def _private(self, name: str) -> Schema | None:
        """Return the schema of a private table; none where only one name is known."""
        if self._tables is None:
            if name != self._tree.table:
                raise self._unknown(name)
            return None
        found = self._tables.get(name)
        if isinstance(found, Schema):
            return found
        if found is not None:
            refuse(repr(name), N_("it is public; ask of a private table, and JOIN it"))
        raise self._unknown(name)

    def _rows(self, name: str, schema: Schema) -> Part:
        return Part() if name == self._tree.table else Part(Other(name, schema))

    def _enter(self, alias: str, schema: Schema | None) -> None:
        if schema is not None:
            person = getattr(schema.unit, "column", None)
            self._tree.scope = Scope({alias: {n: n for n in schema}}, {alias: person})

    def _people(self, node: Any) -> tuple[Base, str, list[str], str]:
        """Read one row per person: the rows, their alias, their figures, the person."""
        inner, alias = self._tree.open(node, "this", "alias", hint=PEOPLE)
        if kind_of(inner) != "Select" or alias is None:
            refuse("(SELECT", PEOPLE)
        self._tree.use("(", ")")
        base, names, person = People(self._tree, self.read).read(inner)
        return base, self._alias(alias), names, person

    def _union(self, node: Any) -> Base:
        """Read ``(SELECT * FROM a UNION ALL SELECT * FROM b) AS name``."""
        tree = self._tree
        inner, alias = tree.open(node, "this", "alias", hint=_UNION)
        if kind_of(inner) != "Union":
            refuse("(SELECT", PEOPLE)
        tree.use("(", ")")
        names = list(self._united(inner))
        schemas = [self._private(name) for name in names]
        parts = [self._rows(n, s) for n, s in zip(names, schemas, strict=True) if s]
        self._enter(names[0] if alias is None else self._alias(alias), schemas[0])
        return United(tuple(parts))

    def _united(self, node: Any) -> Iterator[str]:
        tree = self._tree
        if kind_of(node) == "Union":
            first, second, once = tree.open(node, "this", "expression", "distinct", hint=_UNION)  # fmt: skip
            if once:
                refuse("UNION", _UNION)
            tree.use("'UNION'", "'ALL'")
            yield from self._united(first)
            yield from self._united(second)
            return
        if kind_of(node) != "Select":
            refuse(word_of(node), _UNION)
        outputs, source = tree.open(node, "expressions", "from", hint=_UNION)
        if [kind_of(one) for one in outputs or []] != ["Star"] or source is None:
            refuse("(SELECT", _UNION)
        tree.open(outputs[0], hint=_UNION)
        (table,) = tree.open(source, "this", hint=_UNION)
        if kind_of(table) != "Table":
            refuse(word_of(table), _UNION)
        (name,) = tree.open(table, "this", hint=_UNION)
        tree.use("SELECT", "*", "FROM")
        yield tree.name(name, _UNION)

    def _join(self, base: Base | None, node: Any) -> Base:
        tree = self._tree
        alone = self._tables is None or len(self._tables) < 2  # noqa: PLR2004  the dataset's
        if self._tables is None or (alone and kind_of(node.args.get("this")) != "Subquery"):  # fmt: skip
            refuse("JOIN", SHAPE, table=tree.table)
        table, side, kind, on, using = tree.open(node, "this", "side", "kind", "on", "using", hint=_PUBLIC)  # fmt: skip
        form = f"{side or ''} {kind or ''}".strip()
        if form not in ("", "INNER", "LEFT", "LEFT OUTER"):
            refuse(f"{form} JOIN", _PUBLIC)
        tree.use("'JOIN'", *map(repr, form.split()))
        found, alias = self._met(table)
        if alias in tree.scope.columns:
            refuse(repr(alias), N_("give each table a name of its own: JOIN labs AS l"))
        theirs = found if isinstance(found, Lookup) else found.person
        pairs = list(self._pairs(on, using, alias, theirs))
        if isinstance(found, Lookup):
            return self._look_up(base, found, alias, pairs, inner="LEFT" not in form)
        if "LEFT" in form:
            refuse("LEFT JOIN", _PERSON)
        person = found.person
        (left, right), *more = pairs
        if more or person is None or right[1] != person or not tree.scope.is_person(*left):  # fmt: skip
            refuse("JOIN", _PERSON)
        prefix = tree.scope.add(alias, found.names, person)
        return Joined(Part(base), found.rows, prefix)

    def _met(self, table: Any) -> tuple[Lookup | _Theirs, str]:
        """Return what is joined, and the name that it has in the statement."""
        if kind_of(table) == "Subquery":
            base, alias, names, person = self._people(table)
            return _Theirs(Part(base), names, person), alias
        if kind_of(table) != "Table":
            refuse(word_of(table), _PUBLIC)
        name, alias = self._named(table)
        found = None if self._tables is None else self._tables.get(name)
        if found is None:
            raise self._unknown(name)
        if isinstance(found, Lookup):
            return found, alias
        whose = getattr(found.unit, "column", None)
        return _Theirs(self._rows(name, found), list(found), whose), alias

    def _look_up(
        self,
        base: Base | None,
        table: Lookup,
        alias: str,
        pairs: list[_Pair],
        *,
        inner: bool,
    ) -> Base:
        scope = self._tree.scope
        keys = {right: left for left, (_, right) in pairs}
        if set(keys) != set(table.key) or len(pairs) != len(table.key):
            refuse("JOIN", N_("join on all columns of the public table's key, and no other"))  # fmt: skip
        on = tuple(scope.find(*keys[key]) for key in table.key)
        prefix = scope.add(alias, [name for name, _ in table.columns], None)
        return Looked(Part(base), on, table, prefix, inner)

    def _pairs(
        self, on: Any, using: Any, alias: str, table: Lookup | str | None
    ) -> Iterator[_Pair]:
        """Yield what is compared: a column of the rows so far, and one of the table.

        The table is a public one, or the column of persons of a private one.
        """
        tree = self._tree
        if using:
            tree.use("'USING'", "(", ")", *"," * (len(using) - 1))
            for node in using:
                name = tree.name(node, _PUBLIC)
                yield (None, name), (alias, name)
            return
        if (
            on is None or kind_of(on) == "Boolean"
        ):  # which the parser puts where none is
            refuse("JOIN", _PUBLIC)
        tree.use("'ON'")
        yield from self._compared(on, alias, table)

    def _compared(
        self, node: Any, alias: str, table: Lookup | str | None
    ) -> Iterator[_Pair]:
        tree, kind = self._tree, kind_of(node)
        if kind == "Paren":
            (inner,) = tree.open(node, "this", hint=_PUBLIC)
            tree.use("(", ")")
            yield from self._compared(inner, alias, table)
            return
        if kind not in ("And", "EQ"):
            refuse(word_of(node), _PUBLIC)
        left, right = tree.open(node, "this", "expression", hint=_PUBLIC)
        if kind == "And":
            tree.use("AND")
            yield from self._compared(left, alias, table)
            yield from self._compared(right, alias, table)
            return
        tree.use("=")
        one, other = tree.cell(left, _PUBLIC), tree.cell(right, _PUBLIC)
        if self._is_of(one, alias, table):
            one, other = other, one
        if not self._is_of(other, alias, table) or self._is_of(one, alias, table):
            refuse("=", N_("say of which tables both columns are: visits.site = sites.site"))  # fmt: skip
        yield one, other

    def _is_of(
        self, cell: tuple[str | None, str], alias: str, table: Lookup | str | None
    ) -> bool:
        """Tell whether a column is one of the table that is joined."""
        whose, name = cell
        if whose is not None:
            return whose == alias
        if isinstance(table, Lookup):
            return name in table.key and not self._tree.scope.holds(name)
        return name == table and name not in self._tree.scope.persons.values()

    def _unknown(self, name: str | None) -> DeclarationError:
        if self._tables is not None and name is not None and len(self._tables) > 1:
            return DeclarationError(
                N_("the dataset has no private table {name}"),
                hint=N_("did you mean {near}?"),
                name=repr(name),
                near=nearest(name, self._tables),
            )
        table = self._tree.table
        return DeclarationError(
            N_("the SQL asks of the table {name}, and this is {table}"),
            hint=N_("write FROM {spelt}"),
            name="''" if name is None else repr(name),
            table=repr(table),
            spelt=spelt(table),
        )
