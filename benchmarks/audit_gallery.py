"""Attack public implementations of Laplace noise and write what was certified.

Only findings that are public for years are tried: the granularity of float noise
(Mironov 2012; Haney et al. 2022). What is not installed is skipped with a printed line.

    python benchmarks/audit_gallery.py [--draws 40000] [--out docs/audit-gallery.md]
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from sfumato.audit.attacks.floats import granularity, reachability
from sfumato.audit.attacks.reconstruction import before_and_after
from sfumato.noise import rounded_laplace
from sfumato.report.rebuilt import rebuilt_svg, standalone
from sfumato.words import speaker

HEAD = """# Gallery: public Laplace noise under attack

Written by `benchmarks/audit_gallery.py` on {date} ({system}, Python {python}). Each
mechanism claims ε = 1 for two values 1 apart. A certified lower bound above 1 refutes the
claim; the risk of accusing a sound mechanism is 1e-9 per line. Both attacks are public:
Mironov (CCS 2012); Haney, Desfontaines, Hartman, Shrestha, Hay (2022).

| mechanism | version | attack | draws a side | certified ε | verdict |
|---|---|---|---|---|---|
"""


def numpy_laplace(x, n):
    return x + np.random.default_rng().laplace(0, 1, n)


def float_wrapper(x, n):
    """Two exponentials, subtracted in doubles: no logarithm of ours, yet float noise."""
    rng = np.random.default_rng()
    return x + (rng.exponential(1, n) - rng.exponential(1, n))


def diffprivlib_laplace(x, n):
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, sensitivity=1)
    return np.array([mechanism.randomise(x) for _ in range(n)])


def opendp_laplace(x, n):
    """One vector of n equal values: each coordinate has noise of its own."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.l1_distance(T=float),
    )
    return np.array(dp.m.make_laplace(*space, scale=1.0)([x] * n))


def ours(x, n):
    return rounded_laplace(np.full(n, x), 1)


PICTURE = """
## Why exact statistics are not safe

![Sixty people, and what a linear programme rebuilds of them](reconstruction.svg)

A secret column of 60 people, rebuilt from 240 sums over random subsets by the linear
programme of Dinur and Nissim (2003) in the form of Dwork, McSherry and Talwar (2007): from
exact sums, from sums rounded to multiples of 3, and from the same sums released by sfumato
for ε = 1 in all. A filled square is a person with the disease; a cross marks a wrong guess. Drawn
afresh by `sfumato.audit.attacks.before_and_after`; every page of `sfumato audit` has one."""

MECHANISMS = [  # the last number: the share of the draws, for what is slow to draw
    ("numpy `Generator.laplace`", "numpy", numpy_laplace, 1),
    ("numpy, as few draws as OpenDP", "numpy", numpy_laplace, 13),
    ("difference of two float exponentials", "numpy", float_wrapper, 1),
    ("diffprivlib `Laplace`", "diffprivlib", diffprivlib_laplace, 1),
    ("OpenDP `make_laplace`", "opendp", opendp_laplace, 13),
    ("sfumato `laplace`", "sfumato", ours, 1),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=40_000)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    head = HEAD.format(
        date=datetime.now(UTC).date().isoformat(),
        system=platform.system(),
        python=platform.python_version(),
    )
    lines = [head.rstrip()]
    for name, package, sampler, part in MECHANISMS:
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed: skipped")
            continue
        mechanism, draws = cache(sampler), asked.draws // part
        for attack, found in (
            ("granularity", granularity(mechanism, claimed=1, draws=draws)),
            ("reachability", reachability(mechanism, scale=1, claimed=1, draws=draws)),
        ):  # fmt: skip
            verdict = "**refuted**" if found.violated else "not refuted"
            lines.append(
                f"| {name} | {package} {_version(package)} | {attack} | {found.draws} "
                f"| {found.lower:.2f} | {verdict} |"
            )
            print(lines[-1], flush=True)
    lines += [PICTURE]
    if asked.out:
        svg = rebuilt_svg(before_and_after(), speaker("en"))
        asked.out.with_name("reconstruction.svg").write_text(
            standalone(svg) + "\n", encoding="utf-8"
        )
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _version(package):
    if package == "sfumato":
        from sfumato import __version__

        return __version__
    return version(package)


if __name__ == "__main__":
    main()
