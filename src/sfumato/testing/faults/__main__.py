"""Plant every fault and print the table; exit code 1 if one escapes."""

from __future__ import annotations

import sys
from time import perf_counter

from sfumato.testing.faults import all_faults


def _main() -> int:
    escaped, lines = 0, 0
    for fault in all_faults():
        start = perf_counter()
        caught = fault.hunt()
        escaped, lines = escaped + (not caught.violated), lines + 1
        by = fault.by if caught.violated else "ESCAPED"
        cost = f"{caught.cost}, {perf_counter() - start:.1f} s"
        sys.stdout.write(f"{fault.name:44} {by:27} {cost}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{lines - escaped} of {lines} faults caught\n")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(_main())
