"""Each dialect's SQL is the one on file, and its parser reads it."""

import math
import re
from decimal import Decimal

import adversary as a
import duckdb
import golden
import pytest

from sfumato.engine.compiled import NOT_RUN, compiled, declared_layout
from sfumato.engine.dialect import DUCKDB
from sfumato.engine.render import Statement
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan

sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")

FILES = dict(golden.texts())


def test_no_file_is_of_no_question():
    """The folder holds one file per question and dialect."""
    assert set(golden.FOLDER.rglob("*.sql")) == set(FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_the_statement_is_the_one_on_file(path):
    """A change of SQL is seen in review; `python tests/engine/golden.py` accepts it."""
    assert FILES[path] == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_the_dialect_can_parse_it(path):
    """One SELECT, read strictly; what never ran on its database says so."""
    text, target = FILES[path], path.parent.name

    (tree,) = sqlglot.parse(text, read=target, error_level=sqlglot.ErrorLevel.RAISE)

    assert isinstance(tree, sqlglot.exp.Select)
    assert text.startswith(NOT_RUN) == (target in golden.NOT_RUN)


@pytest.mark.parametrize("name", ["a`b", 'a"b', "a\\b", "1a", "", "a;b", "a--b\n"])
@pytest.mark.parametrize("target", golden.NOT_RUN)
def test_names_that_could_end_their_quotes_are_refused(target, name):
    """Only letters, digits and a few signs are ever put between quotes."""
    plan = make_plan(golden.QUESTIONS["rows"], golden.SCHEMA, 1)

    with pytest.raises(DeclarationError, match="cannot be written into SQL safely"):
        compiled(plan, target, name)


ROWS = [
    {"glucose": g, "age": x, "dose": d, "sex": s, "ward": w, "smokes": y, "alive": y}
    for g, x, d, s, w, y in (
        (1.25, 17.5, 2.5, "F", "1", True), (-math.inf, 18.0, 1e300, "男", "2.0", False),
        (math.nan, math.nan, math.nan, "O'Brien", "03", None), (0.0, 200.0, -7.0, "f", "3.00", True),
        (249.95, None, None, None, None, None), (70.0, 0.5, -1e300, "M", "2.1", False),
        (99.95, 119.5, 2.0**39, "F", "2", True), (250.0, 3.0, 0.5, "M", "", False),
    )
]  # fmt: skip
KINDS = ("DOUBLE", "DOUBLE", "DOUBLE", "VARCHAR", "VARCHAR", "BOOLEAN", "BOOLEAN")
# What sqlglot leaves to DuckDB under its old name.
MACROS = (
    "CREATE MACRO safe_convert_bytes_to_string(x) AS decode(x)",
    "CREATE MACRO ieee_divide(a, b) AS a / b",
)


@pytest.mark.parametrize("name", golden.QUESTIONS)
@pytest.mark.parametrize("target", golden.NOT_RUN)
def test_translated_it_computes_the_integers_of_the_specification(target, name):
    """Read by a parser of its dialect and said in DuckDB's, each statement is right."""
    plan = make_plan(golden.QUESTIONS[name], golden.SCHEMA, 1)
    text = FILES[golden.FOLDER / target / f"{name}.sql"].removeprefix(NOT_RUN)
    columns = ", ".join(f"{n} {k}" for n, k in zip(ROWS[0], KINDS, strict=True))
    renamed = ", ".join(f"{n} AS c{i}" for i, n in enumerate(ROWS[0]))
    with duckdb.connect() as db:
        db.execute(f"CREATE SCHEMA clinic; CREATE TABLE clinic.patients ({columns})")
        db.executemany("INSERT INTO clinic.patients VALUES (?, ?, ?, ?, ?, ?, ?)", [list(row.values()) for row in ROWS])  # fmt: skip
        db.execute(f"CREATE VIEW data AS SELECT {renamed} FROM clinic.patients")
        for macro in MACROS:
            db.execute(macro)

        rows = db.execute(sqlglot.transpile(text, read=target, write="duckdb")[0])

        cells = [tuple(map(_plain, row)) for row in rows.fetchall()]
    layout = declared_layout(plan.table)
    found = Statement(plan, layout, DUCKDB).read(cells).exact(plan)
    assert found == a.expected(plan, ROWS)


def _plain(cell):
    """Return a cell as the dialect's own driver does: no whole number has places."""
    if isinstance(cell, Decimal):
        return int(cell)
    return re.sub(r"\.0+$", "", cell) if isinstance(cell, str) else cell
