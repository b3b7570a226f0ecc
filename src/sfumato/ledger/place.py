"""Where a ledger file may lie: a local disk, one name, nobody else's pen."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from sfumato.errors import LedgerError
from sfumato.words import N_

__all__ = ["check_place", "filesystem"]

_MOUNTS = Path("/proc/self/mounts")
# Their locks and shared memory do not reach other hosts, or do not exist.
_REMOTE = {
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb2",
    "smb3", "smbfs", "vboxsf", "vmhgfs",
}  # fmt: skip
_REMOTE_FUSE = {
    "ceph", "cifs", "davfs", "gcsfuse", "glusterfs", "goofys", "juicefs", "mfs", "nfs",
    "rclone", "s3fs", "smb", "sshfs", "vmhgfs-fuse",
}  # fmt: skip


def check_place(path: Path) -> None:
    """Refuse places where a ledger cannot be kept safely.

    Raises:
        LedgerError: No folder, a network file system, a second name (hard link), a file
            that everybody may write. Nothing was spent and nothing created.
    """
    if not path.parent.is_dir():
        raise LedgerError(
            N_("the folder of the ledger {path} does not exist"),
            hint=N_("create the folder first, or correct the path"),
            path=str(path),
        )
    kind = filesystem(path.parent)
    if kind is not None and _is_remote(kind):
        raise LedgerError(
            N_("the ledger {path} would lie on a network file system ({kind})"),
            hint=N_(
                "file locks do not hold there; use a local disk, or a PostgreSQL "
                'ledger="postgresql://…" to share a budget between machines'
            ),
            path=str(path),
            kind=kind,
        )
    if path.exists():
        _check_file(path)


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


def _check_file(path: Path) -> None:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(
            N_("{path} is not a file"),
            hint=N_("give the path of a ledger file, or of a file to be created"),
            path=str(path),
        )
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


def _is_remote(kind: str) -> bool:
    family, _, name = kind.partition(".")
    return kind in _REMOTE or (family == "fuse" and name in _REMOTE_FUSE)


def _unescape(text: str) -> str:
    r"""Undo the octal escapes of blanks in mount points.

    Examples:
        >>> _unescape(r"/a\040b")
        '/a b'
    """
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), text)
