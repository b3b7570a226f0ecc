"""Debits per second against the disk's own rate of fdatasync, in the same run.

A debit is durable when it returns, so it cannot be faster than one write to disk; what
is shown is the share of that speed which is left. The disk's rate is measured between
the debits, because disks (virtual ones above all) change from second to second: 4 KiB
overwritten in a file that exists, then fdatasync.

Run ``python benchmarks/ledger.py --seconds 3 --folder /path/on/the/disk``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import tempfile
import threading
from pathlib import Path
from statistics import median
from time import perf_counter

from sfumato.account import Epsilon
from sfumato.ledger import Ledger
from sfumato.ledger.amounts import read_cost
from sfumato.ledger.debits import Order
from sfumato.ledger.waiting import Ticket

COST = Epsilon("1e-9")


def open_ledger(path):
    """Open the ledger that is measured."""
    return Ledger(path, dataset="bench", cap=Epsilon("1000"))


class Disk:
    """A file of 64 blocks that is overwritten block by block, durably."""

    def __init__(self, folder):
        self.file = os.open(Path(folder) / "disk", os.O_RDWR | os.O_CREAT)
        os.write(self.file, bytes(64 * 4096))
        os.fsync(self.file)
        self.block = os.urandom(4096)

    def seconds(self, number):
        """Return how long so many durable writes take."""
        began = perf_counter()
        for i in range(number):
            os.pwrite(self.file, self.block, i % 64 * 4096)
            os.fdatasync(self.file)
        return perf_counter() - began

    def rate(self, seconds):
        """Return durable writes per second."""
        done, began = 0, perf_counter()
        while perf_counter() - began < seconds:
            done += 10
            self.seconds(10)
        return done / (perf_counter() - began)


def alternating(path, disk, seconds, debits=10):
    """Return the rates of disk and of debits, measured in turns of ten each."""
    ledger = open_ledger(path)
    for _ in range(600):  # log and journal have been filled once by then
        ledger.debit(COST, plan="bench")
    raw = own = 0.0
    done = 0
    while raw + own < 2 * seconds:
        raw += disk.seconds(debits)
        began = perf_counter()
        for _ in range(debits):
            ledger.debit(COST, plan="bench")
        own += perf_counter() - began
        done += debits
    return done / raw, done / own


def spend(path, seconds, gate=None):
    """Debit for some seconds; return how often it worked and the slowest one."""
    ledger = open_ledger(path)
    ledger.debit(COST, plan="bench")
    if gate is not None:
        gate.wait()
    done, slowest, began = 0, 0.0, perf_counter()
    while (now := perf_counter()) - began < seconds:
        ledger.debit(COST, plan="bench")
        slowest = max(slowest, perf_counter() - now)
        done += 1
    return done, slowest


def in_processes(path, number, seconds):
    """Return debits per second of several processes together, and the slowest one."""
    context = multiprocessing.get_context("fork")
    gate, found = context.Barrier(number), context.Queue()

    def work():
        found.put(spend(path, seconds, gate))

    workers = [context.Process(target=work) for _ in range(number)]
    [w.start() for w in workers]
    results = [found.get() for _ in workers]
    [w.join() for w in workers]
    return sum(d for d, _ in results) / seconds, max(s for _, s in results)


def in_threads(path, number, seconds):
    """Return debits per second of threads that wait together in one process."""
    ledger, counts, stop = open_ledger(path), [0] * number, threading.Event()

    def work(i):
        while not stop.is_set():
            ledger.debit(COST, plan="bench")
            counts[i] += 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(number)]
    began = perf_counter()
    [t.start() for t in threads]
    threading.Event().wait(seconds)
    stop.set()
    [t.join() for t in threads]
    return sum(counts) / (perf_counter() - began)


def in_groups(path, number, seconds):
    """Return debits per second where so many wait and one thread commits them at once.

    What the thread that leads does for those who wait, without the changes of thread.
    """
    ledger, done, began = open_ledger(path), 0, perf_counter()
    while perf_counter() - began < seconds:
        waiting = [
            Ticket(Order("bench", read_cost(COST), "bench"), ledger._paid)
            for _ in range(number)
        ]
        ledger._writer._commit(waiting)
        done += len({ticket.result().head for ticket in waiting})
    return done / (perf_counter() - began)


def page(rounds):
    """Return what was measured, as Markdown."""
    lines = [
        "# Ledger: debits per second against the disk's own rate",
        "",
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores."
        " The disk: 4 KiB overwritten in place and fdatasync, between the debits.",
        "",
        "| round | disk, fdatasync/s | 1 process | ÷ disk | 8 processes | ÷ disk |"
        " slowest of 8, ms | 16 waiting | ÷ 1 process | 16 threads | ÷ 1 process |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for i, r in enumerate(rounds, 1):
        lines.append(
            f"| {i} | {r['raw']:.0f}, {r['raw8']:.0f} | {r['one']:.0f} |"
            f" **{r['one'] / r['raw']:.2f}** | {r['eight']:.0f} |"
            f" **{r['eight'] / r['raw8']:.2f}** | {r['slowest'] * 1000:.0f} |"
            f" {r['group']:.0f} | **{r['group'] / r['single']:.1f}** |"
            f" {r['threads']:.0f} | {r['threads'] / r['single']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def measure(folder, seconds):
    """Return the rates of one round."""
    path, disk = Path(folder) / "a.ledger", Disk(folder)
    raw, one = alternating(path, disk, seconds)
    before = disk.rate(seconds / 3)
    eight, slowest = in_processes(path, 8, seconds)
    after = disk.rate(seconds / 3)
    single, _ = in_processes(path, 1, seconds / 2)
    group = in_groups(path, 16, seconds)
    threads = in_threads(path, 16, seconds)
    again, _ = in_processes(path, 1, seconds / 2)
    os.close(disk.file)
    return {
        "raw": raw, "one": one, "raw8": (before + after) / 2, "eight": eight,
        "slowest": slowest, "single": (single + again) / 2, "group": group,
        "threads": threads,
    }  # fmt: skip


def main():
    """Print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="on the disk to measure")
    parser.add_argument("--out", type=Path, help="write a page of Markdown as well")
    asked = parser.parse_args()
    rounds = []
    for turn in range(asked.rounds):
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            r = measure(folder, asked.seconds)
        rounds.append(r)
        print(
            f"round {turn + 1}: disk {r['raw']:.0f} {r['raw8']:.0f} fdatasync/s; "
            f"debits/s: 1 process {r['one']:.0f}, 8 processes {r['eight']:.0f} (slowest "
            f"debit {r['slowest'] * 1000:.0f} ms), 16 waiting {r['group']:.0f}, "
            f"16 threads {r['threads']:.0f}",
            flush=True,
        )
    one = median(r["one"] / r["raw"] for r in rounds)
    eight = median(r["eight"] / r["raw8"] for r in rounds)
    group, threads = (
        median(r[name] / r["single"] for r in rounds) for name in ("group", "threads")
    )
    print(f"1 process:   {one:.2f} x the disk (aim 0.7)")
    print(f"8 processes: {eight:.2f} x the disk (aim 0.7)")
    print(f"16 waiting:  {group:.1f} x single debits (aim 5)")
    print(f"16 threads:  {threads:.1f} x single debits")
    if asked.out:
        asked.out.write_text(page(rounds), encoding="utf-8")


if __name__ == "__main__":
    main()
