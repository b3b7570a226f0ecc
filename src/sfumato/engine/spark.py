"""Apache Spark as an engine: one statement, where the table lies.

A frame is known to Spark under a name of its own while a statement runs, its columns
renamed by position. Nothing else of the session is touched: no setting is changed, no
session stopped. Only sums come back, as text, so that neither pandas nor Arrow can turn an integer
into a float on the way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from types import MappingProxyType
from typing import Any, Self, final

from sfumato.declare.dataset import Spark
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.answer import Answers
from sfumato.engine.contingency import SETS
from sfumato.engine.dialect import SPARK, Dialect
from sfumato.engine.fields import Field, relation, settle
from sfumato.engine.physical import Layout
from sfumato.engine.relate import Relation
from sfumato.engine.size import people_sql
from sfumato.engine.table import log, wrong_size
from sfumato.errors import MissingExtraError, SourceError
from sfumato.plan import Plan
from sfumato.secret import Secret
from sfumato.words import N_

__all__ = ["SparkEngine"]

_NUMBERS = count()
_CHAR = "__CHAR_VARCHAR_TYPE_STRING"  # where Spark notes that a text is a char(n)


@final
class SparkEngine:
    """Runs plans on one Spark table or frame; safe to share between threads.

    Attributes:
        stored: For the owner, how the table stores each declared column.
        layout: How each declared column is stored after the scan; from types alone.
        dialect: The primitives of its statements.
        sets: How many tables of counts one statement makes.
    """

    __slots__ = ("_answers", "_beside", "_fields", "_frame", "_schema", "dialect",
                 "layout", "others", "sets", "stored")  # fmt: skip

    def __init__(
        self,
        source: Any,
        schema: Schema,
        others: Mapping[str, tuple[Any, Schema]] = MappingProxyType({}),
    ) -> None:
        """Look at the columns and compare them with the declarations; reads no row.

        Args:
            source: A `Spark`, or a DataFrame of Spark, classic or Connect. It is
                computed anew for each question, so it must not depend on chance.
            schema: The declarations.
            others: The dataset's other private tables, likewise, in the same session.

        Raises:
            SourceError: The table cannot be read as declared. Nothing was spent.
            MissingExtraError: pyspark is not installed. Nothing was spent.
        """
        self._schema = schema
        self.dialect: Dialect = SPARK
        self.sets = SETS
        if isinstance(source, Spark):
            _check_driver()
        found: tuple[Any, list[Field]] | None = None
        try:
            frame = _table(source) if isinstance(source, Spark) else source
            found = frame, _fields(frame)
        except Exception:  # noqa: BLE001  its words may quote an address or a cell
            log.debug("the table could not be opened", exc_info=True)
        if found is None:
            raise _not_opened(source)
        if found[0].isStreaming:
            raise SourceError(
                N_("a stream of Spark has no rows yet"),
                hint=N_("write it to a table and open that"),
            )
        self._frame, self._fields = found
        self._beside = {n: SparkEngine(*one) for n, one in others.items()}
        self.others = {
            name: Relation(f"other{i}", one.layout, others[name][1])
            for i, (name, one) in enumerate(self._beside.items())
        }
        self.layout: Layout
        self.layout, self.stored = settle(self._fields, schema)
        self._answers = Answers(schema, self.layout, SPARK, self.others)
        rows = None
        with suppress(Exception):
            rows = self._rows()
        if rows != schema.unit.size:
            raise wrong_size(schema)

    def prepare(self, plan: Plan) -> None:
        """Do nothing: Spark binds a statement when it runs it."""

    def run(self, plan: Plan) -> Secret[Exact]:
        """Return the plan's integers, from one statement.

        Raises:
            EngineError: The engine failed; one fixed text, no cause. The debit stands.
        """
        return self._answers.answer(plan, self.unprotected)

    def unprotected(self, sql: str) -> list[tuple[object, ...]]:
        """Return the rows of a statement over ``data``: exact and unprotected."""
        if self._rows() != self._schema.unit.size:
            msg = "the table is no longer the one that was opened"
            raise ValueError(msg)
        return self._collect(sql)

    def close(self) -> None:
        """Do nothing: the session is its owner's."""

    def __enter__(self) -> Self:
        """Return the engine, for ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def _rows(self) -> int | None:
        """Count the units where their number is declared public."""
        if self._schema.unit.size is None:
            return None
        counted = "SELECT CAST(COUNT(*) AS STRING) FROM data"
        if isinstance(self._schema.unit, Unit):
            counted = people_sql(self._schema, self.layout, SPARK)
        return int(str(self._collect(counted)[0][0]))

    def _collect(self, sql: str) -> list[tuple[object, ...]]:
        session = self._frame.sparkSession
        tables: list[str] = []
        views: list[str] = []
        try:
            for name, one in (("data", self), *self._named()):
                view = f"sfumato_{os.getpid()}_{next(_NUMBERS)}"
                one._renamed().createTempView(view)  # noqa: SLF001
                views.append(view)
                tables.append(relation(one._fields, one._schema, view, name))  # noqa: SLF001
            whole = f"WITH {', '.join(tables)} {sql}"
            return [tuple(row) for row in session.sql(whole).collect()]
        finally:
            for view in views:
                session.catalog.dropTempView(view)

    def _named(self) -> list[tuple[str, SparkEngine]]:
        return [(self.others[name].sql, one) for name, one in self._beside.items()]

    def _renamed(self) -> Any:
        return self._frame.toDF(*(f"p{i}" for i, _ in enumerate(self._fields)))


def _fields(frame: Any) -> list[Field]:
    return [
        Field(
            field.name,
            field.dataType.simpleString(),
            padded=str(field.metadata.get(_CHAR, "")).startswith("char"),
        )
        for field in frame.schema.fields
    ]


def _table(source: Spark) -> Any:
    """Return the frame of a named table, from the session at hand or a new one."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    if source.url is not None:
        remote = source.url.startswith("sc://")
        builder = builder.remote(source.url) if remote else builder.master(source.url)
    return builder.getOrCreate().table(source.table)


def _check_driver() -> None:
    try:
        import pyspark.sql  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            N_("a table in Spark needs the package pyspark"),
            hint=N_("install it: pip install 'sfumato[spark]'"),
        ) from None


def _not_opened(source: Any) -> SourceError:
    if isinstance(source, Spark):
        return SourceError(
            N_("the Spark table {table} cannot be opened"),
            hint=N_(
                "check the address, that Spark runs (it needs Java 17), the name of the "
                "table, and the user's right to read it"
            ),
            table=repr(source.table),
        )
    return SourceError(
        N_("the Spark table cannot be read"),
        hint=N_("check that its session still runs and its source still exists"),
    )
