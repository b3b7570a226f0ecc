"""The loss of a whole fit, by brute force: every statistic, on every pair of neighbours.

A fit on a table is recorded: each sum that meets noise, its stated length and its
share. The fit on a neighbour is then run with the *same released values*, so that each
adaptive step is asked the same question. What the sums differ by, over their lengths,
times their shares, adds up to the privacy loss; it must not exceed the promise.
"""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato import models
from sfumato.models import centre, clusters, door, work
from sfumato.models.door import UNIT
from sfumato.models.price import Pure
from sfumato.testing import seeded

for _name in models.__all__:  # every room is open before noise is replaced
    getattr(models, _name)


class Replay:
    """Stands where noise is added; a second run hears what the first one was told."""

    def __init__(self, told=None):
        self.calls, self.told = [], told

    def _say(self, sums, share, length, thin, l1):
        values = [int(v) for v in np.ravel(sums)]
        self.calls.append((values, share, Fraction(length), thin, l1))
        if self.told is not None:
            return np.array(self.told[len(self.calls) - 1][0], float).reshape(
                np.shape(sums)
            )
        return np.array(values, float).reshape(np.shape(sums))

    def noisy(self, sums, share, *, length=UNIT, thin=None):
        return self._say(sums, share, length, thin, l1=False)

    def spread(self, sums, share, *, length=UNIT):
        return self._say(sums, share, length, None, l1=isinstance(share, Pure))

    def cell_counts(self, cells, share):
        return self._say(cells, share, 1, None, l1=isinstance(share, Pure))


def installed(monkeypatch, replay):
    """Put a replay into every room that adds noise."""
    names = [n for n in sys.modules if n.startswith("sfumato.models.")]
    for name in names:
        if name != "sfumato.models.door":
            for word in ("noisy", "spread", "cell_counts"):
                if hasattr(sys.modules[name], word):
                    monkeypatch.setattr(sys.modules[name], word, getattr(replay, word))


def loss(first, second):
    """Return the exact loss between two runs, in ε or in √(2ρ) squared over 2."""
    total = 0.0
    for (a, share, length, thin, l1), (b, *_) in zip(
        first.calls, second.calls, strict=True
    ):
        weights = [1] * len(a) if thin is None else thin
        gaps = [abs(x - y) for x, y in zip(a, b, strict=True)]
        size = sum(gaps) if l1 else sum(t * g * g for t, g in zip(weights, gaps)) ** 0.5
        ratio = float(size / (length * share.changes))
        if isinstance(share, Pure):
            total += ratio * float(share.epsilon.value)
        else:
            total += ratio**2 * float(share.rho.value)
    return total


def worst_loss(monkeypatch, make, *, labels=True, pairs=25, replace=False, seed=0):
    """Return the largest loss over random neighbours, and the promise."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for pair in range(pairs):
        n, d = int(rng.integers(3, 30)), 3
        kinds = [
            rng.choice([-9.0, 9.0], (n, d)),
            np.zeros((n, d)),
            rng.uniform(-1, 1, (n, d)),
        ]
        x = np.stack(kinds)[rng.integers(0, 3, n), np.arange(n)]
        y = rng.integers(0, 2, n) if labels else rng.uniform(-2, 2, n)
        other = x.copy(), y.copy()
        if replace:
            other[0][0] = np.where(rng.random(d) < 0.5, -9.0, 0.0) * np.sign(x[0] + 0.5)
            other[1][0] = 1 - y[0]
        else:
            other = x[1:], y[1:]
        runs = []
        for data in ((x, y), other):
            with monkeypatch.context() as patch, seeded(pair):
                replay = Replay(runs[0].calls if runs else None)
                installed(patch, replay)
                make(replace).fit(*data)
            runs.append(replay)
        worst = max(worst, loss(*runs))
    return worst


EPSILON = "0.7"
FACTS = {"bounds": (-1, 1)}
CLASSES = {**FACTS, "classes": [0, 1]}
CASES = {
    "LogisticRegression": ({**CLASSES}, ("1e-5",)),
    "AdditiveClassifier": ({**CLASSES, "order": 3}, ("1e-5",)),
    "LinearRegression": ({**FACTS, "y_bounds": (-1, 1)}, ("1e-5",)),
    "GaussianNB": (CLASSES, (0, "1e-5")),
    "StandardScaler": (FACTS, (0, "1e-5")),
    "PCA": ({**FACTS, "n_components": 2}, (0, "1e-5")),
    "KMeans": ({**FACTS, "n_clusters": 3}, (0, "1e-5")),
    "DecisionTreeClassifier": (CLASSES, (0, "1e-5")),
    "RandomForestClassifier": ({**CLASSES, "n_estimators": 3}, (0, "1e-5")),
}
ALL = [
    (name, delta, options)
    for name, (options, deltas) in CASES.items()
    for delta in deltas
]


def maker(name, delta, options, budget):
    """Return what makes an estimator for a neighbour relation."""

    def make(replace):
        return getattr(models, name)(
            epsilon=EPSILON, delta=delta, budget=budget,
            neighbours="replace_one" if replace else "add_remove", **options,
        )  # fmt: skip

    return make


def promise(delta):
    """Return the loss that a fit may have: ε, or ρ."""
    from sfumato.models.price import read_price

    share = read_price(EPSILON, delta, "add_remove").share()
    return float((share.epsilon if isinstance(share, Pure) else share.rho).value)


@pytest.mark.parametrize("replace", [False, True], ids=["add_remove", "replace_one"])
@pytest.mark.parametrize(
    ("name", "delta", "options"), ALL, ids=[f"{n}-{d}" for n, d, _ in ALL]
)
def test_no_pair_of_neighbours_exceeds_the_promise(
    monkeypatch, rho_budget, name, delta, options, replace
):
    """Σ share · change / length over all mechanisms of a fit is at most the whole."""
    make = maker(name, delta, options, rho_budget)

    worst = worst_loss(
        monkeypatch, make, labels=name != "LinearRegression", replace=replace
    )

    assert worst <= promise(delta) * (1 + 1e-9)
    assert worst > promise(delta) * 0.2  # the neighbours do strain it


def test_planted_fault_rows_that_are_not_clipped_are_caught(monkeypatch, rho_budget):
    """Without clipping and without the check of lengths, a corner row costs too much."""
    monkeypatch.setattr(centre, "clipped", lambda rows, radius: rows)
    for room in (centre, clusters):
        monkeypatch.setattr(
            room, "lattice", lambda rows: np.trunc(rows * UNIT).astype(np.int64)
        )
    make = maker("KMeans", 0, {**FACTS, "n_clusters": 3}, rho_budget)

    assert worst_loss(monkeypatch, make) > promise(0)


@pytest.mark.filterwarnings("ignore")
def test_planted_fault_bounds_from_data_are_caught(monkeypatch, rho_budget):
    """Bounds read from rows move with one row, and every other row with them."""
    make = maker("StandardScaler", 0, {"on_leak": "warn"}, rho_budget)

    assert worst_loss(monkeypatch, make, pairs=40) > promise(0)


def test_planted_fault_half_the_length_is_caught(monkeypatch, rho_budget):
    """A sum whose stated length is half of the true one is charged half."""
    make = maker("GaussianNB", 0, CLASSES, rho_budget)
    half = Replay.noisy

    def stingy(self, sums, share, *, length=UNIT, thin=None):
        return half(self, sums, share, length=Fraction(length) / 2, thin=thin)

    monkeypatch.setattr(Replay, "noisy", stingy)

    assert worst_loss(monkeypatch, make) > promise(0)


def test_every_room_adds_noise_through_the_door():
    """No module of models draws noise by itself, but for public chance."""
    drawn = {
        "spherical_noise",
        "discrete_laplace",
        "rounded_gaussian",
        "rounded_laplace",
    }
    names = [n for n in sys.modules if n.startswith("sfumato.models.")]

    users = {
        n for n in names
        if any(w in Path(sys.modules[n].__file__).read_text(encoding="utf-8") for w in drawn)
    }  # fmt: skip
    assert users == {door.__name__}


FITTED = [n for n in models.__all__ if hasattr(getattr(models, n), "fit")]


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("name", [n for n in FITTED if n != "PrivateSearchCV"])
def test_a_chunk_in_which_no_row_counts_raises_no_error(monkeypatch, name, delta):
    """Else one row more would decide whether a fit fails, for certain."""
    monkeypatch.setattr(work, "CHUNK", 4)
    x, ids = np.zeros((10, 2)), np.array([1, 2, 3, 4, *[None] * 6], object)
    kind = getattr(models, name)
    known = {"classes": [0, 1, 2], "y_bounds": (0, 1)}
    facts = {k: v for k, v in known.items() if k in kind().get_params()}

    for persons in (ids, np.full(10, None)):
        model = kind(
            epsilon="1", delta=delta, bounds=(-1, 1), rows_per_person=1, **facts,
            budget=models.ModelBudget(sf.ZCDP("1000")),
        )  # fmt: skip
        model.fit(x, np.zeros(10), privacy_ids=persons)
        assert model.privacy_claim_["unit"] == "person"


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_labels_that_are_no_class_raise_no_error(delta):
    """Even where they are all there is."""
    budget = models.ModelBudget(sf.ZCDP("1000"))
    model = models.LogisticRegression(
        "1", delta, budget=budget, bounds=(-1, 1), classes=[0, 1]
    )

    model.fit(np.zeros((10, 2)), np.full(10, 7))

    assert model.coef_.shape == (1, 2)
