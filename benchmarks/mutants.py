"""Change one operator, number or statement at a time, and see whether a test notices.

A sample of all such mutants of noise/, account/, plan/ and ledger/ is drawn with a fixed
seed (a longer run extends the sample of a shorter one). Each is tried in a copy of the
tree by the tests that run its line, the quick ones first, until one fails or a limit of
time is reached. What survives is tried once more by the tests that are named for it
(``aim``), and is then either explained or a gap.

    python benchmarks/mutants.py map    --work DIR     # which test runs which line, once
    python benchmarks/mutants.py run    --work DIR --count 300
    python benchmarks/mutants.py aim    --work DIR --file plan/expect.py --tests tests/plan
    python benchmarks/mutants.py report --work DIR

``DIR`` keeps the copy, the map and the verdicts, so that a run can be stopped and taken up
again. A mutant is dead when a test fails, or when the tests take three times as long.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("noise", "account", "plan", "ledger")
QUICK = [f"tests/{room}" for room in (*ROOMS, "attacks", "oracle", "arrays")] + [
    f"src/sfumato/{room}" for room in ROOMS
]
OUT = ["tests/oracle/test_spark.py", "tests/oracle/test_postgres.py"]
SEED = 5
_CALM = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what was loaded before
FLIP = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil",
    "ceil": "floor",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the text between two offsets is replaced."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def key(self) -> str:
        return f"{self.file}:{self.line}:{self.start}:{self.new}"


class Finder(ast.NodeVisitor):
    """Lists the mutants of a file; texts, types and names are left alone."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.found = file, text, []
        self.starts = [0]
        for line in text.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.raw = text.encode()
        self.visit(ast.parse(text))

    def add(self, node: ast.AST, new: str) -> None:
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        old = self.raw[start:end].decode()
        self.found.append(Mutant(self.file, node.lineno, start, end, old, new))

    def remade(self, node: ast.AST, **changed: object) -> None:
        fields = {name: getattr(node, name) for name in node._fields} | changed
        self.add(node, f"({ast.unparse(type(node)(**fields))})")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if any(ast.unparse(d).endswith("overload") for d in node.decorator_list):
            return
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        for one in node.body:
            self.visit(one)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not ast.unparse(node.targets[0]).startswith("__"):
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add(node, "pass")
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        self.add(node.test, f"(not ({ast.unparse(node.test)}))")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.add(node.test, f"(not ({ast.unparse(node.test)}))")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for i, op in enumerate(node.ops):
            ops = [*node.ops[:i], FLIP[type(op)](), *node.ops[i + 1 :]]
            self.remade(node, ops=ops)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = (node.left, node.right)
        if type(node.op) in FLIP and not any(
            isinstance(t, ast.JoinedStr) for t in texts
        ):
            self.remade(node, op=FLIP[type(node.op)]())
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.remade(node, op=FLIP[type(node.op)]())
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in FLIP:
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.RShift: ">>",
                    ast.LShift: "<<", ast.BitOr: "|", ast.BitAnd: "&"}  # fmt: skip
            new = sign.get(FLIP[type(node.op)])
            target, value = ast.unparse(node.target), ast.unparse(node.value)
            if new:
                self.add(node, f"{target} {new}= {value}")
        self.visit(node.value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self.add(node, f"({ast.unparse(node.operand)})")
        if not isinstance(node.operand, ast.Constant):
            self.visit(node.operand)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, str(node.value + 1))
            if node.value > 0:
                self.add(node, str(node.value - 1))

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name == "N_" or name.endswith("Error"):
            return
        if name in NAMES:
            self.add(node.func, NAMES[name])
        self.visit(node.func)
        for one in [*node.args, *(k.value for k in node.keywords)]:
            self.visit(one)


def mutants(root: Path) -> list[Mutant]:
    """Return all mutants, in the order of a fixed shuffle."""
    found = []
    for room in ROOMS:
        for path in sorted((root / "src" / "sfumato" / room).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            found += Finder(name, path.read_text(encoding="utf-8")).found
    random.Random(SEED).shuffle(found)
    return found


def environment(tree: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(tree / "src"), "CI": "1", "PYTHONHASHSEED": "0",
    }  # fmt: skip


def make_map(work: Path) -> None:
    """Copy the tree and learn which test runs which line, and how long it takes."""
    tree = work / "tree"
    tree.mkdir(parents=True)
    for name in ("src", "tests", "docs", "pyproject.toml", "README.md", "uv.lock"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    shutil.copytree(ROOT / "src", work / "clean" / "src")
    rooms = ",".join(f"{tree}/src/sfumato/{room}/*" for room in ROOMS)
    (work / "coverage.ini").write_text(
        f"[run]\ndynamic_context = test_function\ndata_file = {work}/lines.db\n"
        f"include = {rooms}\n"
    )
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={work}/coverage.ini",
               "-m", "pytest", "-q", "--durations=0", "--durations-min=0.0",
               f"--junitxml={work}/tests.xml", *QUICK,
               *(f"--ignore={name}" for name in OUT)]  # fmt: skip
    subprocess.run(command, cwd=tree, env=environment(tree), check=True)


class Map:
    """Which tests run a line, the quick ones first."""

    def __init__(self, work: Path) -> None:
        from xml.etree import ElementTree as Tree

        self.tree, self.seconds, self.ids = work / "tree", {}, {}
        for case in Tree.parse(work / "tests.xml").iter("testcase"):
            where, name = case.get("classname", ""), case.get("name", "")
            bare = name.split("[")[0]
            short = where if bare.startswith("sfumato.") else f"{where}.{bare}"
            seconds = float(case.get("time", 0))
            self.seconds[short] = self.seconds.get(short, 0.0) + seconds
        base = sqlite3.connect(work / "lines.db")
        self.contexts = dict(base.execute("select id, context from context"))
        self.files = {
            Path(path).relative_to(self.tree).as_posix(): i
            for i, path in base.execute("select id, path from file")
        }
        self.base = base

    def tests(self, mutant: Mutant, most: float) -> tuple[list[str], float]:
        """Return the files::functions that run the line, and their time."""
        from coverage.numbits import numbits_to_nums

        wanted = self.files.get(mutant.file)
        by_line, by_file = set(), set()
        rows = self.base.execute(
            "select context_id, numbits from line_bits where file_id = ?", (wanted,)
        )
        last = mutant.line + mutant.old.count("\n")
        for context, bits in rows:
            name = self.contexts[context]
            by_file.add(name)
            if any(mutant.line <= n <= last for n in numbits_to_nums(bits)):
                by_line.add(name)
        names = by_file if "" in by_line or not by_line else by_line
        timed = sorted((self.time(n), n) for n in names if n)
        picked, total = [], 0.0
        for seconds, name in timed:
            if total + seconds > most and picked:
                break
            place = self.place(name)
            if place and place not in picked:
                picked.append(place)
                total += seconds
        return picked, total

    def time(self, name: str) -> float:
        return self.seconds.get(name, self.seconds.get(name.rpartition(".")[0], 0.5))

    def place(self, name: str) -> str | None:
        """Return pytest's address of a context such as tests.noise.test_x.test_y."""
        parts = name.split(".")
        for i in range(len(parts), 0, -1):
            for stem in (Path(*parts[:i]), Path("src", *parts[:i])):
                file = self.tree / f"{stem}.py"
                if file.exists():
                    rest = parts[i:]
                    return "::".join([f"{stem}.py".replace("\\", "/"), *rest])
        return None


def preload() -> None:
    """Load the libraries once; each mutant's tests run in a fork."""
    import contextlib
    import importlib

    for name in ("pytest", "_pytest.doctest", "numpy", "scipy.stats", "hypothesis",
                 "duckdb", "pandas", "pydantic", "cryptography.hazmat.primitives.ciphers",
                 "click", "pyarrow", "hypothesis.strategies", "mpmath", "sqlglot"):  # fmt: skip
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()


def run_tests(tree: Path, tests: list[str], limit: float) -> str:
    """Run tests in a fork: "killed", "survived", "late" or "broken"."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(tree)
        os.environ.update(environment(tree), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(tree / "src"))
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        import pytest

        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *_CALM, *tests])
        os._exit(int(code))
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return {0: "survived", 5: "broken", 4: "broken"}.get(code, "killed")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


def try_one(tree: Path, mutant: Mutant, tests: list[str], limit: float) -> str:
    """Write the mutant, run the tests, put the file back."""
    path, clean = tree / mutant.file, tree.parent / "clean" / mutant.file
    raw, stat = clean.read_bytes(), clean.stat()
    cached = list((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"))
    for file in cached:
        file.unlink()
    changed = raw[: mutant.start] + mutant.new.encode() + raw[mutant.end :]
    try:
        compile(changed, mutant.file, "exec")
        path.write_bytes(changed)
        return run_tests(tree, tests, limit)
    except SyntaxError:
        return "broken"
    finally:
        path.write_bytes(raw)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def verdicts(work: Path) -> dict[str, dict]:
    """Return the latest verdict on each mutant."""
    file = work / "verdicts.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return {v["key"]: v for v in map(json.loads, lines)}


def keep(work: Path, mutant: Mutant, verdict: str, **facts: object) -> None:
    line = {"key": mutant.key, "verdict": verdict, **asdict(mutant), **facts}
    with (work / "verdicts.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def run(work: Path, count: int, seconds: float) -> None:
    """Try the first mutants of the sample that have no verdict yet."""
    preload()
    known, lines = verdicts(work), Map(work)
    for mutant in mutants(work / "tree")[:count]:
        if mutant.key in known:
            continue
        tests, usual = lines.tests(mutant, seconds)
        if (
            tests and not known
        ):  # an unchanged program must survive, or nothing is proved
            same = Mutant(mutant.file, mutant.line, 0, 0, "", "")
            assert try_one(lines.tree, same, tests, 60 + 10 * usual) == "survived"
        known[mutant.key] = {}
        start = time.monotonic()
        limit = 30 + 3 * usual
        found = try_one(lines.tree, mutant, tests, limit) if tests else "no test"
        took = round(time.monotonic() - start, 1)
        keep(work, mutant, found, tests=len(tests), took=took)


def aim(work: Path, part: str, tests: list[str]) -> None:
    """Try the survivors of some files by the tests that are named."""
    preload()
    lines = Map(work)
    for verdict in list(verdicts(work).values()):
        if part in verdict["file"] and is_alive(verdict):
            mutant = Mutant(*(verdict[f] for f in Mutant.__dataclass_fields__))
            found = try_one(lines.tree, mutant, tests, 900)
            keep(work, mutant, found, tests=len(tests), took=0)


def is_alive(verdict: dict) -> bool:
    """Tell whether no test noticed a mutant."""
    return verdict["verdict"] not in {"killed", "late"}


def report(work: Path) -> Iterator[str]:
    """Say the score of each room, and what survived."""
    found = verdicts(work)
    for room in ROOMS:
        mine = [v for v in found.values() if f"/{room}/" in v["file"]]
        dead = [v for v in mine if not is_alive(v)]
        yield f"{room}: {len(dead)} of {len(mine)} killed"
    for v in sorted(found.values(), key=lambda v: (v["file"], v["line"])):
        if is_alive(v):
            yield (
                f"{v['file']}:{v['line']}: {v['old']!r} -> {v['new']!r}: "
                f"{v['verdict']} ({v['tests']} tests)"
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=["count", "map", "run", "aim", "report"])
    parser.add_argument("--work", type=Path, default=Path("build/mutants"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--file", default="", help="aim at survivors of these files")
    parser.add_argument("--tests", nargs="*", default=QUICK)
    asked = parser.parse_args()
    work = asked.work.resolve()
    if asked.job == "count":
        found = mutants(ROOT)
        for room in ROOMS:
            print(room, sum(f"/{room}/" in m.file for m in found))
    elif asked.job == "map":
        make_map(work)
    elif asked.job == "run":
        run(work, asked.count, asked.seconds)
    elif asked.job == "aim":
        aim(work, asked.file, asked.tests)
    else:
        print("\n".join(report(work)))


if __name__ == "__main__":
    main()
