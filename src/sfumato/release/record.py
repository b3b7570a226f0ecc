"""Records that may leave the building: safe to print, store, send, post-process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from sfumato.declare.unit import PrivacyUnit, Unit
from sfumato.release.once import Once

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from sfumato.account import Measure

__all__ = [
    "Bin",
    "Claim",
    "Figure",
    "Group",
    "Measurement",
    "Noise",
    "Person",
    "Receipt",
    "Release",
]

Group: TypeAlias = "Mapping[str, str | int | bool]"
Kind: TypeAlias = Literal[
    "count",
    "people",
    "sum",
    "mean",
    "proportion",
    "variance",
    "std",
    "quantile",
    "median",
    "histogram",
    "crosstab",
    "ratio",
    "covariance",
    "correlation",
    "mode",
]
Bin: TypeAlias = "tuple[float, float] | str | int | bool | None"

SCHEMA_VERSION = 1
_NO_GROUP: Group = MappingProxyType({})


@final
@dataclass(frozen=True, slots=True)
class Noise:
    """The law of one noise term, in the unit of the figure.

    Attributes:
        law: ``"geometric"`` (two-sided, on integers, on its own), ``"k_norm"`` (drawn
            jointly with other measurements, uniform in a box of random size),
            ``"discrete_gaussian"`` or ``"gaussian"`` (rounded to whole numbers);
            ``"permute_and_flip"`` or ``"exponential"`` for a choice.
        scale: Its scale in grid steps, as an exact fraction or decimal text: worst
            change over ε, the standard deviation of a Gaussian, or the rows per unit of
            the exponent of a choice.
        step: Size of one grid step in the figure's unit.
        loss: Its charge in the budget's currency, as exact decimal text; shared by all
            that are joint.
        joint: How many measurements share the noise and its charge; 1 when alone.
    """

    law: str
    scale: str
    step: float
    loss: str
    joint: int = 1


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """One released number and the range that noise alone can explain.

    Attributes:
        name: Name of the statistic, such as ``"mean_Glucose"``.
        kind: Which statistic it is.
        column: The column it is about; none for a count of rows.
        group: Grouping columns and keys that it holds for; empty without grouping.
        estimate: The number. Counts and sums are unbiased and may be negative. Of a mode
            0: the rows by which the chosen `bin` is thought to lack the largest count;
            the interval tells how many it may lack.
        low: Lower end of the interval; no higher than the estimate.
        high: Upper end of the interval; no lower than it.
        noise: The noise terms inside it; empty for a public, exact number.
        unit: Unit of measurement, such as ``"mg/dL"``; empty for counts,
            but that of the bins for those of days.
        bin: For a histogram of numbers the edges (left, right); of categories the key.
        other: The second column of a table, a ratio or a covariance; else none.
        other_bin: As `bin`, of the second column of a table.
        other_unit: As `unit`, where `other_bin` is of days.
        closed: Of a mode, whether its bin is the last one, to which its right end belongs.
        raw: The entry of a matrix as noise left it, where it had to be adjusted.
        sampling: The interval that noise and the choice of the rows together explain,
            if rows are independent draws from a large population; none where the noisy
            figures do not tell (``docs/intervals.md``).
        dots: Twenty equally likely places of the figure without noise, in order; empty
            in releases of many figures.
    """

    name: str
    kind: Kind
    column: str | None
    group: Group = field(hash=False)
    estimate: float
    low: float
    high: float
    noise: tuple[Noise, ...] = ()
    unit: str = ""
    bin: Bin = None
    other: str | None = None
    other_bin: Bin = None
    raw: float | None = None
    sampling: tuple[float, float] | None = None
    dots: tuple[float, ...] = ()
    other_unit: str = ""
    closed: bool = False

    def __post_init__(self) -> None:
        """Keep an own copy of the group, so that nobody can change it later."""
        object.__setattr__(self, "group", MappingProxyType(dict(self.group)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by parts; a read-only mapping cannot be pickled."""
        parts = (getattr(self, f) for f in self.__slots__)
        return Figure, tuple(
            dict(p) if isinstance(p, MappingProxyType) else p for p in parts
        )

    @property
    def interval(self) -> tuple[float, float]:
        """The interval (low, high) at the release's confidence."""
        return (self.low, self.high)


@final
@dataclass(frozen=True, slots=True)
class Receipt(Once):
    """Proof of a committed debit; the gate asks for one, and takes each once.

    Attributes:
        dataset: Whose budget paid.
        sequence: Number of the debit in its ledger, from 1.
        cost: What was paid, as exact decimal text in the budget's currency.
        spent: All that is spent after this debit.
        cap: The budget.
        plan: Digest of the plan it paid for.
        time: UTC time of the debit, ISO 8601 to the second.
        head: Hash of the ledger's entry: with it a stranger can verify the ledger.
    """

    dataset: str
    sequence: int
    cost: str
    spent: str
    cap: str
    plan: str
    time: str
    head: str = ""


@final
@dataclass(frozen=True, slots=True)
class Person:
    """How much of one person counts.

    Attributes:
        column: All rows with one value in it are one person's.
        max_rows: Rows of hers that count fully in one group.
        max_groups: Groups of hers that count fully.
    """

    column: str
    max_rows: int
    max_groups: int

    @classmethod
    def of(cls, unit: PrivacyUnit) -> Person | None:
        """Return those of a declared unit; none where a unit is a row."""
        if isinstance(unit, Unit):
            return cls(unit.column, unit.max_rows, unit.max_groups)
        return None


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """What is promised, in full: nothing prints ε or ρ without these terms.

    Attributes:
        measure: Currency of the budget: ``"epsilon"`` (pure ε), ``"zcdp"`` (ρ) or
            ``"gdp"`` (ρ of Gaussian noise only).
        loss: Loss of this release in that currency, exact decimal text.
        epsilon: The ε that holds at `delta`; none where the budget names no δ.
        delta: The δ, exact decimal text; ``"0"`` when the guarantee is pure.
        unit: The protected unit: ``"row"`` or ``"person"``.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        size: The public number of units under replace-one; else none.
        receipt: The debit that paid.
        private: False only for releases made with a test seed: NOT PRIVATE.
        bounds: Of a person: whose rows belong together, and how many count.
        tables: How many united tables the rows of one unit may lie in: where each row is
            a unit, one in each of them is protected together.
    """

    measure: Measure
    loss: str
    epsilon: str | None
    delta: str
    unit: str
    neighbours: str
    size: int | None
    receipt: Receipt
    private: bool = True
    bounds: Person | None = None
    tables: int = 1

    def __repr__(self) -> str:
        """Show all fields, and first of all whether they promise nothing."""
        parts = [] if self.private else ["NOT PRIVATE"]
        parts += [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)]
        return f"Claim({', '.join(parts)})"


@final
@dataclass(frozen=True, slots=True)
class Measurement:
    """The raw noisy integers of one step, before any post-processing.

    Attributes:
        name: What was measured, such as ``"centred_sum(Glucose)"``.
        sensitivity: Largest change of the vector between neighbours, in steps: in L1,
            for Gaussian noise in L2.
        noise: Law, scale, step size and charge.
        values: One integer per group (and bin), in the order of the figures.
        threshold: Where it decided which unknown keys are shown, the least noisy count
            that is; else none.
    """

    name: str
    sensitivity: float
    noise: Noise
    values: tuple[int, ...]
    threshold: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Release:
    """One answer: figures, the claim, and the raw noisy measurements.

    Attributes:
        title: Name of the release.
        question: What was asked, in words.
        figures: In an order that does not depend on the data.
        confidence: Of every interval, each on its own.
        claim: What is promised.
        measurements: The raw noisy integers from which all figures follow.
    """

    title: str
    question: str
    figures: tuple[Figure, ...]
    confidence: float
    claim: Claim
    measurements: tuple[Measurement, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Figure]:
        """Iterate over the figures."""
        return iter(self.figures)

    def __len__(self) -> int:
        """Return the number of figures."""
        return len(self.figures)

    def __getitem__(self, name: str) -> Figure:
        """Return the figure of that name.

        Raises:
            KeyError: No figure has it, or several do: name the group, with `find`.
        """
        return self.find(name)

    def find(self, name: str, **group: Any) -> Figure:
        """Return the figure of a name and group: ``find("mean_Glucose", Outcome=1)``.

        Raises:
            KeyError: No figure matches, or several do.
        """
        from sfumato.release import finding

        return finding.find(self.figures, name, group)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and dicts: the fields of ``release.json``."""
        from sfumato.release import formats

        return formats.to_dict(self)

    def to_json(self) -> str:
        """Return the release as JSON; `sfumato.release.from_json` reads it back."""
        from sfumato.release import formats

        return formats.to_json(self)

    def to_csv(self) -> str:
        """Return one row per figure; a text that a spreadsheet would run gets a ``'``."""
        from sfumato.release import formats

        return formats.to_csv(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per figure as a pandas data frame.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        from sfumato.release import formats

        return formats.to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """Return one row per figure as a polars data frame.

        Raises:
            MissingExtraError: polars is not installed.
        """
        from sfumato.release import formats

        return formats.to_polars(self)

    def plot(self, *, lang: str | None = None) -> Any:
        """Return a matplotlib figure of all figures with their intervals.

        Args:
            lang: ``"en"`` or ``"zh"``; default: the language of the locale.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        from sfumato.release import files

        return files.report().plot(self, lang=lang)

    def save(self, path: str | os.PathLike[str], *, lang: str | None = None) -> None:
        """Write the release to a file, whole or not at all.

        Args:
            path: Where to; the ending names the format: ``.json``, ``.csv``, ``.html``,
                ``.md``, ``.xlsx``, ``.parquet``, or ``.zip`` for a Frictionless data
                package. A file there is replaced.
            lang: Language of what people read in it; default: that of the locale.

        Raises:
            ArgumentError: Another ending, or more rows than the format holds.
            MissingExtraError: The format needs a library that is not installed.
        """
        from sfumato.release import files

        files.save(self, path, lang=lang)

    def __str__(self) -> str:
        """Render an aligned table and the claim, in the language of the locale."""
        from sfumato.release import show

        return show.to_text(self)

    def _repr_html_(self) -> str:
        """Render a compact table and the claim for notebooks."""
        from sfumato.release import show

        return show.to_snippet(self)
