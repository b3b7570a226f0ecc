"""Planning 1,000 questions: seconds of processor time, with the digest of each plan.

Run ``python benchmarks/planning.py``. No data is read; the aim is one second.
"""

from __future__ import annotations

import argparse
from time import process_time

import sfumato as sf
from sfumato import Category, Query, Real, Schema, count, mean
from sfumato.plan import make_plan


def questions(number):
    """Return different questions, half of them by groups."""
    for i in range(number):
        asked = Query().select(count(), mean(f"c{i % 50}"), sf.sum(f"c{(i + 7) % 50}"))
        yield asked.group_by("g") if i % 2 else asked


def main():
    """Print the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    asked = parser.parse_args()
    columns = {f"c{i}": Real(0, 100 + i, step=0.1) for i in range(50)}
    schema = Schema({**columns, "g": Category(list("abcd"))})
    began = process_time()
    ready = list(questions(asked.questions))
    digests = {
        make_plan(query, schema, f"0.{i + 1:06d}").digest
        for i, query in enumerate(ready)
    }
    taken = process_time() - began
    print(f"{len(digests)} different plans in {taken:.2f} s of processor time (aim 1)")


if __name__ == "__main__":
    main()
