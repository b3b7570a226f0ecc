"""CPU time of noise against numpy's insecure Laplace, in one run on one thread.

Ratios below 1 are faster than ``numpy.random.Generator.laplace`` at the same number of
draws; rounds of both alternate, and the least of several counts. OpenDP and diffprivlib
are called as their users call them, on at most 20000 draws, and compared per draw; what
is not installed is skipped with a printed line.

    python benchmarks/noise.py --out noise.md
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from sfumato import noise

COUNTS = (1_000, 100_000, 1_000_000)
SCALES = (0.5, 10.0, 100.0, 1e4, 2.0**40)
ROUNDS = 5
SHORTEST = 0.02
RIVAL_DRAWS = 20_000

Draw = Callable[[], object]


def cpu(draw: Draw, repeats: int) -> float:
    """Return the CPU time of one call, the mean of several."""
    start = time.process_time()
    for _ in range(repeats):
        draw()
    return (time.process_time() - start) / repeats


def least(draw: Draw, other: Draw) -> tuple[float, float]:
    """Return the least CPU time of each of two calls, measured in turns."""
    draw(), other()
    repeats = max(1, int(SHORTEST / max(cpu(other, 1), 1e-7)))
    rounds = [(cpu(draw, repeats), cpu(other, repeats)) for _ in range(ROUNDS)]
    ours, theirs = zip(*rounds, strict=True)
    return min(ours), min(theirs)


def laws(scale: float, count: int) -> dict[str, Draw]:
    """Return our vector samplers at one scale (Gaussians: sigma = scale)."""
    values, scales = np.zeros(count), np.full(count, scale)
    exact = Fraction(scale)
    return {
        "discrete Laplace": lambda: noise.discrete_laplace(exact, count),
        "discrete Laplace, a scale per element": lambda: noise.discrete_laplace(scales),
        "discrete Gaussian": lambda: noise.discrete_gaussian(exact**2, count),
        "rounded Laplace": lambda: noise.rounded_laplace(values, exact),
        "rounded Gaussian": lambda: noise.rounded_gaussian(values, exact),
    }


def rivals(scale: float) -> dict[str, tuple[Draw, int]]:
    """Return what is installed: a call and its number of draws."""
    found: dict[str, tuple[Draw, int]] = {}
    for name, make in (("opendp", opendp), ("diffprivlib", diffprivlib)):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        found |= make(scale)
    return found


def opendp(scale: float) -> dict[str, tuple[Draw, int]]:
    """Vector measurements of OpenDP, on integers and floats."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    floats = (
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.l1_distance(T=float),
    )
    discrete = dp.m.make_laplace(*integers, scale=scale)
    real = dp.m.make_laplace(*floats, scale=scale)
    zeros, reals = [0] * RIVAL_DRAWS, [0.0] * RIVAL_DRAWS
    return {
        "OpenDP Laplace, integers": (lambda: discrete(zeros), RIVAL_DRAWS),
        "OpenDP Laplace, floats": (lambda: real(reals), RIVAL_DRAWS),
    }


def diffprivlib(scale: float) -> dict[str, tuple[Draw, int]]:
    """Mechanisms of diffprivlib, one call a draw: it has no vectors."""
    from diffprivlib.mechanisms import Geometric, Laplace

    real = Laplace(epsilon=1 / scale, sensitivity=1)
    discrete = Geometric(epsilon=1 / scale, sensitivity=1)
    draws = RIVAL_DRAWS // 4
    return {
        "diffprivlib Geometric": (
            lambda: [discrete.randomise(0) for _ in range(draws)],
            draws,
        ),
        "diffprivlib Laplace": (
            lambda: [real.randomise(0.0) for _ in range(draws)],
            draws,
        ),
    }


def vector_rows(rng: np.random.Generator) -> list[str]:
    """Return one table row for each law and number of draws."""
    rows = []
    for count in COUNTS:
        table: dict[str, list[str]] = {}
        for scale in SCALES:
            for name, draw in laws(scale, count).items():
                ours, theirs = least(
                    draw, lambda s=scale, n=count: rng.laplace(0.0, s, n)
                )
                cell = f"{ours / theirs:.2f} ({ours / count * 1e9:.1f} ns)"
                table.setdefault(name, []).append(cell)
        rows += [
            f"| {count:,} | {name} | {' | '.join(c)} |" for name, c in table.items()
        ]
    return rows


def rival_rows(rng: np.random.Generator) -> list[str]:
    """Return one table row for each measurement of another library."""
    table: dict[str, list[str]] = {}
    for scale in SCALES[:4]:
        for name, (draw, draws) in rivals(scale).items():
            base = cpu(lambda s=scale, n=draws: rng.laplace(0.0, s, n), 20)
            took = min(cpu(draw, 1) for _ in range(2))
            cell = f"{took / base:.0f} ({took / draws * 1e9:.0f} ns)"
            table.setdefault(name, []).append(cell)
    return [f"| per draw | {name} | {' | '.join(c)} | |" for name, c in table.items()]


def single_rows() -> list[str]:
    """Return the time of one draw through the front door, in microseconds."""
    draws: dict[str, Draw] = {
        "discrete Laplace, scale 10": lambda: noise.discrete_laplace(Fraction(10)),
        "discrete Laplace, scale 2**40": lambda: noise.discrete_laplace(2**40),
        "discrete Gaussian, sigma 10": lambda: noise.discrete_gaussian(100),
        "rounded Laplace, scale 1/3": lambda: noise.rounded_laplace(
            1.5, Fraction(1, 3)
        ),
        "rounded Gaussian, sigma 2": lambda: noise.rounded_gaussian(1.5, 2),
        "permute-and-flip, 3 scores": lambda: noise.permute_and_flip([0, 1, 2], 1),
    }
    return [
        f"| {name} | {min(cpu(draw, 5000) for _ in range(3)) * 1e6:.1f} us |"
        for name, draw in draws.items()
    ]


def report() -> str:
    """Measure everything and return it as Markdown."""
    rng = np.random.default_rng()
    heads = " | ".join(f"{s:g}" for s in SCALES)
    line = "|---" * (2 + len(SCALES)) + "|"
    missing = [n for n in ("opendp", "diffprivlib") if not importlib.util.find_spec(n)]
    for name in missing:
        print(f"{name} is not installed: skipped")
    return "\n".join(
        [
            "# Noise: CPU time relative to numpy's Laplace (CPU time of one draw)",
            "",
            f"numpy {np.__version__}, {platform.machine()}, one thread.",
            *(f"{name} was not installed." for name in missing),
            "",
            f"| draws | law \\ scale | {heads} |",
            line,
            *vector_rows(rng),
            *rival_rows(rng),
            "",
            "| one draw, front door | CPU time |",
            "|---|---|",
            *single_rows(),
            "",
        ]
    )


def main() -> None:
    """Print the report and, if asked, write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    arguments = parser.parse_args()
    text = report()
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
