"""The files of a run: refused or made ready before a debit, written whole after it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from sfumato.errors import ProjectError
from sfumato.project.load import Format
from sfumato.project.uncommented import uncommented
from sfumato.release import OwnerComparison, Release
from sfumato.release.files import FORMATS, write
from sfumato.release.libraries import need
from sfumato.words import N_

__all__ = ["Outputs", "refuse_existing"]

_NAMES: dict[Format, str] = {
    "json": "release.json",
    "csv": "release.csv",
    "html": "report.html",
    "md": "release.md",
    "xlsx": "release.xlsx",
    "parquet": "release.parquet",
    "zip": "release.zip",
}
_LIBRARIES: dict[Format, tuple[str, ...]] = {
    "html": ("matplotlib", "jinja2"),
    "xlsx": ("openpyxl",),
    "parquet": ("pyarrow",),
}
_OWNER = "owner.html"


@final
@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the results of a run go.

    Attributes:
        folder: The folder; made when absent.
        formats: Which forms of the releases are written.
        headline: Names of the figures that the page shows first.
        owner: Whether owner.html is written too: true values, NOT PRIVATE.
        project: The project file, which the page prints for whoever asks again.
    """

    folder: Path
    formats: tuple[Format, ...]
    owner: bool = False
    headline: tuple[str, ...] = ()
    project: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that a run writes, in order."""
        names = [_NAMES[f] for f in self.formats] + [_OWNER] * self.owner
        return tuple(self.folder / name for name in names)

    def refuse_existing(self, *, force: bool = False) -> None:
        """Refuse to overwrite; a folder in a file's place even with `force`.

        Raises:
            ProjectError: A file exists. Nothing was spent.
        """
        refuse_existing(self.paths, force=force)

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Make the folder and see that files can be written, before anything is spent.

        Folders that this made are removed when the block fails and they are empty.

        Raises:
            ProjectError: The folder cannot be made or written. Nothing was spent.
            MissingExtraError: A form needs a library that is not installed.
        """
        forms = (*self.formats, *(("html",) if self.owner else ()))
        for library in (name for form in forms for name in _LIBRARIES.get(form, ())):
            need(library)
        parents = (self.folder, *self.folder.parents)
        absent = [p for p in parents if not os.path.lexists(p)]
        try:
            self._prepare()
            yield
        except BaseException:
            with suppress(OSError, ValueError):
                for path in absent:
                    path.rmdir()  # refuses a folder that holds anything
            raise

    def _prepare(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f".sfumato-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except (OSError, ValueError) as error:
            raise ProjectError(
                N_("the folder {path} cannot be written: {reason}"),
                hint=N_("choose another folder with --out"),
                path=str(self.folder),
                reason=getattr(error, "strerror", None) or str(error),
            ) from None

    def write(self, releases: Sequence[Release], *, lang: str, title: str) -> None:
        """Write all public files, each in one step; JSON, which holds all, first."""
        for form in sorted(self.formats, key=list(_NAMES).index):
            write(
                self.folder / _NAMES[form], self._content(form, releases, lang, title)
            )

    def _content(
        self, form: Format, releases: Sequence[Release], lang: str, title: str
    ) -> str | bytes:
        match form:
            case "json":
                return json_text(releases)
            case "html":
                from sfumato.report import to_html

                return to_html(
                    list(releases),
                    lang=lang,
                    title=title,
                    headline=self.headline,
                    project=self._asked_by(),
                )
            case _:
                return FORMATS[form](releases, lang)

    def _asked_by(self) -> str:
        """Return the project file without its comments, which may tell of the rows.

        The page is worth more than an error.
        """
        try:
            text = self.project.read_text(encoding="utf-8") if self.project else ""
        except (OSError, ValueError):
            return ""
        return uncommented(text)

    def write_owner(self, comparisons: Sequence[OwnerComparison], *, lang: str) -> None:
        """Write the owner's page, which only its owner may read: NOT PRIVATE."""
        from sfumato.report import owner_html

        page = owner_html(comparisons, lang=lang)
        write(self.folder / _OWNER, page, mode=0o600)


def refuse_existing(paths: Sequence[Path], *, force: bool = False) -> None:
    """Refuse to overwrite files; a folder in a file's place even with `force`.

    Raises:
        ProjectError: Something is there. Nothing was spent.
    """
    for path in paths:
        if not os.path.lexists(path):  # never raises, whatever the path
            continue
        if not force:
            raise ProjectError(
                N_("{path} exists already"),
                hint=N_("choose another folder with --out, or overwrite: --force"),
                path=str(path),
            )
        if path.is_dir() and not path.is_symlink():
            raise ProjectError(
                N_("{path} is a folder, and a file is to be written there"),
                hint=N_("choose another folder with --out, or remove it"),
                path=str(path),
            )


def json_text(releases: Sequence[Release]) -> str:
    """Return several releases as one JSON text, each in its own documented form."""
    parts = ",\n".join(release.to_json().strip() for release in releases)
    return f'{{"schema_version": 1, "releases": [\n{parts}\n]}}\n'
