"""Releases of one table made over and over, without a session."""

from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.frames import load_records
from sfumato.gate import _add_noise
from sfumato.plan import make_plan


def noisy_runs(rows, schema, query, loss, runs):
    """Yield the plan and the noisy integers of some releases of one table."""
    plan = make_plan(query, schema, loss)
    engine = DuckDBEngine(load_records(rows, schema), schema)
    try:
        exact = engine.run(plan).unseal()
    finally:
        engine.close()
    for _ in range(runs):
        yield plan, _add_noise(plan, exact)
