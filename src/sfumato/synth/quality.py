"""Quality and risk of a synthetic table, measured against true rows: owner only.

Nothing here is private: it reads the true rows. It is for whoever holds them anyway, to
decide whether to share the synthetic ones. Attacks are empirical: that one fails does
not prove that none succeeds; the bound beside it is what the claim proves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import exp, sqrt
from typing import Any

import numpy as np

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Integer, Real
from sfumato.errors import DeclarationError
from sfumato.metrics import k_anonymity, l_diversity, t_closeness
from sfumato.metrics.distance import total_variation
from sfumato.noise import FixedStream
from sfumato.release.quality import (
    Attack,
    ColumnGap,
    InWords,
    OwnerQuality,
    Portrait,
    TableGap,
)
from sfumato.release.synthetic import SyntheticRelease
from sfumato.synth.coded import Columns, bins_of, coded, open_rows
from sfumato.synth.draw import shuffled
from sfumato.synth.model import Array
from sfumato.synth.omitted import left_out
from sfumato.synth.predict import auc, fit_logistic
from sfumato.synth.synthesis import Synthesis, labels
from sfumato.synth.table import SyntheticTable
from sfumato.words import N_

__all__ = ["attack_bound", "compared", "owner_quality", "portrait"]

_MOST_PAIRS, _MOST_ATTACKED, _MOST_ROWS = 400, 400, 20_000
_NEIGHBOURS = 5


def portrait(made: Synthesis) -> Portrait:
    """Return what the model says of its columns; free, and public."""
    binnings = made.made.binnings
    names = tuple(b.grid.name for b in binnings)
    model = made.made.model
    shares = [model.marginal((i,)) for i in range(len(names))]
    matrix = np.eye(len(names))
    for a, b in combinations(range(len(names)), 2):
        matrix[a, b] = matrix[b, a] = cramer(model.marginal((a, b)))
    return Portrait(
        names,
        tuple(tuple(labels(b.grid, b.coding)) for b in binnings),
        tuple(tuple(map(float, s)) for s in shares),
        _rows(matrix),
        left_out(made.made.schema, made.made.options),
        made.made.options.surrogates,
    )


def owner_quality(
    made: Synthesis,
    private: Dataset,
    *,
    held_out: Dataset | None = None,
    target: str = "",
    quasi_identifiers: Sequence[str] = (),
    rows: int | None = None,
) -> OwnerQuality:
    """Compare a synthetic table with the true one. FOR THE OWNER'S EYES: not private.

    Args:
        made: The synthesis.
        private: The table that it was made from.
        held_out: Rows of the same kind that it was *not* made from: models are tested
            on them, and attacks are measured against them. Declare it under another
            name; its budget is not touched either.
        target: A column of two values to be predicted from the others.
        quasi_identifiers: Columns for k-anonymity of the synthetic table; with a
            target, l-diversity and t-closeness of it too.
        rows: Rows to draw; default as many as the private table has.

    Raises:
        DeclarationError: The target is not a made column of two values.
        EngineError: A table cannot be read.
    """
    names = [b.grid.name for b in made.made.binnings]
    true = open_rows(private)
    drawn = made.sample(len(true[names[0]]) if rows is None else rows, seed=1)
    fake = coded(made.made.schema, drawn, made.made.options.surrogates)
    other = open_rows(held_out) if held_out is not None else None
    return compared(
        made, (true, fake, other), drawn, target=target, hidden=quasi_identifiers
    )


def compared(
    made: Synthesis,
    rows: tuple[Columns, Columns, Columns | None],
    drawn: SyntheticTable,
    *,
    target: str = "",
    hidden: Sequence[str] = (),
) -> OwnerQuality:
    """Compare true rows, synthetic ones, and perhaps rows that were held out.

    Args:
        made: The synthesis.
        rows: All three, by their columns.
        drawn: The synthetic rows as a table.
        target: As for `owner_quality`.
        hidden: Its quasi-identifiers.

    Raises:
        DeclarationError: As for `owner_quality`.
    """
    true, fake, other = rows
    schema = made.made.schema
    names = [b.grid.name for b in made.made.binnings]
    if target:
        _check_target(made, target)
    numbers = [n for n in names if isinstance(schema[n], Real | Integer)]
    trained = _aucs(made, true, fake, other, target) if target else (None, None)
    first, second = bins_of(made.made.binnings, true), bins_of(made.made.binnings, fake)
    return OwnerQuality(
        title=made.release.title,
        claim=made.release.claim,
        true_rows=len(true[names[0]]),
        made_rows=len(drawn),
        columns=tuple(_gap(made, n, true[n], fake[n]) for n in made.made.names),
        tables=_tables(made, first, second),
        names=tuple(names),
        true_association=_association(made, first),
        made_association=_association(made, second),
        numbers=tuple(numbers),
        true_correlation=_correlation([true[n] for n in numbers]),
        made_correlation=_correlation([fake[n] for n in numbers]),
        target=target,
        true_auc=trained[0],
        made_auc=trained[1],
        attacks=() if other is None else _attacks(made, true, fake, other, target),
        classes=_classes(drawn, hidden, target),
        held_out=other is not None,
    )


def cramer(table: Array) -> float:
    """Return Cramér's V of a table of shares: 0 independent, 1 determined.

    Examples:
        >>> cramer(np.eye(2) / 2), cramer(np.ones((2, 2)) / 4)
        (1.0, 0.0)
    """
    total = table.sum()
    if min(table.shape) < 2 or total <= 0:  # noqa: PLR2004  a constant depends on nothing
        return 0.0
    shares = table / total
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    kept = expected > 0
    chi = float((((shares - expected) ** 2)[kept] / expected[kept]).sum())
    least = min(int((shares.sum(axis=i) > 0).sum()) for i in (0, 1)) - 1
    return min(1.0, sqrt(max(0.0, chi) / least)) if least > 0 else 0.0


def _table(made: Synthesis, bins: Sequence[Any], a: int, b: int) -> Array:
    counts = [binning.coding.count for binning in made.made.binnings]
    flat = np.bincount(bins[a] * counts[b] + bins[b], minlength=counts[a] * counts[b])
    return flat.reshape(counts[a], counts[b]).astype(np.float64)


def _association(made: Synthesis, bins: Sequence[Any]) -> tuple[tuple[float, ...], ...]:
    matrix = np.eye(len(bins))
    for a, b in combinations(range(len(bins)), 2):
        matrix[a, b] = matrix[b, a] = cramer(_table(made, bins, a, b))
    return _rows(matrix)


def _tables(
    made: Synthesis, first: Sequence[Any], second: Sequence[Any]
) -> tuple[TableGap, ...]:
    names = [b.grid.name for b in made.made.binnings]
    pairs = list(combinations(range(len(names)), 2))[:_MOST_PAIRS]
    gaps = [
        TableGap(
            (names[a], names[b]),
            total_variation(
                _table(made, first, a, b).ravel(), _table(made, second, a, b).ravel()
            ),
        )
        for a, b in pairs
    ]
    return tuple(sorted(gaps, key=lambda g: -g.distance))


def _gap(made: Synthesis, name: str, true: Array, fake: Array) -> ColumnGap:
    gone = [float(np.isnan(v).mean()) if len(v) else 0.0 for v in (true, fake)]
    held = [v[~np.isnan(v)] for v in (true, fake)]
    if not isinstance(made.made.schema[name], Real | Integer):
        size = made.made.schema[name].values  # type: ignore[union-attr]
        counts = [np.bincount(v.astype(np.int64), minlength=len(size)) for v in held]
        counts = [
            np.append(c, np.isnan(v).sum())
            for c, v in zip(counts, (true, fake), strict=True)
        ]
        distance = total_variation(*(c.astype(np.float64) for c in counts))
        return ColumnGap(name, distance, None, None, gone[0], gone[1])
    distance = ks(*held)
    means = [float(v.mean()) if len(v) else None for v in held]
    return ColumnGap(name, distance, means[0], means[1], gone[0], gone[1])


def ks(first: Array, second: Array) -> float:
    """Return the largest distance of two empirical distribution functions."""
    if not len(first) or not len(second):
        return 0.0 if len(first) == len(second) else 1.0
    at = np.concatenate([first, second])
    steps = [np.searchsorted(np.sort(v), at, "right") / len(v) for v in (first, second)]
    return float(np.abs(steps[0] - steps[1]).max())


def _correlation(columns: Sequence[Array]) -> tuple[tuple[float, ...], ...]:
    matrix = np.eye(len(columns))
    for a, b in combinations(range(len(columns)), 2):
        both = ~np.isnan(columns[a]) & ~np.isnan(columns[b])
        x, y = columns[a][both], columns[b][both]
        if len(x) > 1 and x.std() > 0 and y.std() > 0:
            matrix[a, b] = matrix[b, a] = float(np.corrcoef(x, y)[0, 1])
    return _rows(matrix)


def _rows(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in matrix)


def _check_target(made: Synthesis, target: str) -> None:
    declared = made.made.schema[target]
    values = getattr(declared, "values", ())
    if len(values) != 2 or target not in [b.grid.name for b in made.made.binnings]:  # noqa: PLR2004
        raise DeclarationError(
            N_("column {name} cannot be predicted: it has not two declared keys"),
            hint=N_("name a category of two keys, or a boolean"),
            name=repr(target),
        )


def _features(made: Synthesis, columns: Columns, target: str) -> Array:
    """Return bins as indicators: the same for true and synthetic rows."""
    bins = bins_of(made.made.binnings, columns)
    parts = [
        np.eye(b.coding.count)[held]
        for b, held in zip(made.made.binnings, bins, strict=True)
        if b.grid.name != target
    ]
    return np.hstack(parts) if parts else np.zeros((len(bins[0]), 1))


def _aucs(
    made: Synthesis, true: Columns, fake: Columns, other: Columns | None, target: str
) -> tuple[float | None, float | None]:
    test = true if other is None else other
    asked = ~np.isnan(test[target])
    x, y = _features(made, test, target)[asked], test[target][asked]
    found: list[float | None] = []
    for rows in (true, fake):
        known = np.flatnonzero(~np.isnan(rows[target]))[:_MOST_ROWS]
        labels_ = rows[target][known]
        if len(set(labels_.tolist())) < 2:  # noqa: PLR2004  nothing to learn
            found.append(0.5)
            continue
        weights = fit_logistic(_features(made, rows, target)[known], labels_)
        found.append(auc(x @ weights[:-1] + weights[-1], y))
    return found[0], found[1]


def _attacks(
    made: Synthesis, true: Columns, fake: Columns, other: Columns, target: str
) -> tuple[Attack, ...]:
    """Measure a nearest-row attack on membership, and on the target as a secret."""
    stream = FixedStream(1)
    bins = [np.array(bins_of(made.made.binnings, c)).T for c in (true, fake, other)]
    inside, rows, outside = (
        b[shuffled(len(b), stream)][:n]
        for b, n in zip(bins, (_MOST_ATTACKED, 5_000, _MOST_ATTACKED), strict=True)
    )
    if not min(map(len, (inside, rows, outside))):
        return ()
    bound = attack_bound(made.release)
    near, far = (_nearest(x, rows) for x in (inside, outside))
    found = [_attack("membership", *_half(near, far), bound)]
    if target:
        names = [b.grid.name for b in made.made.binnings]
        secret = names.index(target)
        right = [_guessed(x, rows, secret) for x in (inside, outside)]
        found.append(_attack("attribute", right[0], right[1], bound))
    return tuple(found)


def attack_bound(release: SyntheticRelease) -> float:
    """Return the most gain that the claims allow, of earlier releases too.

    Losses (ε, δ) add up (Dwork, Rothblum, Vadhan 2010), and an attacker's advantage is at
    most ``(e^ε - 1 + 2δ)/(e^ε + 1)`` (Kairouz, Oh, Viswanath 2015).
    """
    claims = (release.claim, *release.start)
    told = [50.0 if c.epsilon is None else float(c.epsilon) for c in claims]
    odds = exp(min(sum(told), 50.0))
    delta = sum(float(claim.delta) for claim in claims)
    return min(1.0, (odds - 1 + 2 * delta) / (odds + 1))


def _nearest(points: Any, rows: Any) -> Array:
    """Return how far each point is from the synthetic rows.

    Of two that are as near, the one that fewer rows are so near to is farther.
    """
    found = []
    for p in points:
        gap = (rows != p).sum(axis=1)
        least = gap.min()
        found.append(least * (len(rows) + 1) - (gap == least).sum())
    return np.array(found, np.float64)


def _half(near: Array, far: Array) -> tuple[Array, Array]:
    """Return the chance that each row is said to be inside: the nearer half of all.

    Rows just as near as the median share what is left of the half, so that ties favour
    neither side.
    """
    both = np.concatenate([near, far])
    cut = np.median(both)
    ties = max(1, int((both == cut).sum()))
    part = (len(both) / 2 - int((both < cut).sum())) / ties
    one, other = (
        np.where(x < cut, 1.0, np.where(x == cut, part, 0.0)) for x in (near, far)
    )
    return one, other


def _guessed(points: Any, rows: Any, secret: int) -> Any:
    """Tell for which points the nearest synthetic rows say the secret."""
    known = [i for i in range(rows.shape[1]) if i != secret]
    found = []
    for p in points:
        gap = (rows[:, known] != p[known]).sum(axis=1)
        near = np.argsort(gap, kind="stable")[:_NEIGHBOURS]
        found.append(np.bincount(rows[near, secret]).argmax() == p[secret])
    return np.array(found)


def _attack(name: str, inside: Any, outside: Any, bound: float) -> Attack:
    """Return what was gained, and a margin that is wide enough where all were right.

    The interval of Agresti and Caffo (2000), with a success and a failure more on either
    side, widened to stand around the gain itself.
    """
    a, b = float(np.mean(inside)), float(np.mean(outside))
    sizes = [len(inside) + 2, len(outside) + 2]
    one, two = (
        (np.sum(x) + 1) / n for x, n in zip((inside, outside), sizes, strict=True)
    )
    spread = sqrt(one * (1 - one) / sizes[0] + two * (1 - two) / sizes[1])
    margin = 1.96 * spread + abs(float(one - two) - (a - b))
    return Attack(name, a, b, a - b, margin, bound)


def _classes(
    drawn: SyntheticTable, quasi_identifiers: Sequence[str], target: str
) -> tuple[InWords, ...]:
    if not quasi_identifiers or not len(drawn):  # no rows, no classes of them
        return ()
    names = list(quasi_identifiers)
    table = {c.name: c.to_list() for c in drawn.columns}
    found: list[InWords] = [k_anonymity(table, names)]
    if target and target not in names:
        found += [
            l_diversity(table, names, target),
            t_closeness(table, names, target),
        ]
    return tuple(found)
