"""Many settings tried at once: one process per core, each with the table of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

from sfumato.declare.dataset import Dataset, one_place
from sfumato.errors import ProjectError
from sfumato.project.address import written_alike
from sfumato.project.load import Project, load
from sfumato.project.tune import Setting, Stand, Trial
from sfumato.words import N_

__all__ = ["stand_in", "tries"]

_stand: list[Stand] = []  # of a worker process


def stand_in(project: Project, public: Path | None) -> Dataset:
    """Return the table to simulate on: a public file, or the project's own for its owner.

    The file is read as the project reads its own table.

    Raises:
        ProjectError: The public file is of the private table, or there are others.
    """
    if public is None:
        return project.dataset
    if project.dataset.private:
        raise ProjectError(
            N_("the project has several private tables, and one stand-in is named"),
            hint=N_(
                "its owner may write --owner, to simulate on the tables themselves"
            ),
        )
    dataset = project.dataset
    source = written_alike(dataset.source, public)
    if one_place(source, dataset.source):
        raise ProjectError(
            N_("{path} is the private table of the project, not a public stand-in"),
            hint=N_("name a public or synthetic table; its owner may write --owner"),
            path=str(public),
        )
    schema, tables = dataset.schema, dataset.public
    return Dataset(source, schema=schema, name=dataset.name, tables=tables)


def tries(
    project: Project,
    public: Path | None,
    settings: Sequence[Setting],
    *,
    runs: int,
    jobs: int,
) -> Iterator[tuple[Trial, ...]]:
    """Iterate over the trials of each setting, as they are done.

    Args:
        project: The project, read from its file.
        public: The public table; None for the project's own.
        settings: What to try.
        runs: Simulated releases of each setting.
        jobs: Processes to share the work.

    Raises:
        SourceError: The table cannot be opened as declared.
        ProjectError: A loss is too small to be split.
    """
    stand = Stand(
        project, stand_in(project, public)
    )  # says first what cannot be opened
    blocks = [
        tuple(block)
        for _, block in groupby(settings, lambda s: (s.release, s.groups, s.clip))
    ]
    if jobs <= 1 or len(blocks) <= 1:
        for one in settings:
            yield tuple(stand.try_out(one, runs))
        return
    with ProcessPoolExecutor(
        jobs, get_context("spawn"), _open, (project.path, public)
    ) as pool:
        waiting = [pool.submit(_try, block, runs) for block in blocks]
        try:
            for done in as_completed(waiting):
                yield from done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _open(path: Path, public: Path | None) -> None:
    project = load(path)
    _stand[:] = [Stand(project, stand_in(project, public))]


def _try(block: tuple[Setting, ...], runs: int) -> list[tuple[Trial, ...]]:
    return [tuple(_stand[0].try_out(one, runs)) for one in block]
