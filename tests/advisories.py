"""Compare the locked packages with known advisories, online or from a file.

    python tests/advisories.py                  # asks PyPI's advisories, by pip-audit
    python tests/advisories.py --osv all.zip    # offline: the dump of osv.dev for PyPI

The dump is one file (https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip) that
can be fetched elsewhere and carried over. Exit code 0: none is known; 1: some are; 3: there
were no advisories to compare with, and the last line says so.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
NONE, FOUND, UNKNOWN = 0, 1, 3


def locked(path: Path) -> dict[str, set[str]]:
    """Return the versions of each package of a lock that comes from a registry.

    There can be several: one for each version of Python.
    """
    lock = tomllib.loads(path.read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for package in lock["package"]:
        if "registry" in package["source"]:
            found.setdefault(plain(package["name"]), set()).add(package["version"])
    return found


def plain(name: str) -> str:
    """Return a package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def offline(
    packages: dict[str, set[str]], dump: Path
) -> Iterator[tuple[str, str, str]]:
    """Yield package, version and advisory, from a dump of osv.dev."""
    with zipfile.ZipFile(dump) as held:
        for name in held.namelist():
            advisory = json.loads(held.read(name))
            if "withdrawn" in advisory:
                continue
            for one in advisory.get("affected", ()):
                package = one.get("package", {})
                if package.get("ecosystem") != "PyPI":
                    continue
                for version in packages.get(plain(package.get("name", "")), ()):
                    if affects(one, version):
                        yield package["name"], version, advisory["id"]


def affects(one: dict, version: str) -> bool:
    """Tell whether a version is listed, or lies in a range, of an advisory."""
    if version in one.get("versions", ()):
        return True
    inside = False
    for span in one.get("ranges", ()):
        if span.get("type") == "ECOSYSTEM":
            try:
                inside |= within(span["events"], Version(version))
            except InvalidVersion:
                inside = True  # it cannot be compared: somebody shall look
    return inside


def within(events: list[dict[str, str]], version: Version) -> bool:
    """Tell whether a version lies between the events of a range."""
    inside = False
    for event in events:  # in order, as the format says
        ((kind, at),) = event.items()
        if kind == "introduced":
            inside |= at == "0" or version >= Version(at)
        elif (kind == "fixed" and version >= Version(at)) or (
            kind == "last_affected" and version > Version(at)
        ):
            inside = False
    return inside


def online(packages: dict[str, set[str]]) -> list[tuple[str, str, str]] | None:
    """Return what pip-audit finds; none where it cannot reach any advisories.

    It takes one version of a package at a time, so that several lists are asked.
    """
    most = max(map(len, packages.values()), default=0)
    found = []
    for place in range(most):
        listed = {n: sorted(v)[place] for n, v in packages.items() if len(v) > place}
        one = _asked("".join(f"{n}=={v}\n" for n, v in listed.items()))
        if one is None:
            return None
        found += one
    return found


def _asked(listed: str) -> list[tuple[str, str, str]] | None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text(listed)
        command = [str(Path(sys.executable).parent / "pip-audit"), "-r", str(file),
                   "--no-deps", "--disable-pip", "--progress-spinner", "off",
                   "-f", "json", "--timeout", "15"]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            told = json.loads(done.stdout)["dependencies"]
        except (OSError, ValueError, KeyError):
            return None
    return [
        (d["name"], d["version"], v["id"]) for d in told for v in d.get("vulns", ())
    ]


def main(words: list[str] | None = None) -> int:
    """Read the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--osv", type=Path, help="a dump of osv.dev, to compare offline"
    )
    parser.add_argument("--lock", type=Path, default=ROOT / "uv.lock")
    asked = parser.parse_args(words)
    packages = locked(asked.lock)
    if asked.osv is not None:
        found = sorted(set(offline(packages, asked.osv)))
    else:
        found = online(packages)
    if found is None:
        print("advisories: NOT CHECKED: none can be reached; give a dump with --osv")
        return UNKNOWN
    for name, version, advisory in found:
        print(f"{name} {version}: {advisory}")
    print(f"advisories: {len(packages)} packages, {len(found)} advisories")
    return FOUND if found else NONE


if __name__ == "__main__":
    sys.exit(main())
