"""Linked tables that were made: their models, their rows, their file."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import numpy as np

from sfumato.errors import ArgumentError, DeclarationError
from sfumato.noise import FixedStream, Stream, default
from sfumato.release.synthetic import SyntheticRelease
from sfumato.synth.arguments import check_path, check_seed
from sfumato.synth.coded import bins_of, coded
from sfumato.synth.draw import Bins, draw_bins
from sfumato.synth.synthesis import Synthesis, drawn_columns
from sfumato.synth.table import SyntheticTable, surrogate
from sfumato.synth.values import Values
from sfumato.words import N_

__all__ = ["LinkedSynthesis"]

_FORMAT = "sfumato-linked-1"


@final
class LinkedSynthesis:
    """The models of linked tables and their records. Public: nothing private is inside.

    Attributes:
        head: Name of the table of one row per person.
        key: The column that names the people, new names in every table.
        shared: Columns of the head on which rows of other tables depend.
        cost: What all of it costs a person, in the budget's currency.
    """

    __slots__ = ("_made", "cost", "head", "key", "shared")

    def __init__(
        self,
        head: str,
        key: str,
        shared: Sequence[str],
        made: Mapping[str, Synthesis],
        cost: str,
    ) -> None:
        """Keep all; made by `LinkedSynthesizer.fit` and `load`."""
        self.head, self.key, self.shared, self.cost = head, key, tuple(shared), cost
        self._made = dict(made)

    @property
    def names(self) -> tuple[str, ...]:
        """The tables, the head first."""
        return tuple(name or self.head for name in self._made)

    @property
    def releases(self) -> dict[str, SyntheticRelease]:
        """What was measured for each table, under which claim; the losses add up."""
        return {name or self.head: one.release for name, one in self._made.items()}

    def __getitem__(self, name: str) -> Synthesis:
        """Return one table's model on its own.

        Raises:
            KeyError: There is no such table.
        """
        return self._made["" if name == self.head else name]

    def sample(
        self, people: int | None = None, *, seed: int | None = None
    ) -> dict[str, SyntheticTable]:
        """Draw people, and for each of them rows in every other table.

        Args:
            people: How many; default the estimated number of people.
            seed: Draw the same rows again.

        Raises:
            ArgumentError: The number of people is out of range.
        """
        check_seed(seed)
        stream = default() if seed is None else FixedStream(seed)
        head = self._made[""]
        drawn = head.sample(people, seed=None if seed is None else seed + 1)
        keys = surrogate(self.key, len(drawn))
        others = {n: s for n, s in self._made.items() if n}
        kept = tuple(c for c in drawn.columns if c.name not in (*others, self.key))
        found = {self.head: SyntheticTable((keys, *kept), drawn.claim)}
        for name, made in others.items():
            number = next(c for c in drawn.columns if c.name == name)
            found[name] = self._tail(made, drawn, keys, number, stream)
        return found

    def _tail(
        self,
        made: Synthesis,
        drawn: SyntheticTable,
        keys: Values,
        number: Values,
        stream: Stream,
    ) -> SyntheticTable:
        """Return the rows of another table, those of one person together."""
        whose = np.repeat(np.arange(len(drawn)), number.cells.astype(np.int64))
        alike = self._alike(made, drawn)
        bins = np.zeros((len(made.made.binnings), len(whose)), np.int64)
        groups, place = np.unique(alike[:, whose], axis=1, return_inverse=True)
        place = place.ravel()
        for i in range(groups.shape[1]):
            rows = np.flatnonzero(place == i)
            bins[:, rows] = self._like(made, groups[:, i], len(rows), stream)
        columns = drawn_columns(made.made, list(made.made.binnings), bins, stream)
        own = [c for c in columns if not c.name.startswith(f"{self.head}.")]
        names = Values(self.key, keys.cells[whose], np.zeros(len(whose), bool))
        asked = [n for n in made.made.options.surrogates if n != self.key]
        new = [surrogate(name, len(whose)) for name in asked]
        return SyntheticTable((names, *new, *own), made.release.claim)

    def _alike(self, made: Synthesis, drawn: SyntheticTable) -> Bins:
        """Return, in the other table's bins, the shared cells of each person."""
        held = {f"{self.head}.{c}": c for c in self.shared}
        lent = [b for b in made.made.binnings if b.grid.name in held]
        if not lent:
            return np.zeros((0, len(drawn)), np.int64)
        skipped = [n for n in drawn.names if n not in self.shared]
        own = coded(self._made[""].made.schema, drawn, skipped)
        named = {f"{self.head}.{c}": values for c, values in own.items()}
        return np.array(bins_of(lent, named))

    def _like(self, made: Synthesis, cells: Bins, rows: int, stream: Stream) -> Bins:
        """Draw rows of people with these shared cells."""
        model, names = made.made.model, [b.grid.name for b in made.made.binnings]
        lent = [i for i, n in enumerate(names) if n.startswith(f"{self.head}.")]
        evidence = [
            (i, np.arange(model.tree.sizes[i]) == cell)
            for i, cell in zip(lent, cells, strict=True)
        ]
        while evidence:
            try:
                return draw_bins(model.given(evidence), rows, stream)
            except DeclarationError:  # forbidden here, though not in the head
                evidence.pop()
        return draw_bins(model, rows, stream)

    def save(self, path: str | Path) -> None:
        """Write all models and their records to one file, without pickle."""
        from sfumato.release.files import write
        from sfumato.synth.files import written

        check_path(path)

        meta = {"format": _FORMAT, "head": self.head, "key": self.key,
                "shared": self.shared, "cost": self.cost, "tables": list(self._made)}  # fmt: skip
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("linked.json", json.dumps(meta, ensure_ascii=False))
            for i, one in enumerate(self._made.values()):
                file.writestr(f"{i}.synth", written(one))
        write(Path(path), out.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> LinkedSynthesis:
        """Read what `save` wrote.

        Raises:
            ArgumentError: The file holds no linked tables.
        """
        check_path(path)
        found = None
        try:
            with (
                zipfile.ZipFile(path) as file,
                tempfile.TemporaryDirectory() as folder,
            ):
                meta = json.loads(file.read("linked.json"))
                if meta["format"] == _FORMAT:
                    made = {}
                    for i, name in enumerate(meta["tables"]):
                        where = Path(folder) / f"{i}.synth"
                        where.write_bytes(file.read(f"{i}.synth"))
                        made[name] = Synthesis.load(where)
                    found = cls(meta["head"], meta["key"], meta["shared"], made, meta["cost"])  # fmt: skip
        except Exception:  # noqa: BLE001  as `sfumato.synth.files.load`
            found = None
        if found is None:
            raise ArgumentError(
                N_("{path} holds no linked tables"),
                hint=N_("save them with LinkedSynthesis.save"),
                path=str(path),
            )
        return found

    def __repr__(self) -> str:
        """Say what was made and what is promised."""
        return f"<LinkedSynthesis: {'; '.join(map(str, self.releases.values()))}>"
