"""A project file → declarations and plans; no table is opened and nothing is spent."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

from pydantic import ValidationError

from sfumato.account import Budget, Epsilon, Loss, loss_of, told_delta
from sfumato.account.rho import read_delta
from sfumato.declare.dataset import Dataset
from sfumato.declare.lookup import PublicTable
from sfumato.declare.query import Query
from sfumato.declare.schema import Schema
from sfumato.declare.unit import terms_of
from sfumato.declare.where import parse_filter
from sfumato.errors import DeclarationError, ProjectError, nearest
from sfumato.ledger import Declared, Limit
from sfumato.plan import Plan, make_plan
from sfumato.plan.bounded import BoundedPlan, make_bounded
from sfumato.plan.check import check_query
from sfumato.project import model
from sfumato.project.address import declared_ledger, declared_source, table_name
from sfumato.project.budget import declared_budget, declared_limits, given
from sfumato.project.column import with_derived
from sfumato.project.learned import ModelTable, price_of
from sfumato.project.place import place_of, placed, shown
from sfumato.project.refuse import refusal
from sfumato.project.related import still_underived, with_rows
from sfumato.project.share import Pot, Wanted, share_out
from sfumato.project.sql import asked_in_sql
from sfumato.project.synthetic import AskedTable
from sfumato.project.toml import read_toml
from sfumato.words import N_

__all__ = ["Asked", "Format", "Project", "json_schema", "load"]

Format: TypeAlias = Literal["json", "csv", "html", "md", "xlsx", "parquet", "zip"]


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """One release that a project asks for.

    Attributes:
        name: Its short name.
        title: Its title in each language.
        query: The question.
        loss: What the file gives it, or its share of the split.
        plan: What will be measured, at which cost.
        confidence: Of every interval.
        targets: For each statistic the error wished, in its unit; or none.
        shared: Whether the loss is a share.
        bounded: Its two steps, where clipping bounds are found first.
    """

    name: str
    title: dict[str, str]
    query: Query
    loss: Loss
    plan: Plan
    confidence: float
    targets: tuple[float | None, ...] = ()
    shared: bool = False
    bounded: BoundedPlan | None = None

    @property
    def answering(self) -> Plan:
        """The plan of the figures: all of it, or with what finding bounds has left."""
        return self.plan if self.bounded is None else self.bounded.widest()


@final
@dataclass(frozen=True, slots=True)
class Project:
    """Everything that a project file declares; plain public data.

    Attributes:
        path: The project file.
        title: Title of the report in each language.
        language: Language of the report, if the file says one.
        dataset: The table and its declarations.
        budget: The whole budget.
        ledger: Path of the ledger, or its ``postgresql://…``.
        anchor: Path of its anchor; none for the usual place.
        limits: Caps of analysts and projects that every release is charged to.
        releases: The releases, in order.
        folder: Where results go.
        formats: What is written.
        headline: Names of the figures that the report shows first.
        synthetic: The synthetic table that is asked for, if any.
        models: What ``sfumato train`` shall learn.
        unconfirmed: Columns whose declaration nobody has confirmed yet.
    """

    path: Path
    title: dict[str, str]
    language: str | None
    dataset: Dataset
    budget: Budget
    ledger: Path | str = field(repr=False)  # its address may hold a password
    anchor: Path | None
    limits: tuple[Limit, ...]
    releases: tuple[Asked, ...]
    folder: Path
    formats: tuple[Format, ...]
    headline: tuple[str, ...] = ()
    synthetic: AskedTable | None = None
    models: tuple[ModelTable, ...] = ()
    unconfirmed: tuple[str, ...] = ()

    @property
    def delta(self) -> str:
        """The δ at which a loss is told as an ε; ``"0"`` for none."""
        return told_delta(self.budget)

    @property
    def declared(self) -> Declared:
        """What the ledger keeps of the dataset when its budget is opened."""
        return Declared(terms_of(self.dataset.schema.unit), self.dataset.unpaid)

    @property
    def table(self) -> str:
        """The name of the table, without its folder or address."""
        return table_name(self.dataset.source)

    def chosen(self, only: tuple[str, ...] = ()) -> tuple[Asked, ...]:
        """Return the releases of these names, or all, in the order of the file.

        Raises:
            ProjectError: A name is unknown.
        """
        if not self.releases:
            raise ProjectError(
                N_("{file} has no releases"),
                hint=N_("sfumato train fits its models, sfumato synth its table"),
                file=self.path.name,
            )
        known = [asked.name for asked in self.releases]
        for name in only:
            if name not in known:
                raise ProjectError(
                    N_("{file} has no release {name}"),
                    hint=N_("it has {near}"),
                    file=self.path.name,
                    name=repr(name),
                    near=nearest(name, known),
                )
        return tuple(a for a in self.releases if not only or a.name in only)


def load(path: str | os.PathLike[str]) -> Project:
    """Read a project file and check all that needs no row.

    Raises:
        ProjectError: The file is wrong; the message says where and how to mend it.
            Nothing was read from the table and nothing was spent.
    """
    where = Path(path)
    return from_values(read_toml(where), where)


def from_values(raw: dict[str, Any], where: Path) -> Project:
    """Turn the values of the project file at `where` into declarations; see `load`."""
    try:
        file = model.ProjectFile.model_validate(raw)
    except ValidationError as error:
        raise refusal(error, raw, where.name) from None
    dataset = _dataset(file, where)
    _check_names(file, where.name)
    budget = declared_budget(file.budget, where.name)
    anchor = file.budget.anchor
    limits = declared_limits(file.budget.limits, budget, where.name)
    synthetic = _synthetic(file, budget, where.name)
    caps: Any = tuple(limit.cap for limit in limits)
    pot = Pot(caps=caps)
    if file.budget.split is not None:
        pot = Pot(_taken(file, dataset, budget, synthetic, where.name), caps)
    releases = _releases(file, dataset, budget, pot, where.name)
    return Project(
        path=where,
        title=_title(file.title, file.data.name),
        language=file.language,
        dataset=dataset,
        budget=budget,
        ledger=_ledger(file.budget.ledger or f"{where.stem}.ledger", where),
        anchor=_beside(where, anchor, "budget.anchor") if anchor else None,
        limits=limits,
        releases=releases,
        synthetic=synthetic,
        folder=_beside(where, file.output.folder, "output.folder"),
        formats=tuple(dict.fromkeys(file.output.formats)),
        headline=_headline(file, releases, where.name),
        models=tuple(file.models),
        unconfirmed=file.unconfirmed,
    )


def _synthetic(
    file: model.ProjectFile, budget: Budget, where: str
) -> AskedTable | None:
    asked = file.synthetic
    if asked is None:
        return None
    with placed(f"{where}: synthetic"):
        loss = loss_of(budget, asked.epsilon, asked.rho)
        private = tuple(t.name for t in file.tables if t.key is None)
        return AskedTable(loss, _title(asked.title, file.data.name), asked, private)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of project files, for editors that complete them."""
    return model.ProjectFile.model_json_schema()


def total_cost(releases: tuple[Asked, ...]) -> Loss:
    """Return what the releases cost together; without any, nothing."""
    if not releases:
        return Epsilon.from_units(0)
    return reduce(add, (a.plan.cost for a in releases))


def _dataset(file: model.ProjectFile, where: Path) -> Dataset:
    source = declared_source(file.data, where)
    columns = {name: table.declared() for name, table in file.columns.items()}
    schema = Schema(columns, file.unit.declared())
    tables: dict[str, Dataset | PublicTable] = {}
    for entry in file.tables:
        with placed(f"{where.name}: {place_of('tables', entry.name)}"):
            if entry.name in tables:
                raise DeclarationError(
                    N_("two tables have one name"),
                    hint=N_("give each table a name of its own"),
                )
            tables[entry.name] = _other(entry, file, where)
    with placed(where.name):
        return Dataset(source, schema=schema, name=file.data.name, tables=tables)


def _other(
    entry: model.OtherTable, file: model.ProjectFile, where: Path
) -> Dataset | PublicTable:
    source = declared_source(entry.located, where)
    columns = {name: table.declared() for name, table in entry.columns.items()}
    if entry.key is not None:
        return PublicTable(source, key=entry.key, columns=columns, name=entry.name)
    unit = (entry.unit or file.unit).declared()
    return Dataset(source, schema=Schema(columns, unit))  # no name: no own budget


def _check_names(file: model.ProjectFile, where: str) -> None:
    names = [entry.name for entry in file.releases]
    for name in names:
        if names.count(name) > 1:
            raise ProjectError(
                N_("{file}: two releases are called {name}"),
                hint=N_("give each release a name of its own"),
                file=where,
                name=shown(name),
            )


def _taken(
    file: model.ProjectFile,
    dataset: Dataset,
    budget: Budget,
    synthetic: AskedTable | None,
    where: str,
) -> tuple[Loss, ...]:
    """Return what models and a synthetic table will spend, which no release can share."""
    found = [] if synthetic is None else [synthetic.loss]
    for wish in file.models:
        with placed(f"{where}: {place_of('models', wish.name)}"):
            found.append(price_of(wish, dataset.schema.unit, budget.measure))
    return tuple(found)


def _releases(
    file: model.ProjectFile, dataset: Dataset, budget: Budget, pot: Pot, where: str
) -> tuple[Asked, ...]:
    wanted = [
        Wanted(
            e.name,
            _query(e, file, dataset, where),
            given(e, budget, where),
            e.weight,
            read_delta(e.delta),
        )
        for e in file.releases
    ]
    losses = share_out(wanted, budget, file.budget, dataset.schema, where, pot)
    return tuple(
        _asked(entry, w.query, loss, dataset, where)
        for entry, w, loss in zip(file.releases, wanted, losses, strict=True)
    )


def _headline(
    file: model.ProjectFile, releases: tuple[Asked, ...], where: str
) -> tuple[str, ...]:
    """Return the figures to show first; each must be one of some release."""
    known = [s.name for asked in releases for s in asked.query.statistics]
    for name in file.output.headline:
        if name not in known:
            raise ProjectError(
                N_("{file}: output.headline names {name}, which no release asks for"),
                hint=N_("the figures are {near}"),
                file=where,
                name=shown(name),
                near=nearest(name, known),
            )
    return tuple(dict.fromkeys(file.output.headline))


def _query(
    entry: model.ReleaseTable, whole: model.ProjectFile, dataset: Dataset, file: str
) -> Query:
    place, schema = f"{file}: {place_of('releases', entry.name)}", dataset.schema
    if entry.sql is not None:
        with placed(f"{place}.sql"):
            query = asked_in_sql(entry.sql, dataset, whole.derive)
            check_query(query, schema)
        return query
    query = with_rows(entry.rows, dataset, whole.derive, f"{place}.rows")
    query = query.select(*(s.declared() for s in entry.statistics))
    if entry.group_by or entry.keys is not None or entry.other is not None:
        with placed(f"{place}.keys" if entry.keys is not None else place):
            query = query.group_by(*entry.group_by, keys=entry.keys, other=entry.other)
    if entry.where is not None:
        with placed(f"{place}.where"):
            query = query.where(parse_filter(entry.where))
    with placed(place):
        query = with_derived(query, still_underived(query, schema, whole.derive))
        check_query(query, schema)
    return query


def _asked(
    entry: model.ReleaseTable, query: Query, loss: Loss, dataset: Dataset, file: str
) -> Asked:
    with placed(f"{file}: {place_of('releases', entry.name)}"):
        plan = make_plan(query, dataset.schema, loss, dataset=dataset.name)
        bounded = make_bounded(query, dataset.schema, loss, dataset=dataset.name)
    return Asked(
        name=entry.name,
        title=_title(entry.title, entry.name),
        query=query,
        loss=loss,
        plan=plan,
        confidence=entry.confidence,
        targets=_targets(entry, query),
        shared=entry.epsilon is None and entry.rho is None,
        bounded=bounded,
    )


def _targets(entry: model.ReleaseTable, query: Query) -> tuple[float | None, ...]:
    if entry.sql is not None:
        return (None,) * len(query.statistics)
    wished = (s.target for s in entry.statistics)
    return tuple(None if one is None else float(one) for one in wished)


def _ledger(text: str, where: Path) -> Path | str:
    return declared_ledger(text, where.name) or _beside(where, text, "budget.ledger")


def _title(titles: model.Titles | None, default: str) -> dict[str, str]:
    return titles.model_dump() if titles else {"en": default, "zh": default}


def _beside(where: Path, text: str, key: str) -> Path:
    if "\0" in text:
        raise ProjectError(
            N_("{file}: {key} is no path"),
            hint=N_("write a path such as {example}"),
            file=where.name,
            key=key,
            example='"tables/diabetes.csv"',
        )
    return where.parent / text
