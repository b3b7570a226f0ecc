"""Between rows and sums stand whole numbers of bounded length, and noise of that length."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from sfumato.account import GDP, Epsilon
from sfumato.models import centre, door, gnm
from sfumato.models.centre import widened
from sfumato.models.declared import Span
from sfumato.models.door import UNIT, deviation, lattice, noisy, products
from sfumato.models.gnm import gram, logistic, softmax
from sfumato.models.price import Pure, Rho, read_price
from sfumato.models.table import Columns, Encoder
from sfumato.models.work import Work
from sfumato.testing import seeded

anything = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.floats(allow_nan=True, allow_infinity=True),
)  # fmt: skip


@given(anything)
def test_no_row_is_longer_than_the_unit(rows):
    """Whatever the cells: lengths in exact integers, NaN and infinity included."""
    with np.errstate(all="ignore"):
        whole = lattice(rows)

    assert all(sum(v * v for v in row) <= UNIT**2 for row in whole.tolist())


@given(anything, st.floats(0.01, 3), st.floats(0.01, 2))
def test_clipped_rows_keep_their_direction_on_the_lattice(rows, radius, constant):
    """A clipped row is never lost to the check of lengths."""
    with np.errstate(all="ignore"):
        whole = lattice(
            widened(np.nan_to_num(rows, posinf=9, neginf=-9), radius, constant)
        )

    assert (whole[:, -1] > 0).all()


class Recorder:
    """Stands where the noise is added, and keeps what it was asked to protect."""

    def __init__(self, monkeypatch, *modules):
        self.calls = []
        for module in modules:
            monkeypatch.setattr(module, "noisy", self)

    def __call__(self, sums, share, *, length=UNIT, thin=None):
        self.calls.append(([int(v) for v in sums], Fraction(length), thin))
        return np.array([float(v) for v in sums])


def changes(first, second):
    """Return each statistic's change between two runs over its stated length."""
    found = []
    for (a, length, thin), (b, _, _) in zip(first, second, strict=True):
        weights = [1] * len(a) if thin is None else thin
        square = sum(t * (x - y) ** 2 for t, x, y in zip(weights, a, b, strict=True))
        found.append(Fraction(square) / length**2)
    return found


def extreme_rows(rng, n, d):
    """Return rows that lie in corners, on axes, at zero or anywhere."""
    kinds = [
        rng.choice([-1.0, 1.0], (n, d)), np.eye(d)[rng.integers(0, d, n)],
        np.zeros((n, d)), rng.uniform(-1, 1, (n, d)),
    ]  # fmt: skip
    return np.stack(kinds)[rng.integers(0, 4, n), np.arange(n)]


@pytest.mark.parametrize("outputs", [1, 3])
def test_brute_force_sensitivities_of_every_statistic_of_gnm(monkeypatch, outputs):
    """Centre, Gram matrix, gradient: a row changes each by at most its length, tightly."""
    rng, share = np.random.default_rng(5), Rho(GDP("0.1"), 1)
    loss = logistic if outputs == 1 else softmax
    worst = [Fraction(0)] * 3
    for _ in range(150):
        n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        rows = extreme_rows(rng, n, d)
        labels = rng.integers(0, max(outputs, 2), n).astype(float)
        w = rng.normal(size=(d + 1, outputs)) * 10 ** rng.uniform(-3, 3)
        middle = rng.uniform(-1, 1, d)

        def wide(part, middle=middle, d=d):
            return widened(part - middle, 0.3 * d**0.5, 0.35)

        runs = []
        for kept in (slice(None), slice(1, None)):
            record = Recorder(monkeypatch, centre, gnm)
            centre.find_centre([rows[kept]], d, share, reach=0.5, constant=0.35)
            gram(iter([wide(rows[kept])]), d + 1, share)
            work = Work(Columns(rows[kept]), Encoder((Span(-1, 1),) * d), labels[kept])
            gnm._gradient(work, wide, w, loss, share, 0.5)
            runs.append(record.calls)
        worst = list(map(max, worst, changes(*runs)))

    assert all(w <= 1 for w in worst)
    assert all(w > Fraction(9, 10) for w in worst)


def test_planted_fault_an_unclipped_gradient_is_caught():
    """A gradient of a corner row is longer than half; the check would see it."""
    row = widened(np.ones((1, 3)), 0.3, 0.35)
    length = np.linalg.norm(logistic(row @ np.full((4, 1), 50.0), np.zeros(1)) * row)

    assert length > 0.5


def test_the_noise_of_a_sum_is_that_of_its_share():
    """Deviation of both laws, over many repeatable draws; 6 standard errors."""
    with seeded(3):
        for share in (
            Pure(Epsilon("0.5"), 1),
            Pure(Epsilon("0.5"), 2),
            Rho(GDP("0.02"), 2),
        ):
            seen = np.array([noisy([0] * 4, share) for _ in range(800)]) / UNIT

            n = seen.size
            size = deviation(share, 4)
            assert seen.std() == pytest.approx(size, rel=6 * 1.2 / n**0.5)


def test_the_gram_matrix_has_symmetric_noise_of_the_right_size():
    """Entries above the diagonal have half the variance of those on it."""
    share = Rho(GDP("0.02"), 1)
    with seeded(4):
        found = [gram(iter([np.zeros((1, 3))]), 3, share) for _ in range(1500)]

    matrices = np.stack([m for m, _ in found])
    assert np.array_equal(matrices, matrices.transpose(0, 2, 1))
    assert matrices[:, 0, 0].std() == pytest.approx(found[0][1], rel=0.12)
    assert matrices[:, 0, 1].std() == pytest.approx(found[0][1] / 2**0.5, rel=0.12)


def test_counts_have_geometric_noise():
    """The law of a noisy zero is the two-sided geometric one; chi square, p > 1e-9."""
    share = Pure(Epsilon("1"), 1)
    with seeded(5):
        seen = door.counts(np.zeros(20_000, np.int64), share)

    q = np.exp(-1.0)
    values = np.arange(-5, 6)
    masses = (1 - q) / (1 + q) * q ** np.abs(values)
    counts = np.array([(seen == v).sum() for v in values])
    rest = len(seen) - counts.sum()
    expected = len(seen) * np.array([*masses, 1 - masses.sum()])
    assert stats.chisquare([*counts, rest], expected).pvalue > 1e-9


def test_a_share_for_persons_is_smaller():
    """Group privacy: ε/k and μ/k, so ρ/k²."""
    pure = read_price("0.6", 0, "add_remove", 3, persons=True).share()
    one = read_price("0.6", "1e-5", "add_remove").share()
    three = read_price("0.6", "1e-5", "add_remove", 3, persons=True).share()

    assert pure.epsilon == Epsilon("0.2")
    assert three.rho.units == one.rho.units // 9


def moved(multiply, q, outputs):
    """Return how many products of a row change when rows before or behind it go."""
    rng = np.random.default_rng(q)
    rows, weights = rng.uniform(-1, 1, (2000, q)), rng.normal(size=(q, outputs))
    whole, found = multiply(rows, weights), 0
    for cut in (1, 2, 3, 5, 7, 100, 1001, 1999):
        found += int((multiply(rows[cut:].copy(), weights) != whole[cut:]).sum())
        found += int((multiply(rows[:cut].copy(), weights) != whole[:cut]).sum())
    return found


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("q", [1, 2, 5, 9, 31])
def test_a_product_of_a_row_knows_no_other_row(q, outputs):
    """To the last bit: else one row more could move the integers of the others."""
    assert moved(products, q, outputs) == 0


def test_planted_fault_a_matrix_product_is_caught():
    """That of a library rounds a row by its place."""
    assert moved(np.matmul, 31, 4) > 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_lie_one_after_the_other(order):
    """However the table lies in memory, so that sums over a row have one order."""
    table = Columns(np.asarray(np.arange(12.0).reshape(4, 3), order=order))
    encoder = Encoder((Span(0, 12),) * 3)

    assert encoder.encode(table, slice(None)).flags.c_contiguous
    several = Columns(None, tuple(table.matrix.T))
    assert encoder.encode(several, slice(None)).flags.c_contiguous
