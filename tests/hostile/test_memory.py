"""Files that declare or unfold to more than memory holds, within a limit of memory."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.engine.lines import LONGEST

CHILD = """
import json, resource, sys
import duckdb, numpy, pyarrow
import sfumato as sf
from sfumato.declare.query import Query, count, sum as total
from sfumato.engine.load import open_engine
from sfumato.errors import SfumatoError
from sfumato.plan import make_plan

with open_engine(sf.Dataset([], schema=sf.Schema({"x": sf.Real(0, 9)}))) as engine:
    # Run with -c, which DuckDB takes for a prompt: it would print its progress.
    told = engine.unprotected("SELECT current_setting('enable_progress_bar')")
    assert told == [(False,)]
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
room = held + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (room, room))
for name, keys, memory in json.loads(sys.argv[2]):
    columns = {"x": sf.Integer(0, 9)} | ({"g": sf.Category(["k"])} if keys else {})
    schema = sf.Schema(columns)
    plan = make_plan(Query().select(count("x"), total("x")), schema, 1)
    try:
        with open_engine(sf.Dataset(name, schema=schema, memory=memory)) as engine:
            found = [int(n) for (n,) in engine.run(plan).unseal()]
    except SfumatoError as error:
        found = str(error).splitlines()[0]
    print(json.dumps(found))
"""
ROOM = (
    700_000_000  # bytes above those of an idle program; each file needs more if trusted
)


def zigzag(number):
    """Return a whole number as Thrift writes it."""
    number <<= 1
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def lies(tmp_path):
    """Write Parquet files whose heads claim what their bytes do not hold."""
    honest = tmp_path / "honest.parquet"
    pq.write_table(
        pa.table({"x": [1.0] * 1000}), honest, compression="zstd", use_dictionary=False,
        store_schema=False, write_statistics=False,
    )  # fmt: skip
    raw = honest.read_bytes()
    chunk = pq.ParquetFile(honest).metadata.row_group(0).column(0)
    length = struct.unpack("<I", raw[-8:-4])[0]
    assert raw[4:7] == b"\x15\0\x15" and raw[7] > 127 > raw[8]  # the size of a page
    body, foot = raw[: -8 - length], raw[-8 - length : -8]
    made = {
        "page": raw[:7] + zigzag(2**31 - 1) + raw[9:],
        "chunk": body + (f := foot.replace(b"\x16" + zigzag(chunk.total_uncompressed_size), b"\x16" + zigzag(10 << 30))) + struct.pack("<I", len(f)) + b"PAR1",
        "rows": body + (f := foot.replace(b"\x16" + zigzag(1000), b"\x16" + zigzag(10**12))) + struct.pack("<I", len(f)) + b"PAR1",
        "foot": raw[:-8] + struct.pack("<I", 2**32 - 1) + b"PAR1",
    }  # fmt: skip
    assert all(text != raw for text in made.values())
    for name, text in made.items():
        (tmp_path / f"{name}.parquet").write_bytes(text)
    return ["page", "chunk", "rows", "foot"]


def asked(files):
    """Return what a program of little memory makes of files."""
    source = str(Path(sf.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(ROOM), json.dumps(files)],
        capture_output=True, text=True, env={"PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_no_file_takes_more_memory_than_is_stated(tmp_path):
    """Each is refused in one line or answered, with 700 MB, whatever it declares."""
    endless, long, quoted, many = (tmp_path / f"{n}.csv" for n in "elqm")
    with endless.open("wb") as file:
        file.truncate(10 << 30)  # one line of 10 GB, which takes no room on the disk
    with long.open("w") as file:
        file.write("x,g\n1,k\n")
        file.writelines(["2," + "k" * LONGEST, "k" * (60 << 20), "\n3,k\n"])
    quoted.write_text('x,g\n1,k\n"' + "\n".join(["k" * 500_000] * 40) + '"\n2,k\n')
    many.write_text("x,g\n" + "1,k\n" * 300_000)
    bomb = tmp_path / "bomb.parquet"
    keys = pa.DictionaryArray.from_arrays([0] * 2000, ["k" * (1 << 20)])
    table = pa.table({"x": [1.0] * 2000, "g": keys})
    pq.write_table(table, bomb, compression="zstd", store_schema=False)
    assert bomb.stat().st_size < 1 << 20  # of 2 GB

    found = asked(
        [
            (str(endless), False, None),
            (str(long), True, None),
            (str(quoted), True, None),
            (str(many), True, None),
            (str(many), True, "1MB"),
            (str(bomb), True, "200MB"),
            *((str(tmp_path / f"{n}.parquet"), False, "200MB") for n in lies(tmp_path)),
        ]
    )

    start = "[SF104] "
    more = "needs more memory than it may take"
    assert "is longer than a million characters" in found[0]
    assert found[1] == [3, 6]
    assert found[2] == [2, 3]
    assert found[3] == [300_000, 300_000]
    assert found[4].startswith(start) and more in found[4]
    assert found[5] == [2000, 2000] or more in found[5]
    assert all(isinstance(text, str) and text.startswith(start) for text in found[6:])
    assert more in found[7]
    assert all("is not readable Parquet" in found[i] for i in (8, 9))
    assert len(found) == 10


def test_what_lies_beyond_a_million_characters_is_ignored(tmp_path):
    """A long line changes its own row only, and its first cells count."""
    path = tmp_path / "t.csv"
    rows = ["1,k," + "z" * LONGEST + ",9", "2,k", "z" * (2 * LONGEST) + ",k", "3,k"]
    path.write_text("x,g\n" + "\n".join(rows))
    schema = sf.Schema({"x": sf.Real(0, 9), "g": sf.Category(["k"])})

    from sfumato.declare.query import Query, count
    from sfumato.engine.load import open_engine
    from sfumato.plan import make_plan

    plan = make_plan(Query().select(count(), count("x"), count("g")), schema, 1)
    with open_engine(sf.Dataset(path, schema=schema)) as engine:
        assert engine.run(plan).unseal() == ((4,), (3,), (3,))
