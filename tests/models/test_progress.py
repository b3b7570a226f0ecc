"""Long fits tell how far they are, on a terminal only, and never change a fit."""

import io
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from sfumato import models
from sfumato.models import progress
from sfumato.models.answers import answers
from sfumato.models.progress import tick, watching
from sfumato.models.table import CHUNK


class Screen(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self):
        """Say that somebody looks."""
        return True


@pytest.fixture
def screen(monkeypatch):
    """Put a terminal in the place of the errors."""
    found = Screen()
    # pytest puts its own stream back after a fixture, so the module sees another `sys`.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=found))
    return found


def ticking(seconds):
    """Return a clock that moves at each look."""
    at = iter(np.arange(0, 1e6, seconds))
    return lambda: next(at)


def test_a_long_fit_tells_its_share(screen):
    """Nothing in the first seconds, then a growing share, then an empty line."""
    with watching("PCA", 10, clock=ticking(1)):
        for _ in range(10):
            tick()
        told = screen.getvalue()

    shares = [int(w) for w in told.replace("%", "").split() if w.isdigit()]
    assert shares == sorted(shares) and shares[-1] == 99
    assert len(shares) == 9 and "fitting PCA" in told
    assert screen.getvalue().endswith("\r")


def test_a_short_fit_says_nothing(screen):
    """Below two seconds there is no word, and no empty line."""
    with watching("PCA", 10, clock=ticking(0.1)):
        for _ in range(10):
            tick()

    assert screen.getvalue() == ""


def test_without_a_known_total_seconds_are_shown(screen):
    """The number of Newton's steps is not known beforehand."""
    with watching("LogisticRegression", clock=ticking(3)):
        tick()
        tick()

    assert "3 s so far" in screen.getvalue() and "%" not in screen.getvalue()


def test_what_is_inside_is_silent(screen):
    """The fits of a search do not tell their number."""
    with watching("PrivateSearchCV", clock=ticking(3)):
        for _ in range(3):
            with watching("LogisticRegression", 5, clock=ticking(3)):
                tick()

    assert "LogisticRegression" not in screen.getvalue()
    assert "%" not in screen.getvalue()


def test_a_long_test_of_a_foreign_model_tells_its_share(screen, monkeypatch):
    """It is asked row by row, which a forest takes long for; what it says stays the same."""
    model = SimpleNamespace(predict=lambda x: x.sum(axis=1))
    table = np.arange(12.0).reshape(6, 2)
    quiet = answers(model, "predict", table, 6, 1)
    assert screen.getvalue() == ""
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)

    told = answers(model, "predict", table, 6, 1)

    assert (told == quiet).all() and (quiet[:, 0] == table.sum(axis=1)).all()
    assert "testing SimpleNamespace: 50 %" in screen.getvalue()


def test_threads_and_pipes_see_nothing(screen, monkeypatch):
    """Several writers of one line would be noise; a file is no reader."""

    def work():
        with watching("PCA", 2, clock=ticking(5)):
            tick()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    assert screen.getvalue() == ""

    pipe = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=pipe))
    work()
    assert pipe.getvalue() == ""


def test_a_terminal_that_goes_away_ends_no_fit(screen):
    """The debit stands, so the fit must go on."""
    with watching("PCA", 2, clock=ticking(5)):
        screen.close()
        tick()


KINDS = [
    ("PCA", 0), ("PCA", "1e-5"), ("KMeans", 0), ("KMeans", "1e-5"), ("GaussianNB", 0),
    ("RandomForestClassifier", 0), ("DecisionTreeClassifier", "1e-5"),
    ("StandardScaler", 0), ("LogisticRegression", "1e-5"), ("LinearRegression", "1e-5"),
    ("AdditiveClassifier", "1e-5"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "delta"), KINDS)
def test_the_share_ends_at_the_whole(rho_budget, monkeypatch, name, delta):
    """What a fit says it will do is what it does: ticks are counted against the total."""
    seen = []

    class Counter:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

    def watched(_, total):
        seen.append(total)
        return Counter()

    ticks = []
    for module in ("work", "trees"):
        monkeypatch.setattr(f"sfumato.models.{module}.tick", lambda: ticks.append(1))
    monkeypatch.setattr("sfumato.models.estimator.watching", watched)
    kind = getattr(models, name)
    known = kind().get_params()
    facts = {"bounds": (0, 1), "classes": [0, 1], "y_bounds": (0, 1)}
    options = {k: v for k, v in facts.items() if k in known}
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(CHUNK + 5, 2)), rng.integers(0, 2, CHUNK + 5)

    kind(epsilon="1", delta=delta, budget=rho_budget, **options).fit(x, y)

    assert seen == [len(ticks)]


def test_the_line_is_off_in_tests():
    """Nobody looks here, so that no other test writes to a terminal."""
    assert not progress._is_seen()
