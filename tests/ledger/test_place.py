"""A ledger lies on a local disk, under one name, written by few."""

import os
import socket
import tempfile
from pathlib import Path

import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import place, show


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """Pretend that the folder of the test lies on a given file system."""

    def pretend(kind, point=None):
        table = tmp_path.parent / "mounts"
        here = str(point or tmp_path.resolve()).replace(" ", r"\040")
        table.write_text(f"/dev/x / ext4 rw 0 0\nserver:/x {here} {kind} rw 0 0\n")
        monkeypatch.setattr(place, "_MOUNTS", table)

    return pretend


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "lustre",
                                  "fuse.sshfs", "fuse.rclone", "fuse.glusterfs",
                                  "virtiofs", "fakeowner", "fuse.grpcfuse", "fuse.osxfs",
                                  "drvfs", "prl_fs", "fuse", "fuse.of-tomorrow"])  # fmt: skip
def test_network_and_shared_file_systems_are_refused(book, path, mounts, kind):
    """File locks do not hold there; nothing is created."""
    mounts(kind)

    with pytest.raises(LedgerError, match=rf"shared file system \({kind}\)"):
        book(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "overlay", "tmpfs", "fuseblk", "zfs",
                                  "fuse.fuse-overlayfs", "fuse.gocryptfs"])  # fmt: skip
def test_local_file_systems_are_taken(book, path, mounts, kind):
    """Disks of this machine."""
    mounts(kind)

    assert book(path).left == Epsilon("1")


def test_the_innermost_mount_counts(path, mounts):
    """A folder whose name begins like a mount point does not lie on it."""
    mounts("nfs", path.parent / "net")
    (path.parent / "network").mkdir()

    assert place.filesystem(path.parent / "network") == "ext4"
    assert place.filesystem(Path("/")) == "ext4"


def test_mount_points_with_blanks_are_understood(tmp_path, mounts):
    """The system writes blanks in octal."""
    folder = tmp_path / "my data"
    folder.mkdir()
    mounts("nfs", folder)

    assert place.filesystem(folder) == "nfs"


def test_no_mount_table_means_unknown(path, book, monkeypatch, tmp_path):
    """Elsewhere than on Linux nothing is known, and nothing refused."""
    monkeypatch.setattr(place, "_MOUNTS", tmp_path / "none")

    assert place.filesystem(tmp_path) is None
    assert book(path).left == Epsilon("1")


def test_a_second_name_is_refused(book, path):
    """The journal is found by name: two hard links would be two journals."""
    book(path)
    os.link(path, path.with_name("b.ledger"))

    for name in ("a.ledger", "b.ledger"):
        with pytest.raises(LedgerError, match="2 names"):
            place.check_place(path.with_name(name))


def test_a_symbolic_link_is_the_same_ledger(book, path):
    """Links are followed first, so there is one journal and one anchor."""
    link = path.with_name("link.ledger")
    book(path).debit(Epsilon("0.6"), plan="p")
    link.symlink_to(path)

    with pytest.raises(BudgetExceededError):
        book(link).debit(Epsilon("0.6"), plan="p")
    assert not link.with_name("link.ledger.anchor").exists()


def test_a_file_for_everybodys_pen_is_refused(book, path):
    """Mode o+w lets anybody refund."""
    book(path)
    path.chmod(0o666)

    with pytest.raises(LedgerError, match="everybody may write"):
        place.check_place(path)


def test_a_folder_is_no_ledger(book, tmp_path):
    """A directory is named as what it is."""
    with pytest.raises(LedgerError, match="is not a file"):
        book(tmp_path)


@pytest.fixture(params=["folder", "pipe", "socket", "device"])
def no_file(request, tmp_path, monkeypatch):
    """What has a path and is no file."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("POSIX only")
    path = tmp_path / "x"
    match request.param:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            monkeypatch.chdir(tmp_path)  # the whole path may be too long for a socket
            with socket.socket(socket.AF_UNIX) as s:
                s.bind("x")
        case _:
            path = Path(os.devnull)
    return path


def test_what_is_no_file_is_no_ledger_and_no_anchor(book, path, no_file):
    """It is told at once, of a new and of a known ledger: a pipe would hang."""
    with pytest.raises(LedgerError, match="is not a file"):
        book(no_file)
    with pytest.raises(LedgerError, match="is not a file"):
        book(path, anchor=no_file)
    book(path.with_name("b.ledger"), anchor=path.with_name("b.anchor"))
    with pytest.raises(LedgerError, match="is not a file"):
        book(path.with_name("b.ledger"), anchor=no_file)


def test_a_path_that_leads_nowhere_is_refused_as_a_ledger(book, path):
    """A link to itself, and a text that is no path."""
    path.symlink_to(path)
    for wrong in (path, "a\0b"):
        with pytest.raises(LedgerError, match="cannot be followed"):
            book(wrong)
        with pytest.raises(LedgerError, match="cannot be followed"):
            book(path.with_name("b.ledger"), anchor=wrong)


def as_nobody(work):
    """Do it as a user who may not write what others own; return what was refused."""
    read, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            work()
            os.write(told, b"done")
        except BaseException as error:  # noqa: BLE001
            os.write(told, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(told)
    with os.fdopen(read) as pipe:
        return pipe.read()


@pytest.fixture
def open_folder():
    """Return a folder that every user can reach; pytest's own are for their maker."""
    with tempfile.TemporaryDirectory(prefix="sfumato-ledger-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", ["a.ledger", "a.ledger-log", "a.ledger.anchor", "."])
def test_what_may_not_be_written_is_refused(book, open_folder, name):
    """A ledger, its log, its anchor or its folder: nothing is spent, no journal that
    nobody can write stays behind, and with the rights put back it goes on."""
    path = open_folder / "a.ledger"
    spend = lambda: book(path).debit(Epsilon("0.1"), plan="p")  # noqa: E731
    assert as_nobody(spend) == "done"
    place, mode = open_folder / name, 0o777 if name == "." else 0o600
    place.chmod(0o555 if name == "." else 0o444)

    told = as_nobody(spend)
    assert told.startswith("LedgerError"), told
    assert "write" in told and name.strip(".") in told
    place.chmod(mode)
    assert as_nobody(spend) == "done"
    assert show(path).debits == 2
