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
def server(*settings):
    """Yield a server's folder, a function that runs programs, and one that starts it.

    It is started once; where none can run, the test is skipped with the reason.
    """
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
    data = str(folder / "data")
    options = f"-k {folder} -c listen_addresses=''"
    options += "".join(f" -c {setting}" for setting in settings)

    def run(program, *arguments):
        subprocess.run(
            [bin_ / program, "-D", data, *arguments],
            check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user,
        )  # fmt: skip

    def start():
        run("pg_ctl", "-o", options, "-w", "-l", str(folder / "log"), "start")

    try:
        run("initdb", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-N")
        start()
        try:
            yield folder, run, start
        finally:
            run("pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running():
    """Yield the address of an empty server that nobody restarts."""
    with server("fsync=off", "max_connections=40") as (folder, _, _):
        yield f"postgresql://owner@/postgres?host={folder}"
