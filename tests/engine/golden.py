"""The SQL of each dialect, kept as files: a change of a statement shows in a diff.

``python tests/engine/golden.py`` rewrites them.
"""

from __future__ import annotations

from pathlib import Path

from sfumato.declare import feature
from sfumato.declare import query as ask
from sfumato.declare.choice import when
from sfumato.declare.expr import col
from sfumato.declare.lookup import Lookup
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Unit
from sfumato.engine.compiled import compiled, statement
from sfumato.plan import make_plan

FOLDER = Path(__file__).parent / "golden"
RUN, NOT_RUN = ("duckdb", "postgres", "spark"), ("bigquery", "snowflake")

SCHEMA = Schema({
    "glucose": Real(0, 250, step="0.1", missing=0), "age": Integer(0, 120, complete=True),
    "dose": Real(-(2**40), 2**40, step=1), "sex": Category(["F", "M", "男", "O'Brien"]),
    "ward": Category([1, 2, 3]), "smokes": Boolean(true="yes", false="no"), "alive": Boolean(),
})  # fmt: skip
Q = ask.Query()
QUESTIONS = {
    "rows": Q.select(ask.count(), ask.count("glucose"), ask.count("sex")),
    "means": Q.group_by("sex").select(ask.mean("glucose"), ask.variance("glucose"), ask.sum("age")),
    "wide": Q.group_by("ward", "alive").select(ask.sum("dose"), ask.std("dose")),
    "histograms": Q.select(ask.histogram("glucose", [0, 70, 100, 250]), ask.histogram("sex"), ask.median("age"), ask.count()),
    "shares": Q.group_by("alive").select(ask.proportion("smokes", True), ask.proportion("sex", "M"), ask.mean("alive")),
    "pairs": Q.group_by("ward").select(
        ask.crosstab("sex", "glucose", other_edges=[0, 100, 250]), ask.histogram("sex"),
        ask.covariance("glucose", "dose"), ask.correlation("age", "alive", "glucose"),
        ask.ratio("glucose", "age"), ask.mode("smokes"),
    ),
    "filters": Q.where(
        ((col("age") >= 18) & ~(col("sex") == "男")) | col("glucose").is_missing() | col("ward").is_in([1, 3])
    ).select(ask.count()),
    "derived": Q.derive("ratio", (col("glucose") - 1) / col("age") ** 2, Real(0, 2, step="0.5"))
    .derive("band", when(col("ratio") > 1).then("high").otherwise(col("sex").lower()))
    .where((col("dose").floor() * 2 > col("age").clip(1, 9)) | col("ward").to_number().is_in([1, 3]))
    .group_by("band").select(ask.mean("ratio"), ask.count()),
}  # fmt: skip

PEOPLE = Schema(
    {"x": Real(0, 20, step="0.1", missing=0), "day": Integer(0, 400), "site": Category(["A", "B"])},
    unit=Unit("patient", max_rows=5, max_groups=2, missing="NA"),
)  # fmt: skip
LABS = Schema({"y": Integer(0, 9)}, unit=Unit("id", max_rows=5, max_groups=2))
SITES = Lookup("sites", ("code",), (("region", Category(["N", "S"])), ("beds", Integer(0, 999)), ("open", Boolean())), ((("A",), (0, 120.0, 1)), (("B",), (1, None, None))))  # fmt: skip
FIGURES = (
    ("worst", feature.max("x")), ("home", feature.last("site", by="day")),
    ("paid", feature.sum("x", Real(0, 100))), ("visits", feature.count(most=20)),
)  # fmt: skip
FIRST = Part(
    None, Q.derive("old", col("day") - 100, Real(-100, 300)).derived, col("x") > 1
)
RELATED = {
    "public": Q.of(Looked(FIRST, ("site",), SITES)).group_by("region").select(ask.count(), ask.mean("beds"), ask.mean("old")),
    "persons": Q.of(PerPerson(FIRST, FIGURES)).group_by("home").select(ask.mean("worst"), ask.sum("paid"), ask.count()),
    "pairs-of-people": Q.of(Joined(Part(), Part(Other("labs", LABS)), "l_")).select(ask.mean("l_y"), ask.people()),
    "united": Q.of(United((Part(), Part(None, (), col("x") > 1)))).select(ask.count(), ask.histogram("site")),
}  # fmt: skip


def texts():
    """Yield the path and the text of each golden file."""
    asked = [(name, query, SCHEMA) for name, query in QUESTIONS.items()]
    asked += [(name, query, PEOPLE) for name, query in RELATED.items()]
    for name, query, schema in asked:
        plan = make_plan(query, schema, 1)
        for target in RUN:
            yield FOLDER / target / f"{name}.sql", statement(plan, target) + "\n"
        for target in NOT_RUN:
            text = compiled(plan, target, "clinic.patients")
            yield FOLDER / target / f"{name}.sql", text + "\n"


def rewrite():
    """Write all golden files anew, and remove those of no question."""
    known = dict(texts())
    for path in set(FOLDER.rglob("*.sql")) - set(known):
        path.unlink()
    for path, text in known.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
