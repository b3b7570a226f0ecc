"""Tables and labels as estimators see them: total row by row, encoded by public facts.

A number becomes ``(2x - lower - upper)/(upper - lower)`` in [-1, 1]; what is missing
becomes 0, the public middle; a declared key becomes an indicator. Each rule looks at
one row alone, so it costs no privacy, and no cell can raise an error.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from sfumato.declare.schema import token
from sfumato.declare.unit import Identifier
from sfumato.engine.cell import DIGITS, identity, plain
from sfumato.errors import DeclarationError
from sfumato.models.declared import Feature, Keys, Span
from sfumato.models.given import as_listed, column_of, one_column
from sfumato.words import N_

__all__ = [
    "CHUNK",
    "Columns",
    "Encoder",
    "Floats",
    "as_columns",
    "count_chunks",
    "first_rows",
    "labels_of",
    "numbered",
    "numbers_of",
    "persons_of",
    "spans_of_rows",
]

Floats: TypeAlias = "NDArray[np.float64]"
CHUNK = 1 << 13
"""Rows that are encoded at a time: a table is never copied whole."""

_OWNERS = Identifier()
_NOT_CELLS = (dict, list, tuple, set)


def count_chunks(rows: int) -> int:
    """Return into how many chunks rows are cut."""
    return -(-rows // CHUNK)


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """A table that was given, not yet looked at.

    Attributes:
        matrix: All columns as one numeric array, where they can be one.
        several: One array per column, where they were not given as one array.
    """

    matrix: NDArray[Any] | None
    several: tuple[NDArray[Any], ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.matrix if self.matrix is not None else self.several[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.several) if self.matrix is None else self.matrix.shape[1]

    def column(self, index: int, rows: slice) -> NDArray[Any]:
        """Return some rows of one column."""
        if self.several:
            return self.several[index][rows]
        assert self.matrix is not None  # noqa: S101  there is one of both
        return self.matrix[rows, index]


def as_columns(table: Any, name: str, *, least: int = 1) -> Columns:
    """Check the shape of a table and return its columns; reads no cell of numbers.

    A table of fewer than `least` rows is refused.

    Raises:
        ValueError: Not two-dimensional, empty, or complex, as scikit-learn says it.
        TypeError: Sparse, or a cell is a container.
    """
    kind = type(table).__module__.partition(".")[0]
    several: tuple[NDArray[Any], ...] = ()
    if kind in ("pandas", "polars") and hasattr(table, "columns"):
        found = [column_of(table[c]) for c in table.columns]
        if found and any(a.dtype.kind not in "fiub" for a in found):
            check_array(
                np.zeros((len(table), len(found))),
                ensure_min_samples=least,
                estimator=name,
            )
            return Columns(None, tuple(map(_checked, found)))
        several = tuple(found)
    elif isinstance(table, list | tuple):
        table = as_listed(table)
    array = check_array(
        table,
        dtype=None if getattr(table, "dtype", None) == np.dtype(object) else "numeric",
        ensure_all_finite=False,
        ensure_min_samples=least,
        estimator=name,
    )
    if array.dtype.kind in "fiub":
        return Columns(array, several)
    return Columns(None, tuple(_checked(array[:, j]) for j in range(array.shape[1])))


def _checked(cells: NDArray[Any]) -> NDArray[Any]:
    if cells.dtype == object and any(isinstance(c, _NOT_CELLS) for c in cells):
        message = "argument must be a string or a real number, not a container"
        raise TypeError(message)
    return cells


@final
@dataclass(frozen=True, slots=True)
class Encoder:
    """Public facts of the features, as a map from cells to numbers.

    Attributes:
        features: One per column.
        degree: 1, or more for orthogonal polynomials of each number: the Legendre
            polynomial of order k, times ``tau**(k - 1)``.
        tau: Weight of the higher orders.
        curved: Keep every number inside its bounds, for curves go astray beyond them.
    """

    features: tuple[Feature, ...]
    degree: int = 1
    tau: float = 0.3
    curved: bool = False

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return sum(
            self.degree if isinstance(f, Span) else len(f.cells) for f in self.features
        )

    @property
    def owners(self) -> tuple[int, ...]:
        """For each encoded column, which feature it comes from."""
        sizes = [
            self.degree if isinstance(f, Span) else len(f.cells) for f in self.features
        ]
        return tuple(j for j, size in enumerate(sizes) for _ in range(size))

    def encode(self, table: Columns, rows: slice, *, clip: bool = True) -> Floats:
        """Return some rows as numbers in [-1, 1]; beyond it only without `clip`."""
        with np.errstate(all="ignore"):  # a warning would tell of a cell
            found = self._encoded(table, rows, clip=clip)
        return np.ascontiguousarray(found)  # so that sums over a row have one order

    def _encoded(self, table: Columns, rows: slice, *, clip: bool) -> Floats:
        simple = self.degree == 1 and table.matrix is not None
        if simple and all(isinstance(f, Span) for f in self.features):
            return self._all_spans(table.matrix[rows], clip=clip)  # type: ignore[index]
        clip = clip or self.curved
        parts = []
        for j, feature in enumerate(self.features):
            cells = table.column(j, rows)
            if isinstance(feature, Keys):
                parts.append(_indicators(cells, feature))
            else:
                encoded = _scaled(_numbers(cells), feature, clip=clip)
                parts.append(self._powers(encoded))
        return np.concatenate(parts, axis=1)

    def _all_spans(self, block: NDArray[Any], *, clip: bool) -> Floats:
        spans = [f for f in self.features if isinstance(f, Span)]
        low, high = (
            np.array([getattr(s, k) for s in spans]) for k in ("lower", "upper")
        )
        numbers = block.astype(np.float64)
        gone = np.isnan(numbers)
        for j, span in enumerate(spans):
            for code in span.missing:
                gone[:, j] |= numbers[:, j] == code
        endless = np.isinf(numbers)
        if clip or endless.any():
            kept = np.clip(numbers, low, high)
            numbers = kept if clip else np.where(endless, kept, numbers)
        numbers -= (low + high) / 2
        numbers /= (high - low) / 2
        numbers[gone] = 0.0
        return np.clip(numbers, -1.0, 1.0, out=numbers) if clip else numbers

    def _powers(self, encoded: Floats) -> Floats:
        columns = [encoded]
        if self.degree > 1:
            x, before = encoded, np.ones_like(encoded)
            for k in range(1, self.degree):  # Bonnet's recursion
                now = columns[-1] / self.tau ** (k - 1)
                after = ((2 * k + 1) * x * now - k * before) / (k + 1)
                columns.append(after * self.tau**k)
                before = now
        return np.stack(columns, axis=1)

    def chunks(self, table: Columns, *, clip: bool = True) -> Iterator[Floats]:
        """Iterate over the encoded rows, `CHUNK` at a time."""
        for start in range(0, len(table), CHUNK):
            yield self.encode(table, slice(start, start + CHUNK), clip=clip)


def _scaled(numbers: Floats, span: Span, *, clip: bool) -> Floats:
    gone = np.isnan(numbers)
    for code in span.missing:
        gone |= numbers == code
    endless = np.isinf(numbers)
    kept = np.clip(numbers, span.lower, span.upper)
    numbers = kept if clip else np.where(endless, kept, numbers)
    half = (span.upper - span.lower) / 2
    found = (numbers - (span.lower + span.upper) / 2) / half
    if clip:
        found = np.clip(found, -1.0, 1.0)
    return np.where(gone, 0.0, found)


def _numbers(cells: NDArray[Any]) -> Floats:
    """Return cells as floats; text that is no number, and nulls, become NaN."""
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return np.array([_number(c) for c in cells], np.float64)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except Exception:  # noqa: BLE001  no cell may raise an error
        return float("nan")


def _indicators(cells: NDArray[Any], keys: Keys) -> Floats:
    places = {text: k for k, group in enumerate(keys.cells) for text in group}
    found = np.zeros((len(cells), len(keys.cells)))
    for i, cell in enumerate(cells.tolist()):
        k = places.get(_text(cell))  # type: ignore[arg-type]  # None is no key
        if k is not None:
            found[i, k] = 1.0
    return found


def _text(cell: Any) -> str | None:
    """Return the text of a cell as a key; none for whatever can be no key."""
    try:
        return token(plain(cell))
    except Exception:  # noqa: BLE001  no cell may raise an error
        return None


def numbers_of(cells: NDArray[Any], span: Span) -> Floats:
    """Return numbers in halves of their range; what is missing becomes 0, the middle."""
    return Encoder((span,)).encode(Columns(None, (cells,)), slice(None))[:, 0]


def spans_of_rows(table: Columns) -> tuple[Feature, ...]:
    """Return bounds READ FROM THE ROWS: a leak, taken only when asked for."""
    found = []
    for j in range(table.width):
        numbers = _numbers(table.column(j, slice(None)))
        finite = numbers[np.isfinite(numbers)]
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
        if not low < high:
            low, high = low - 1, high + 1
        found.append(Span(float(low), float(high)))
    return tuple(found)


def labels_of(values: NDArray[Any], classes: Any) -> NDArray[np.int64]:
    """Return the place of each label among the classes; -1 for any other label.

    A label that is a number is compared as one, whatever type its array has, for a
    missing label of another row makes objects of all.
    """
    known = np.asarray(classes)
    if values.dtype.kind in "fiub" and known.dtype.kind in "fiub":
        place = np.searchsorted(known, values)
        place = np.minimum(place, len(known) - 1)
        return np.where(known[place] == values, place, -1).astype(np.int64)
    places: dict[object, int] = {}
    for k, c in enumerate(known.tolist()):
        text = token(c)
        places |= {} if text is None else {text: k}
        places |= {} if isinstance(c, str) else {c: k}
    found = [_place(v, places) for v in values.tolist()]
    return np.array(found, np.int64)


def _place(label: Any, places: Mapping[object, int]) -> int:
    try:
        label = plain(label)
        if not isinstance(label, str) and label in places:
            return places[label]
        return places.get(token(label), -1)
    except Exception:  # noqa: BLE001  no label may raise an error
        return -1


def persons_of(ids: Any, rows: int) -> NDArray[Any] | None:
    """Return the person of each row; none where rows are protected.

    Raises:
        DeclarationError: There is not one for each row. Nothing was spent.
    """
    if ids is None:
        return None
    if isinstance(ids, list | tuple):  # an array of texts drops U+0000 at their ends
        ids = np.array([*ids, None], object)[:-1]
    owners = one_column(ids)
    if len(owners) != rows:
        raise DeclarationError(
            N_("privacy_ids do not have one entry per row"),
            hint=N_("pass the identifier of the person of each row"),
        )
    if owners.dtype.kind in "OmM":  # 1 and 1.0 are one person, and NaT is nobody
        found = [_person(o) for o in owners.astype(object).tolist()]
        return np.array([*found, None], object)[:-1]
    return owners


def _person(owner: object) -> str | None:
    """Return what an owner is told apart by; none of nobody."""
    try:
        named = identity(owner, _OWNERS)
        exact = named is None and isinstance(owner, bytes | dt.date | dt.timedelta)
        return str(owner) if exact and owner == owner else named  # noqa: PLR0124  NaT
    except Exception:  # noqa: BLE001  no identifier may raise an error
        return None


def first_rows(owners: NDArray[Any], most: int) -> NDArray[np.bool_]:
    """Return which rows are among the first `most` of their owner.

    Whether a row is kept depends on rows of the same owner alone, so that one person
    changes no other person's part. Owners are told apart as identifiers are in tables
    (``docs/missing-values.md``), days and bytes by themselves. Rows without an owner
    (null, NaN, the empty text, a float that stands for several whole numbers, a text in
    which U+FFFD stands for what could not be read) are left out, as in every answer:
    several people could hide behind one, and each would move the others.

    Examples:
        >>> first_rows(np.array([7, None, 7, None, 7], object), 2).tolist()
        [True, False, True, False, False]
    """
    person = numbered(owners)
    order = np.argsort(person, kind="stable")
    starts = np.r_[0, np.flatnonzero(np.diff(person[order])) + 1]
    lengths = np.diff(np.r_[starts, len(order)])
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    kept = np.empty(len(order), np.bool_)
    kept[order] = rank < most
    return kept & (person >= 0)


def numbered(owners: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number of each owner, and -1 of nobody."""
    kind = owners.dtype.kind
    if kind == "O":
        return _numbered(owners)
    values, place = np.unique(owners, return_inverse=True)
    person: NDArray[np.int64] = place.astype(np.int64)
    if kind == "U":
        return _numbered(values)[person]
    if kind == "f":
        digits = DIGITS.get(owners.dtype.name, 53)
        is_one = (np.abs(owners) < 2.0**digits) & (owners == np.floor(owners))
        person[~is_one] = -1
    elif kind in "mM":
        person[np.isnat(owners)] = -1
    return person


def _numbered(owners: NDArray[Any]) -> NDArray[np.int64]:
    known: dict[str | None, int] = {None: -1}
    found = (known.setdefault(name, len(known)) for name in map(_person, owners))
    return np.fromiter(found, np.int64, len(owners))
