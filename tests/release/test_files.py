"""Files appear whole, by the name of their ending, readable where they should be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sfumato.errors import ArgumentError
from sfumato.release import Release, compare, files, from_json


def test_save_json(release: Release, tmp_path: Path) -> None:
    """What was saved reads back."""
    release.save(tmp_path / "release.json")

    assert from_json((tmp_path / "release.json").read_bytes()) == release


def test_save_csv_opens_in_excel(release: Release, tmp_path: Path) -> None:
    """A CSV file starts with the mark by which Excel knows UTF-8."""
    release.save(tmp_path / "figures.CSV")

    data = (tmp_path / "figures.CSV").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfname,")
    assert data.decode("utf-8-sig") == release.to_csv()


@pytest.mark.parametrize("name", ["release.txt", "release", "release.json.bak"])
def test_other_endings_are_refused(release: Release, tmp_path: Path, name: str) -> None:
    """An unknown ending is refused and the known ones are named."""
    with pytest.raises(ArgumentError, match=r"\.json, \.csv, \.html"):
        release.save(tmp_path / name)

    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk fails, the old file stands and no draft stays."""
    target = tmp_path / "release.json"
    target.write_text("old")

    def fail(_: int) -> None:
        raise OSError

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError):
        release.save(target)

    assert [p.name for p in tmp_path.iterdir()] == ["release.json"]
    assert target.read_text() == "old"


def test_permissions(release: Release, tmp_path: Path) -> None:
    """A release may be read by whom the mask allows, an owner's page by its owner."""
    before = os.umask(0o022)
    try:
        release.save(tmp_path / "a.json")
        files.write(tmp_path / "b.html", "x", mode=0o600)
    finally:
        os.umask(before)

    modes = [stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("a.json", "b.html")]
    assert modes == [0o644, 0o600]


def test_lone_surrogates_are_written(tmp_path: Path) -> None:
    """A text that UTF-8 cannot hold does not lose a paid release."""
    files.write(tmp_path / "x.json", '"\udc80"')

    assert (tmp_path / "x.json").read_text() == '"\\udc80"'


def test_owner_pages_are_html_only(release: Release, tmp_path: Path) -> None:
    """A comparison has no other form than its page."""
    comparison = compare(release, [1.0] * len(release))

    with pytest.raises(ArgumentError, match=r"one of: \.html"):
        comparison.save(tmp_path / "owner.json")


def test_a_folder_that_is_missing_is_named(release: Release, tmp_path: Path) -> None:
    """And not the draft that would have been written there."""
    with pytest.raises(ArgumentError, match=r"the folder .*nowhere does not exist"):
        release.save(tmp_path / "nowhere" / "r.csv")
