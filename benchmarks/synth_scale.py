"""Large tables and raw ones: a million rows, forty columns, Pima as it is, linked ones.

python benchmarks/synth_scale.py --linked 1000000
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from synth_tools import DELTA, peak, used


def scale(name: str) -> dict:
    """Return CPU seconds, megabytes and words about a million rows, or forty columns."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--scale", name],
        capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    lines = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
    if not lines:
        words = done.stderr.strip().splitlines() or ["no output"]
        raise SystemExit(f"{name}: {words[-1]}")
    return json.loads(lines[-1][7:])


def scale_child(name: str) -> None:
    """Make a table in a Parquet file, then fit it and report this process alone."""
    import sfumato as sf
    from sfumato.synth import Synthesizer

    rows, sizes = (1_000_000, [17, 9, 10, 16, 7, 15, 6, 5, 2, 20, 20, 20, 42, 2])
    if name == "forty":
        rows, sizes = 20_000, [4 + i % 7 for i in range(40)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        subprocess.run(
            [
                sys.executable,
                __file__,
                "--make",
                str(path),
                str(rows),
                json.dumps(sizes),
            ],
            check=True,
        )
        schema = sf.Schema(
            {f"c{i}": sf.Category(range(n)) for i, n in enumerate(sizes)}
        )
        table = sf.Dataset(path, schema=schema, name=name)
        start = used()
        made = Synthesizer("oneshot", complete=True).fit(
            table, budget=sf.ApproxDP("1", DELTA)
        )
        fitted = used() - start
        made.sample(rows)
        memory = peak()
        cpu = used() - start
        told = {
            "text": f"{rows:,} x {len(sizes)}",
            "fit": fitted,
            "cpu": cpu,
            "mb": memory,
        }
        print("RESULT " + json.dumps(told))


def make_table(path: str, rows: int, sizes: list[int]) -> None:
    """Write a table in which each column leans on the one before it."""
    import duckdb

    rng = np.random.default_rng(0)
    columns = [rng.integers(0, sizes[0], rows)]
    for size in sizes[1:]:
        kept = rng.random(rows) < 0.6
        columns.append(np.where(kept, columns[-1] % size, rng.integers(0, size, rows)))
    held = {f"c{i}": c.astype(np.int16) for i, c in enumerate(columns)}
    db = duckdb.connect()
    db.register("held", held)
    db.execute(f"COPY (SELECT * FROM held) TO '{path}' (FORMAT parquet)")


def raw_pima(seeds: int, epsilon: str) -> tuple[float, float]:
    """Return the error of raw Pima: mean KS distance, and relative error of means."""
    from importlib import resources

    import pandas as pd

    import sfumato as sf
    from sfumato.synth import Synthesizer

    bounds = {"Pregnancies": (0, 20), "Glucose": (0, 250), "BloodPressure": (0, 150),
              "SkinThickness": (0, 100), "Insulin": (0, 900), "BMI": (0, 70),
              "DiabetesPedigreeFunction": (0, 2.5), "Age": (21, 90)}  # fmt: skip
    text = resources.files("sfumato").joinpath("data/diabetes.csv")
    frame = pd.read_csv(str(text))
    whole = ("Pregnancies", "Age")
    columns = {
        c: sf.Integer(*b) if c in whole else sf.Real(*b) for c, b in bounds.items()
    }
    schema = sf.Schema({**columns, "Outcome": sf.Category([0, 1])})
    ks, means = [], []
    for seed in range(seeds):
        order = np.random.default_rng(seed % 5).permutation(len(frame))
        train = frame.iloc[order[: int(0.7 * len(frame))]]
        made = Synthesizer(complete=True).fit(
            sf.Dataset(train, schema=schema, name="raw"), budget=sf.ApproxDP(epsilon, DELTA)
        ).sample(len(train))  # fmt: skip
        for c in bounds:
            real, fake = np.sort(train[c]), np.sort(made[c])
            at = np.concatenate([real, fake])
            gap = np.searchsorted(real, at, "right") / len(real)
            ks.append(
                np.abs(gap - np.searchsorted(fake, at, "right") / len(fake)).max()
            )
            means.append(abs(fake.mean() / real.mean() - 1))
    return float(np.mean(ks)), float(np.mean(means))


def linked_child(visits: int) -> None:
    """Fit a head and its linked table, four visits of each patient; report this process."""
    import sfumato as sf
    from sfumato.synth import LinkedSynthesizer

    def who(rows: int) -> sf.Unit:
        return sf.Unit("id", max_rows=rows, max_groups=1)

    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.parquet" for name in ("patients", "visits")]
        subprocess.run(
            [sys.executable, __file__, "--make-linked", *map(str, paths), str(visits)], check=True
        )  # fmt: skip
        ten = sf.Category(range(10))
        heads = sf.Schema(
            {"sex": sf.Boolean(), "age": sf.Integer(0, 99), "c": ten}, who(1)
        )
        tails = sf.Schema(
            {"ward": ten, "ill": sf.Boolean(), "score": sf.Integer(0, 99)}, who(4)
        )
        head, other = (
            sf.Dataset(path, schema=schema, name=path.stem)
            for path, schema in zip(paths, (heads, tails), strict=True)
        )
        start = used()
        made = LinkedSynthesizer().fit(
            head, {"visits": other}, budget=sf.ApproxDP("2", DELTA)
        )
        fitted = used() - start
        drawn = made.sample()
        rows = f"{len(drawn['patients']):,} patients, {len(drawn['visits']):,} visits"
        print(
            f"{rows}: fit {fitted:.1f}, with rows {used() - start:.1f} CPU s, {peak():.0f} MB"
        )


def make_linked(patients: str, visits: str, rows: int) -> None:
    """Write both tables; wards lean on sex, scores on age."""
    import duckdb

    duckdb.sql(
        f"COPY (SELECT range AS id, range % 2 = 0 AS sex, range % 90 AS age, range % 10 AS c "
        f"FROM range({rows // 4})) TO '{patients}' (FORMAT parquet)"
    )
    duckdb.sql(
        f"COPY (SELECT range // 4 AS id, (range // 4) % 2 * 5 + range % 5 AS ward, "
        f"range % 3 = 0 AS ill, (range // 4) % 90 AS score FROM range({rows})) "
        f"TO '{visits}' (FORMAT parquet)"
    )


if __name__ == "__main__":
    if sys.argv[1] == "--scale":
        scale_child(sys.argv[2])
    elif sys.argv[1] == "--linked":
        linked_child(int(sys.argv[2]))
    elif sys.argv[1] == "--make-linked":
        make_linked(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        make_table(sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]))
