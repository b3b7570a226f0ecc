"""A private PostgreSQL server for the tests of one process, or a reason to skip."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def binaries():
    """Return the folder of PostgreSQL's programs, or none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def running():
    """Yield the address of an empty server; skip, with the reason, where none can run."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    bin_ = binaries()
    if bin_ is None:
        pytest.skip("no PostgreSQL programs: apt-get install postgresql")
    is_root = os.geteuid() == 0
    user = {"user": "postgres", "group": "postgres"} if is_root else {}
    folder = Path(tempfile.mkdtemp(prefix="sfpg"))  # short: a socket lies in it
    if is_root:
        try:
            shutil.chown(folder, "postgres", "postgres")
        except LookupError:
            pytest.skip("root cannot run PostgreSQL and there is no user postgres")

    def run(program, *arguments):
        subprocess.run(
            [bin_ / program, *arguments],
            check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user,
        )  # fmt: skip

    data = str(folder / "data")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=40"
    try:
        run("initdb", "-D", data, "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-N")  # fmt: skip
        run("pg_ctl", "-D", data, "-o", options, "-w", "-l", str(folder / "log"), "start")  # fmt: skip
        try:
            yield f"postgresql://owner@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
