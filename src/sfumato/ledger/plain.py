"""The usual debit, written out in one piece: one budget, no key, nobody else about.

What a debit costs is mostly waiting: each function, table and object that it touches
after a wait for the disk comes from far away in memory. The general way, by `Order.quick`,
`Standings.change`, `Running.append` and `Record.bytes`, touches some hundred of them, this
one few: a tenth of the whole time is saved. Both write the same bytes, which a test holds
them to; and what is not plain is left to the general way before anything is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quote
from typing import Any
from zlib import crc32

from sfumato.ledger.chain import Tail
from sfumato.ledger.debits import Order, Paid
from sfumato.ledger.log import LAST, Log, Record, start
from sfumato.ledger.running import Running
from sfumato.ledger.transaction import now
from sfumato.ledger.waiting import Ticket

__all__ = ["is_plain", "write_plainly"]

_EMPTY = sha256()  # to copy it takes less time than to make one
_quickly = tuple.__new__  # of a named tuple: in a third of the time


def is_plain(job: Any) -> bool:
    """Return whether a job is a debit without key, limits and blocks."""
    plain = type(job) is Order and job.request is None
    return plain and not job.limits and not job.blocks


def write_plainly(running: Running, batch: Sequence[Ticket[Any]], log: Log) -> int:
    """Write a record for each debit at the beginning of a batch that is plain and fits.

    The log's turn is held, and the ledger is as this process left it.

    Args:
        running: The ledger; where this fails it may know what the log does not.
        batch: Requests, of which the first is plain.
        log: The open log.

    Returns:
        How many were written; they are not yet durable.

    Raises:
        OSError: The log cannot be written.
    """
    sole, time = running.budgets.sole, now()
    if sole is None:
        return 0
    running.fill()
    place, head, debits = running.tail
    spent, delta, whole, delta_whole = (
        sole.spent,
        sole.delta,
        sole.whole,
        sole.delta_whole,
    )
    at = stop = running.at
    written: list[bytes] = []
    for ticket in batch:
        order: Any = ticket.job
        if written and not is_plain(order):
            break
        dataset, (measure, units, delta_units), plan, _, _, _, descriptor = order
        fits = spent + units <= sole.cap and delta + delta_units <= sole.delta_cap
        if not fits or dataset != sole.top_of or measure != sole.measure:
            break
        body = (
            f'{{"blocks":[],"dataset":{_quote(dataset)},"debits":{debits + 1},'
            f'"delta_spent":{delta + delta_units},"delta_units":{delta_units},'
            f'"descriptor":{_quote(descriptor)},"kind":"debit","limits":[],'
            f'"measure":"{measure}","place":{place + 1},"plan":{_quote(plan)},'
            f'"previous":"{head}","request":null,"spent":{spent + units},'
            f'"time":"{time}","units":{units}}}'
        )
        digest = _EMPTY.copy()
        digest.update(body.encode("ascii"))
        following = digest.hexdigest()
        effect = (
            f"{sole.id}:{spent + units}:{delta + delta_units}"
            f":{whole + units}:{delta_whole + delta_units}"
        )
        rest = (
            f" {place + 1} {debits + 1} {following} {effect} {len(body)} -1\n{body}"
        ).encode("ascii")
        record = f"{crc32(rest):08x}".encode("ascii") + rest
        if stop + len(record) > LAST:
            break
        at, stop = stop, stop + len(record)
        place, debits, head = place + 1, debits + 1, following
        spent, delta = spent + units, delta + delta_units
        whole, delta_whole = whole + units, delta_whole + delta_units
        written.append(record)
        running.records.append(
            _quickly(Record, (place, debits, head, effect, body, None))
        )
        running.headings.append(("debit", dataset, None, 0))
        ticket.value = _quickly(Paid, (debits, head, spent, delta, time))
    if not written:
        return 0
    begun = running.at
    running.wrote(stop, at)
    running.tail = _quickly(Tail, (place, head, debits))
    sole.spent, sole.delta, sole.whole, sole.delta_whole = (
        spent,
        delta,
        whole,
        delta_whole,
    )
    running.budgets.lacking[sole.id] = place
    written.append(running.end)
    data = b"".join(written)
    log.write(data, begun)
    start(log.file, begun, stop)
    return len(written) - 1
