"""The tables of a ledger, as SQLite and as PostgreSQL want them.

Rules that must outlive any program stand in the database: amounts between 0 and the
cap, no smaller amount than before, no deletion, no change of an entry.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from string import Template

from sfumato.ledger.store import Database

__all__ = ["APPLICATION", "BUDGETS", "ENTRIES", "FORMAT", "POSTGRES", "SQLITE", "VERSION",
           "schema_changes", "statements"]  # fmt: skip

APPLICATION = 0x5F0A70  # marks a SQLite file as a ledger
VERSION = 2  # of the tables
FORMAT = 3  # of a SQLite file: since 3 its last entries may lie in the log beside it

BUDGETS = (
    "SELECT id, dataset, kind, name, label, measure,"
    " cap, delta_cap, spent, delta_spent, whole, delta_whole FROM budget"
)
ENTRIES = "SELECT place, kind, dataset, debits, request, body, hash FROM entry"

_TABLES = Template("""
CREATE TABLE ledger (
    identity TEXT PRIMARY KEY,
    version  $int NOT NULL
) $strict;
CREATE TABLE budget (
    id          $int PRIMARY KEY,
    dataset     TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('dataset', 'analyst', 'project', 'block')),
    name        TEXT NOT NULL,
    label       TEXT NOT NULL,
    measure     TEXT NOT NULL CHECK (measure IN ('epsilon', 'zcdp', 'gdp')),
    cap         $int NOT NULL CHECK (cap > 0),
    delta_cap   $int NOT NULL CHECK (delta_cap >= 0),
    spent       $int NOT NULL CHECK (spent BETWEEN 0 AND cap),
    delta_spent $int NOT NULL CHECK (delta_spent BETWEEN 0 AND delta_cap),
    whole       $int NOT NULL CHECK (whole BETWEEN 0 AND spent),
    delta_whole $int NOT NULL CHECK (delta_whole BETWEEN 0 AND delta_spent),
    UNIQUE (dataset, kind, name)
) $strict;
CREATE TABLE entry (
    place   $int PRIMARY KEY,
    kind    TEXT NOT NULL CHECK (kind IN ('open', 'debit', 'answer', 'reconcile')),
    dataset TEXT NOT NULL,
    debits  $int NOT NULL,
    request TEXT,
    body    TEXT NOT NULL,
    hash    TEXT NOT NULL
) $strict;
CREATE UNIQUE INDEX entry_debit ON entry (debits) WHERE kind = 'debit';
CREATE UNIQUE INDEX entry_request ON entry (dataset, request) WHERE request IS NOT NULL;
CREATE TABLE answer (
    debit   $int PRIMARY KEY,
    content $blob NOT NULL
) $strict;
""")

_REFUNDS = """NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.whole < OLD.whole OR NEW.delta_whole < OLD.delta_whole
        OR NEW.cap <> OLD.cap OR NEW.delta_cap <> OLD.delta_cap
        OR NEW.measure <> OLD.measure OR NEW.id <> OLD.id
        OR NEW.dataset <> OLD.dataset OR NEW.kind <> OLD.kind OR NEW.name <> OLD.name
        OR NEW.label <> OLD.label"""

# INSERT OR REPLACE deletes without asking the DELETE triggers, hence guards of inserts.
_GUARDS = {
    "ledger": "EXISTS (SELECT 1 FROM ledger)",
    "budget": """EXISTS (SELECT 1 FROM budget WHERE id = NEW.id
        OR (dataset = NEW.dataset AND kind = NEW.kind AND name = NEW.name))""",
    "entry": """NEW.place <= (SELECT max(place) FROM entry)
        OR (NEW.kind = 'debit' AND EXISTS
            (SELECT 1 FROM entry WHERE kind = 'debit' AND debits = NEW.debits))
        OR EXISTS (SELECT 1 FROM entry WHERE request IS NOT NULL
            AND dataset = NEW.dataset AND request = NEW.request)""",
    "answer": "EXISTS (SELECT 1 FROM answer WHERE debit = NEW.debit)",
}

SQLITE = (
    _TABLES.substitute(int="INTEGER", blob="BLOB", strict="STRICT")
    + "".join(
        f"""
CREATE TRIGGER {table}_stays BEFORE DELETE ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} rows cannot be deleted'); END;"""
        for table in ("ledger", "budget", "entry", "answer")
    )
    + "".join(
        f"""
CREATE TRIGGER {table}_is_final BEFORE UPDATE ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} rows cannot be changed'); END;"""
        for table in ("ledger", "entry", "answer")
    )
    + "".join(
        f"""
CREATE TRIGGER {table}_is_added BEFORE INSERT ON {table} WHEN {guard}
    BEGIN SELECT RAISE(ABORT, '{table} rows are only added'); END;"""
        for table, guard in _GUARDS.items()
    )
    + f"""
CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON budget
    WHEN {_REFUNDS}
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded and caps are final'); END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""
)

POSTGRES = (
    _TABLES.substitute(int="BIGINT", blob="BYTEA", strict="")
    + """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '% rows are final', TG_TABLE_NAME; END $$;
"""
    + "".join(
        f"""
CREATE TRIGGER {table}_stays BEFORE DELETE OR TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();"""
        for table in ("ledger", "budget", "entry", "answer")
    )
    + "".join(
        f"""
CREATE TRIGGER {table}_is_final BEFORE UPDATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();"""
        for table in ("ledger", "entry", "answer")
    )
    + f"""
CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON budget
    FOR EACH ROW WHEN ({_REFUNDS}) EXECUTE FUNCTION refuse();
"""
)


def statements(script: str) -> Iterator[str]:
    """Split a script; `executescript` would commit in between."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending.strip().rstrip(";")
            pending = ""


def schema_changes(db: Database) -> list[str]:
    """Compare the schema in the file, word for word, with ours."""
    ours = {s for s in statements(SQLITE) if s.startswith("CREATE")}
    theirs = {
        str(sql)
        for (sql,) in db.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }
    return [
        *(f"missing: {_title(s)}" for s in sorted(ours - theirs)),
        *(f"not ours: {_title(s)}" for s in sorted(theirs - ours)),
    ]


def _title(statement: str) -> str:
    return " ".join(statement.split()[:4])
