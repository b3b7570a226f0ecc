"""Kill processes at random moments while they spend, then count.

``python -m sfumato.testing.crash --kills 150`` starts eight processes that debit,
store an answer and release it, over and over, in one ledger file; kills them with
SIGKILL at moments that nobody chose; and checks at the end that no budget was
overspent and that no released answer is missing from the ledger. It uses a folder of
its own and reads no data.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from multiprocessing.context import ForkProcess
from pathlib import Path

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError
from sfumato.ledger import Ledger, show, verify
from sfumato.ledger.sharing import writer_of

__all__ = ["Outcome", "run"]

_COST = Epsilon("0.01")
_CAP = Epsilon("0.505")  # 50 debits and a half: the half must never be spent
_FULL = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found.

    Attributes:
        kills: Processes killed.
        seconds: How long it took.
        debits: Debits in the ledger.
        released: Answers that left a process.
        burned: Debits without a released answer: paid for, never seen.
        lost: Released answers that the ledger does not hold; must be 0.
        overspent: Budgets above their cap or short of it though refused; must be 0.
        findings: What `verify` found; must be empty.
    """

    kills: int
    seconds: float
    debits: int
    released: int
    burned: int
    lost: int
    overspent: int
    findings: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing was lost, overspent or damaged."""
        return not (self.lost or self.overspent or self.findings)

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.kills} kills in {self.seconds:.0f} s: {self.debits} debits, "
            f"{self.released} answers released, {self.burned} paid and never seen, "
            f"{self.lost} released but lost, {self.overspent} budgets overspent, "
            f"ledger {'sound' if not self.findings else '; '.join(self.findings)}"
        )


def run(
    folder: Path, *, kills: int = 150, processes: int = 8, seed: int = 0
) -> Outcome:
    """Spend and kill in `folder`, which must be empty, and count what is left.

    Args:
        folder: Where the ledger and the lists of released answers are written.
        kills: How many processes to kill.
        processes: How many spend at the same time.
        seed: Chooses victims and moments, as far as the system's clock lets it.
    """
    began = time.monotonic()
    path = folder / "crash.ledger"
    dice = _dice(seed)
    workers = [_start(path, i) for i in range(processes)]
    for _ in range(kills):
        time.sleep(next(dice) * 0.12)
        victim = int(next(dice) * processes)
        _kill(workers[victim])
        workers[victim] = _start(path, victim)
    _await_release(folder)
    for worker in workers:
        _kill(worker)
    return _count(path, kills, time.monotonic() - began)


def _await_release(folder: Path) -> None:
    """Let the last processes work until something was released, on slow machines too."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.3)
        if any(f.stat().st_size for f in folder.glob("released-*")):
            return


def _start(path: Path, number: int) -> ForkProcess:
    # A fork starts in a few milliseconds; nothing of a ledger is open here.
    worker = multiprocessing.get_context("fork").Process(
        target=_spend, args=(path, number), daemon=True
    )
    worker.start()
    return worker


def _kill(worker: ForkProcess) -> None:
    if worker.pid is not None:
        os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    worker.close()


def _spend(path: Path, number: int) -> None:
    """Debit, store, release, until killed; go on to a new budget when one is spent."""
    released = os.open(
        path.with_name(f"released-{number}"), os.O_CREAT | os.O_WRONLY | os.O_APPEND
    )
    for turn in count():
        ledger = Ledger(path, dataset=f"round {turn}", cap=_CAP)
        while True:
            try:
                receipt = ledger.debit(_COST, plan="crash")
            except BudgetExceededError:
                break
            answer = f"answer {receipt.head} of process {os.getpid()}".encode()
            ledger.answer(receipt, answer)
            line = f"{receipt.sequence} {hashlib.sha256(answer).hexdigest()}\n"
            os.write(released, line.encode())


def _count(path: Path, kills: int, seconds: float) -> Outcome:
    verdict = verify(path)
    overview = show(path)
    released = [
        line.split()
        for file in path.parent.glob("released-*")
        for line in file.read_text("ascii").splitlines()
    ]
    answers = writer_of(path, None).inspect(
        lambda db, _identity, _anchor: db.rows("SELECT debit, content FROM answer")
    )
    stored = {debit: hashlib.sha256(content).hexdigest() for debit, content in answers}
    spent = [b.spent for b in overview.budgets]
    full = _FULL * _COST.units
    # All rounds but the last were left because a debit was refused.
    wrong = sum(s != full for s in spent[:-1]) + sum(s > full for s in spent[-1:])
    return Outcome(
        kills=kills,
        seconds=seconds,
        debits=overview.debits,
        released=len(released),
        burned=overview.debits - len(released),
        lost=sum(stored.get(int(debit)) != digest for debit, digest in released),
        overspent=wrong + (sum(spent) != overview.debits * _COST.units),
        findings=tuple(f.say() for f in verdict.findings),
    )


def _dice(seed: int) -> Iterator[float]:
    """Yield numbers in [0, 1) for victims and moments; noise is made elsewhere."""
    for i in count():
        word = hashlib.sha256(f"{seed} {i}".encode()).digest()[:6]
        yield int.from_bytes(word) / 2**48


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when nothing was lost."""
    parser = argparse.ArgumentParser(
        prog="python -m sfumato.testing.crash", description=__doc__
    )
    parser.add_argument("--kills", type=int, default=150)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="on the disk to try; default a temporary one")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        outcome = run(
            Path(folder),
            kills=asked.kills,
            processes=asked.processes,
            seed=asked.seed,
        )
    sys.stdout.write(f"{outcome}\n")
    return 0 if outcome.sound else 1


if __name__ == "__main__":
    sys.exit(main())
