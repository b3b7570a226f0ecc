"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import ArgumentError
from sfumato.release.formats import to_csv, to_json
from sfumato.words import N_, language

if TYPE_CHECKING:
    from sfumato.release.record import Release

__all__ = ["refuse_ending", "report", "save", "write"]


def report() -> Any:
    """Return `sfumato.report`, the pictures and pages.

    The one named upward link of the house: reports stand on a higher floor and know
    releases; a release finds them by name and only when asked, as pandas finds its
    plotting backends.
    """
    return import_module("sfumato.report")


def save(
    release: Release, path: str | os.PathLike[str], *, lang: str | None = None
) -> None:
    """Write a release in the format that the file's ending names; see `Release.save`."""
    where = Path(path)
    match where.suffix.lower():
        case ".json":
            text = to_json(release)
        case ".csv":
            text = "\ufeff" + to_csv(release)
        case ".html":
            text = report().to_html([release], lang=language(lang))
        case _:
            raise refuse_ending(where, ".json, .csv, .html")
    write(where, text)


def refuse_ending(path: Path, known: str) -> ArgumentError:
    """Return the error for a file whose ending names no format of ours."""
    return ArgumentError(
        N_("cannot tell the format of {name} from its ending"),
        hint=N_("end the file's name in one of: {known}"),
        name=repr(path.name),
        known=known,
    )


def write(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Put a text at `path` in one step: a reader sees the old file or the new one.

    Args:
        path: Where to; a file there is replaced.
        text: Written in UTF-8, line ends as they are.
        mode: Permissions, before the process's mask.
    """
    own = f"{os.getpid()}-{threading.get_ident()}"
    draft = path.with_name(f".{path.name}.{own}.part")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
