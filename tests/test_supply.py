"""What the program is built from is pinned, and the build can be repeated."""

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import advisories  # noqa: E402


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


@pytest.mark.slow
def test_the_list_of_parts_names_every_locked_package(tmp_path):
    """The command of `make supply` writes CycloneDX with name, version and address."""
    out = tmp_path / "sbom.cdx.json"
    (command,) = [
        line.split()[1:]
        for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        if "cyclonedx" in line
    ]
    assert command[-2:] == ["--output-file", "sbom.cdx.json"]
    tool = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
    subprocess.run(
        [tool, *command[:-1], out], cwd=ROOT, check=True, capture_output=True
    )

    bill = json.loads(out.read_text(encoding="utf-8"))
    named = {(c["name"], c["version"]): c for c in bill["components"]}
    lock = advisories.locked(ROOT / "uv.lock")
    wanted = project("sfumato", ROOT / "uv.lock")
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert bill["metadata"]["component"]["name"] == "sfumato"
    assert all(v in lock[advisories.plain(n)] for n, v in named if n != "sfumato")
    assert wanted <= {advisories.plain(n) for n, _ in named}
    assert all(c["purl"].startswith("pkg:pypi/") for c in named.values())


def project(name, path):
    """Return the packages that a package of a lock needs itself, extras included."""
    lock = tomllib.loads(path.read_text(encoding="utf-8"))
    (one,) = [p for p in lock["package"] if p["name"] == name]
    listed = one["dependencies"] + [
        d for extra in one["optional-dependencies"].values() for d in extra
    ]
    return {advisories.plain(d["name"]) for d in listed} - {name}


def dump(path, *told):
    """Write a dump as osv.dev does: one file for each advisory."""
    with zipfile.ZipFile(path, "w") as held:
        for i, one in enumerate(told):
            held.writestr(f"{i}.json", json.dumps(one))
    return path


def about(name, events=(), versions=(), **more):
    """Return an advisory on a package."""
    affected = {
        "package": {"ecosystem": "PyPI", "name": name},
        "ranges": [{"type": "ECOSYSTEM", "events": list(events)}],
        "versions": list(versions),
    }
    return {"id": f"TEST-{name}", "affected": [affected], **more}


def test_advisories_are_compared_offline(tmp_path, capsys):
    """A locked version that is listed, or in a range, is named; others are not."""
    own, click = (
        min(advisories.locked(ROOT / "uv.lock")[name], key=Version)
        for name in ("numpy", "click")
    )
    clean = dump(
        tmp_path / "clean.zip",
        about("numpy", [{"introduced": "0"}, {"fixed": own}]),
        about("numpy", [{"introduced": "0"}, {"last_affected": "0.1"}]),
        about("numpy", [{"introduced": "999"}]),
        about("numpy", versions=[own], withdrawn="2026-01-01T00:00:00Z"),
        about("not-locked", versions=["1"]),
    )
    bad = dump(
        tmp_path / "bad.zip",
        about("NumPy", [{"introduced": "0"}]),
        about("click", versions=[click]),
    )

    assert advisories.main(["--osv", str(clean)]) == advisories.NONE
    assert "0 advisories" in capsys.readouterr().out
    assert advisories.main(["--osv", str(bad)]) == advisories.FOUND
    said = capsys.readouterr().out
    assert f"NumPy {own}: TEST-NumPy" in said and "TEST-click" in said


@pytest.mark.slow
def test_no_advisories_is_no_clean_bill(monkeypatch, capsys):
    """Without a network the check says that it did not check."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert advisories.main([]) == advisories.UNKNOWN
    assert "NOT CHECKED" in capsys.readouterr().out
