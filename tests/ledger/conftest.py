"""Ledgers to try things on; `import cluster` for a PostgreSQL server."""

import sqlite3
import sys
from pathlib import Path

import pytest

from sfumato.account import Epsilon
from sfumato.ledger import Ledger

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))


@pytest.fixture
def path(tmp_path):
    """A place for a ledger."""
    return tmp_path / "a.ledger"


@pytest.fixture
def raw():
    """Run SQL on a ledger file behind the program's back; commit and close."""

    def run(path, *statements):
        db = sqlite3.connect(path, isolation_level=None)
        try:
            return [db.execute(s).fetchall() for s in statements]
        finally:
            db.close()

    return run


@pytest.fixture
def without_trigger(raw):
    """Run SQL with one trigger away and put the trigger back."""

    def run(path, trigger, *statements):
        ((sql,),) = raw(
            path, f"SELECT sql FROM sqlite_master WHERE name = '{trigger}'"
        )[0]
        raw(path, f"DROP TRIGGER {trigger}", *statements, sql)

    return run


@pytest.fixture
def book():
    """Open the ledger of a dataset."""

    def open_(path=None, cap="1", dataset="pima", **more):
        return Ledger(path, dataset=dataset, cap=Epsilon(cap), **more)

    return open_
