"""What the program is built from is pinned, and the build can be repeated."""

import hashlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_locked_package_has_a_hash():
    """The lock of the development environment names a SHA-256 for every file."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    fetched = [p for p in lock["package"] if "registry" in p["source"]]
    files = [f for p in fetched for f in [p.get("sdist"), *p.get("wheels", [])] if f]

    assert len(fetched) > 50
    assert all(f["hash"].startswith("sha256:") for f in files)
    assert all(f["url"].startswith("https://files.pythonhosted.org/") for f in files)
    assert {p["source"]["registry"] for p in fetched} == {"https://pypi.org/simple"}


@pytest.mark.slow
def test_the_wheel_has_the_same_bytes_twice(tmp_path):
    """Built twice from one tree, under another name of the day."""
    digests = set()
    for day in ("one", "two"):
        out = tmp_path / day
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
        subprocess.run([*map(str, command)], cwd=ROOT, check=True, capture_output=True)
        (wheel,) = out.glob("*.whl")
        digests.add(hashlib.sha256(wheel.read_bytes()).hexdigest())

    assert len(digests) == 1
