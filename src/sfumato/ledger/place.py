"""Where a ledger file may lie: a local disk, one name, nobody else's pen."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from sfumato.errors import LedgerError
from sfumato.words import N_

__all__ = [
    "Folders",
    "check_file",
    "check_is_file",
    "check_place",
    "filesystem",
    "real_path",
]

Seen: TypeAlias = "list[tuple[int, int, int]] | None"
_TICK = 100_000_000  # nanoseconds; times of change step by some milliseconds
_MOUNTS = Path("/proc/self/mounts")
# Their locks and shared memory do not reach other hosts, or do not exist. Those of what
# Docker Desktop shares with its host (fakeowner, virtiofs, grpcfuse, osxfs) do not even
# hold between two processes of one container.
_SHARED = {
    "9p", "acfs", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "cvfs", "davfs",
    "drvfs", "dvs", "fakeowner", "fhgfs", "gfs2", "glusterfs", "gpfs", "grpcfuse",
    "hostfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "osxfs", "panfs",
    "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "wekafs",
}  # fmt: skip
# Of file systems in programs most are shares and clouds, each under a name of its own
# or none; these few keep their files on a disk of this machine.
_LOCAL_FUSE = {
    "bindfs", "cryfs", "encfs", "exfat", "fuse-overlayfs", "gocryptfs", "mergerfs",
    "ntfs", "ntfs-3g", "shfs", "unionfs", "unionfs-fuse",
}  # fmt: skip


def real_path(path: str | os.PathLike[str]) -> Path:
    """Follow links: they must not make two names of one file.

    Raises:
        LedgerError: A link leads to itself, or the text is no path.
    """
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise LedgerError(
            N_("the path {path} cannot be followed to a file"),
            hint=N_("give the path of a file; a link must not lead to itself"),
            path=repr(os.fspath(path))[:200],
        ) from None


def check_place(path: Path) -> None:
    """Refuse places where a ledger cannot be kept safely.

    Raises:
        LedgerError: No folder, a shared file system, a second name (hard link), a file
            that everybody may write, or not this user. Nothing was spent and nothing
            created.
    """
    if not path.parent.is_dir():
        raise LedgerError(
            N_("the folder of the ledger {path} does not exist"),
            hint=N_("create the folder first, or correct the path"),
            path=str(path),
        )
    kind = filesystem(path.parent)
    if kind is not None and _is_shared(kind):
        raise LedgerError(
            N_(
                "the ledger {path} would lie on a network or shared file system ({kind})"
            ),
            hint=N_(
                "file locks may not hold there; use a local disk (in Docker a named "
                'volume), or a PostgreSQL ledger="postgresql://…" to share a budget '
                "between machines"
            ),
            path=str(path),
            kind=kind,
        )
    if path.exists():
        check_file(path)
    journal = path.with_name(path.name + "-wal")
    if not os.access(path.parent, os.W_OK | os.X_OK) and not journal.exists():
        raise _not_writable(path.parent)


class Folders:
    """Notices that a name in one of some folders may lead elsewhere.

    A folder's time of change is moved by every name that comes, goes or is exchanged,
    and nobody can set it. While it stands, so do the files, and one look at the folder
    saves one at each of them. A change within a tick of the clock after the last one
    would be missed, so a folder that changed lately is not relied on.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        """Begin knowing nothing."""
        self._folders = tuple(sorted({str(f) for f in folders}))
        self._relied: Seen = None
        self._last: Seen = None

    def are_same(self) -> bool:
        """Return whether nothing has changed since `rely`."""
        seen = []
        for folder in self._folders:
            s = os.stat(folder)  # noqa: PTH116  at each debit: quick
            seen.append((s.st_dev, s.st_ino, s.st_ctime_ns))
        self._last = seen
        return seen == self._relied

    def rely(self) -> None:
        """Rely on what was seen when `are_same` was asked: the files were checked."""
        limit = time.time_ns() - _TICK
        last = self._last
        calm = last is not None and all(
            changed < limit and changed % 10**9 for _, _, changed in last
        )
        self._relied = last if calm else None


def filesystem(folder: Path) -> str | None:
    """Return the type of the file system a folder lies on; none when unknown."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    best: tuple[int, str] | None = None
    real = str(folder.resolve())
    for line in lines:
        parts = line.split(" ")
        point = _unescape(parts[1])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= best[0]):  # later mounts hide
            best = (len(point), parts[2])
    return best[1] if best else None


def check_file(path: Path) -> None:
    """Refuse what is no file, has a second name or may be written by everybody.

    Raises:
        LedgerError: It is one of these, or not for this user to read and write: SQLite
            would make a journal that nobody can write. Nothing was spent.
    """
    found = path.stat()
    check_is_file(path, found)
    if found.st_nlink > 1:
        raise LedgerError(
            N_("the ledger {path} has {links} names (hard links)"),
            hint=N_(
                "its journal is found by name, so two names would be two budgets; "
                "remove the other names"
            ),
            path=str(path),
            links=found.st_nlink,
        )
    if os.name == "posix" and found.st_mode & stat.S_IWOTH:
        raise LedgerError(
            N_("everybody may write the ledger {path}"),
            hint=N_("allow only its owner to write it: chmod 600 {path}"),
            path=str(path),
        )
    if not os.access(path, os.R_OK | os.W_OK):
        raise _not_writable(path)


def check_is_file(path: Path, found: os.stat_result) -> None:
    """Refuse a folder, pipe, socket or device: to open some of them is to wait for ever.

    Raises:
        LedgerError: It is one of these. Nothing was spent.
    """
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(
            N_("{path} is not a file"),
            hint=N_("give the path of a file, or of one to be created"),
            path=str(path),
        )


def _not_writable(path: Path) -> LedgerError:
    return LedgerError(
        N_("this user may not write {path}, where a ledger is kept"),
        hint=N_(
            "nothing was spent; whoever debits or looks must write the ledger, its "
            "journal and their folder as well"
        ),
        path=str(path),
    )


def _is_shared(kind: str) -> bool:
    family, _, name = kind.partition(".")
    return kind in _SHARED or (family == "fuse" and name not in _LOCAL_FUSE)


def _unescape(text: str) -> str:
    r"""Undo the octal escapes of blanks in mount points.

    Examples:
        >>> _unescape(r"/a\040b")
        '/a b'
    """
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), text)
