"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import ArgumentError
from sfumato.release.formats import to_json
from sfumato.release.merged import merge
from sfumato.release.tables import write_csv
from sfumato.release.tongue import language_asked
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.release.record import Release

__all__ = ["FORMATS", "refuse_ending", "report", "save", "write"]


def report() -> Any:
    """Return `sfumato.report`, the pictures and pages.

    A named upward link (docs/architecture.md): reports stand on a higher floor and know
    releases; a release finds them by name and only when asked, as pandas finds its
    plotting backends.
    """
    return import_module("sfumato.report")


def save(
    release: Release, path: str | os.PathLike[str], *, lang: str | None = None
) -> None:
    """Write a release in the format that the file's ending names; see `Release.save`."""
    where = Path(path)
    ending = where.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise refuse_ending(where, ", ".join(f".{known}" for known in FORMATS))
    if not where.parent.is_dir():
        raise ArgumentError(
            N_("the folder {path} does not exist"),
            hint=N_("create it, and save again: the release is still at hand"),
            path=str(where.parent),
        )
    write(where, FORMATS[ending]([release], language_asked(lang)))


def _json(releases: Sequence[Release], _: str) -> str:
    return to_json(releases[0])


def _csv(releases: Sequence[Release], _: str) -> str:
    return "\ufeff" + write_csv(merge(releases))  # Excel needs the mark to read Chinese


def _html(releases: Sequence[Release], lang: str) -> str:
    page: str = report().to_html(list(releases), lang=lang)
    return page


def _markdown(releases: Sequence[Release], lang: str) -> str:
    from sfumato.release.markdown import to_markdown

    return to_markdown(releases, lang=lang)


def _workbook(releases: Sequence[Release], lang: str) -> bytes:
    from sfumato.release.workbook import to_workbook

    return to_workbook(releases, lang=lang)


def _parquet(releases: Sequence[Release], _: str) -> bytes:
    from sfumato.release.parquet import to_parquet

    return to_parquet(releases)


def _package(releases: Sequence[Release], lang: str) -> bytes:
    from sfumato.release.package import to_package

    return to_package(releases, lang=lang)


FORMATS: Mapping[str, Callable[[Sequence[Release], str], str | bytes]] = {
    "json": _json,
    "csv": _csv,
    "html": _html,
    "md": _markdown,
    "xlsx": _workbook,
    "parquet": _parquet,
    "zip": _package,
}


def refuse_ending(path: Path, known: str) -> ArgumentError:
    """Return the error for a file whose ending names no format of ours."""
    return ArgumentError(
        N_("cannot tell the format of {name} from its ending"),
        hint=N_("end the file's name in one of: {known}"),
        name=repr(path.name),
        known=known,
    )


def write(path: Path, content: str | bytes, *, mode: int = 0o666) -> None:
    """Put content at `path` in one step: a reader sees the old file or the new one.

    Args:
        path: Where to; a file there is replaced.
        content: Bytes, or a text that is written in UTF-8, line ends as they are.
        mode: Permissions, before the process's mask.
    """
    data = content
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    own = f"{os.getpid()}-{threading.get_ident()}"
    draft = path.with_name(f".{path.name}.{own}.part")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
