"""Work on private rows that stops, for whatever reason, takes none of them along."""

import traceback

import numpy as np
import pandas
import pytest

import sfumato as sf
import sfumato.testing
from sfumato import models
from sfumato.errors import BudgetExceededError, EngineError, SourceError
from sfumato.models.training import Order, Training
from sfumato.secret import Quiet
from sfumato.synth import Synthesizer

CELL = "Jane Doe, 31"
RNG = np.random.default_rng(7)
X, Y = RNG.random((60, 2)), RNG.integers(0, 2, 60)
TABLE = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "ill": Y})
SCHEMA = sf.Schema(
    {
        "a": sf.Real(0, 1, step="0.01"),
        "b": sf.Real(0, 1, step="0.01"),
        "ill": sf.Boolean(true=["1"], false=["0"]),
    }
)


class PanicException(BaseException):
    """What a library in Rust raises: it is no `Exception`, and quotes what it likes."""


STOPS = (KeyboardInterrupt, SystemExit, PanicException, ValueError)


def stopping(kind):
    """Return a function that fails with a cell in its frame, its words and its cause."""

    def stop(*_args, **_options):
        cell = CELL
        try:
            float(cell)
        except ValueError as error:
            raise kind(cell) from error

    return stop


def held(error):
    """Return all that an error tells: its words, and its frames below the test's."""
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__)][1:]
    told = [
        repr([f.f_code.co_name, *(v for k, v in f.f_locals.items() if k != "self")])
        for f in frames  # a session that is not finished cannot be shown
    ]
    for other in (error.__cause__, error.__context__):
        told += [] if other is None else [repr(other)]
    return " ".join([*told, repr(error), str(error)])


def session():
    return sf.Session(sf.Dataset(TABLE, schema=SCHEMA, name="t"), budget="9")


def budget():
    return models.ModelBudget("9", dataset="t")


def logistic(**options):
    return models.LogisticRegression(bounds=(0, 1), classes=[0, 1], **options)


def fit():
    logistic(epsilon=1, budget=budget()).fit(X, Y)


def search():
    pays, grid = budget(), {"degree": [1, 2]}
    models.PrivateSearchCV(logistic(), grid, epsilon=1, budget=pays).fit(X, Y)


def examine():
    with sf.testing.seeded(7):
        known = logistic(epsilon=1, budget=budget()).fit(X, Y)
    models.evaluate(known, X, Y, epsilon=1, budget=budget())


def train():
    order = Order("LogisticRegression", "ill", epsilon=1)
    Training(sf.Dataset(TABLE, schema=SCHEMA, name="t"), order, budget()).run()


def ask():
    session().query().select(sf.count()).release("1")


def synthesize():
    Synthesizer().fit(session(), epsilon="1")


PLACES = (
    (session, "engine.load._load"),
    (session, "engine.duckdb.settle"),
    (ask, "engine.answer.Answers._exact"),
    (ask, "gate._add_noise"),
    (fit, "models.estimator._work"),
    (search, "models.search._Parts"),
    (examine, "models.answers.labels_of"),
    (train, "models.cells.OpenedCells._read"),
    (train, "models.training._matrix"),
    (train, "models.estimator._work"),
    (synthesize, "engine.contingency._count"),
    (synthesize, "gate.Purse.measure"),
)


@pytest.mark.parametrize("kind", STOPS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("act", "place"), PLACES, ids=[f"{a.__name__}-{p}" for a, p in PLACES]
)
def test_what_stops_work_on_rows_carries_none_of_them(act, place, kind, monkeypatch):
    """Neither in its words nor in its frames, cause or context, whoever stopped it."""
    monkeypatch.setattr(f"sfumato.{place}", stopping(kind))

    with pytest.raises(BaseException) as stopped:
        act()

    own = issubclass(kind, KeyboardInterrupt | SystemExit)
    expected = kind if own else SourceError if act is session else EngineError
    assert type(stopped.value) is expected
    assert CELL not in held(stopped.value)


@pytest.mark.parametrize("kind", STOPS, ids=lambda kind: kind.__name__)
def test_without_the_block_the_cell_would_be_seen(kind):
    """What the test above looks at can show a cell: it is able to fail."""
    with pytest.raises(kind) as stopped:
        stopping(kind)()

    assert CELL in held(stopped.value)


def test_a_file_that_cannot_be_written_is_told_as_it_is():
    """The error of whoever keeps a model names no row, and is needed to mend it."""
    order = Order("LogisticRegression", "ill", epsilon=1)
    training = Training(sf.Dataset(TABLE, schema=SCHEMA, name="t"), order, budget())

    def keep(_model):
        raise OSError(28, "No space left on device", "model.json")

    with pytest.raises(OSError, match="No space left") as stopped:
        training.run(keep)

    names = [
        f.f_code.co_name for f, _ in traceback.walk_tb(stopped.value.__traceback__)
    ]
    assert "_run" not in names


def test_an_error_in_its_own_words_comes_through():
    """Where it is asked for; its frames do not."""
    with Quiet(BudgetExceededError) as work:
        raise BudgetExceededError("{left} is left", hint="ask for less", left="0.5")

    assert isinstance(work.stop, BudgetExceededError)
    assert work.stop.fact == "0.5 is left" and work.stop.__traceback__ is None
