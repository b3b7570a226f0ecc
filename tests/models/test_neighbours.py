"""A row moves its own part of what is learned and tested, and no other row's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression as Plain
from sklearn.linear_model import LogisticRegression as PlainClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import sfumato as sf
from sfumato.models import (
    LogisticRegression,
    ModelBudget,
    PrivateSearchCV,
    evaluate,
    evaluate_regression,
)
from sfumato.models.declared import Keys
from sfumato.models.evaluation import _cells
from sfumato.models.given import one_column
from sfumato.models.parts import coins
from sfumato.models.residuals import _rows
from sfumato.models.search import _FINE, _Parts
from sfumato.models.table import (
    Encoder,
    Span,
    as_columns,
    first_rows,
    labels_of,
    persons_of,
)

X = np.linspace(-1, 1, 40).reshape(20, 2)
Y = (X[:, 0] > 0).astype(int)


def no_answers():
    """Return models of others that refuse a table because of one cell."""
    text = make_pipeline(OneHotEncoder(handle_unknown="error"), PlainClassifier()).fit(
        np.array([["a"], ["b"]] * 5), [0, 1] * 5
    )
    letters = np.array([["a"], ["b"]] * 10, object)
    strange = letters.copy()
    strange[3, 0] = "c"
    hole = X.copy()
    hole[3, 0] = np.nan
    return [(text, letters, strange), (PlainClassifier().fit(X, Y), X, hole)]


@pytest.mark.parametrize("case", [0, 1], ids=["an unknown key", "a missing number"])
def test_a_cell_that_another_model_refuses_fails_no_test(case):
    """One row cannot make a test fail that was paid for; it moves one cell."""
    model, rows, other = no_answers()[case]
    budget = ModelBudget("1")

    test = evaluate(model, other, Y, epsilon="1", budget=budget)

    assert test.cells.shape == (2, 20)
    moved = _cells(model, rows, Y, 20, None) - _cells(model, other, Y, 20, None)
    assert 0 < np.abs(moved).sum() <= 2


def test_a_cell_that_another_regression_refuses_fails_no_test():
    """Its row is predicted in the middle; the others as ever."""
    model, hole = Plain().fit(X, X[:, 1]), X.copy()
    hole[3, 0] = np.nan
    budget = ModelBudget("1")

    evaluate_regression(
        model, hole, X[:, 1], epsilon="1", budget=budget, y_bounds=(-1, 1)
    )

    span = Span(-1.0, 1.0)
    same = _rows(model, X, X[:, 1], span) == _rows(model, hole, X[:, 1], span)
    assert same.all(axis=1).sum() == len(X) - 1


def test_another_model_is_asked_about_each_row_alone():
    """What it says of a row cannot hang on how many others there are."""
    asked = []

    def seen(rows):
        asked.append(len(rows))
        return rows

    model = make_pipeline(FunctionTransformer(seen), PlainClassifier()).fit(X, Y)
    asked.clear()

    evaluate(model, X, Y, epsilon="1", budget=ModelBudget("1"))

    assert asked == [1] * len(X)


def test_a_search_is_tested_as_its_model():
    """A cell that is a list is refused before the debit, as of a model of its own."""
    budget = ModelBudget("9")
    found = PrivateSearchCV(
        LogisticRegression(bounds=(-1, 1), classes=[0, 1]),
        {"degree": [1, 2]},
        epsilon="1",
        budget=budget,
    ).fit(X, Y)
    rows = X.astype(object)
    rows[0, 0] = [1]

    with pytest.raises(TypeError, match="container"):
        evaluate(found, rows, Y, epsilon="1", budget=budget)

    assert budget.spent == sf.Epsilon("1")


@pytest.mark.parametrize(
    "ids",
    [
        [], ["a"], [None], ["a", "b", None], [7, 8, 9], np.arange(5), np.array([0.5, np.nan, 1]),
        np.array(["x", "y", ""]), np.array([b"x", b"\xff"]),
        pd.Series([1, 2, None], dtype="Int64"), pl.Series(["u", "v"]),
        np.array(["2020-01-01", "NaT"], "datetime64[D]"),
    ],
    ids=lambda ids: f"{type(ids).__name__} of {len(ids)}",
)  # fmt: skip
def test_every_person_has_a_coin(ids):
    """Also where each row is another one's, and where some are nobody's."""
    persons = persons_of(ids, len(ids))

    found = coins(len(ids), 0.5, persons)

    assert found.shape == (len(ids),) and found.dtype == bool


def test_a_list_of_one_row_fails_no_search():
    """Coins may leave no row for fitting; each of 60 searches has a chance of 1/2 of it."""
    model = LogisticRegression(bounds=(-1, 1), classes=[0, 1])
    budget = ModelBudget("60")

    for _ in range(60):
        PrivateSearchCV(
            model, {"degree": [1]}, epsilon="1", budget=budget, fit_share=0.5
        ).fit([[0.5, "n/a"]], [1])

    assert budget.left.units == 0


def test_an_identifier_of_bytes_that_are_no_text_fails_no_search():
    """It is a person like others; an error after the debit would tell of her."""
    ids = np.array([b"p%d" % (i // 2) for i in range(len(X))])
    ids[5] = b"\xff"
    budget = ModelBudget("1")
    model = LogisticRegression(bounds=(-1, 1), classes=[0, 1], rows_per_person=2)

    PrivateSearchCV(model, {"degree": [1, 2]}, epsilon="1", budget=budget).fit(
        X, Y, privacy_ids=ids
    )

    first = coins(len(ids), 0.5, ids)
    assert all(first[0 + k] == first[1 + k] for k in (0, 2, 6, 8))


@pytest.mark.parametrize(
    ("ids", "people"),
    [
        (["a", "a\0"], 2),
        ([True, 1], 2),
        ([7, 7.0, "7"], 1),
        (pd.Series([2**53 + 1, 2**53 + 2, None], dtype="Int64"), 2),
        (pd.Series(pd.Categorical([2**53 + 1, 2**53 + 2, None])), 2),
        (pl.Series([2**53 + 1, 2**53 + 2, None]), 2),
        (pl.Series([2**53 + 1, 2**53 + 2], dtype=pl.Int128), 2),
    ],
    ids=["NUL", "true, 1", "one", "pandas", "categories", "polars", "polars, 128 bits"],
)
def test_identifiers_keep_what_tells_them_apart(ids, people):
    """Two people of one identifier would each move the other's rows."""
    assert first_rows(persons_of(ids, len(ids)), 1).sum() == people


CASES = [
    ([True, False], [0, 1]),
    ([1, 0], [False, True]),
    ([0.5, 1.5], [0.5, 1.5]),
    ([1, 2], [1, 2]),
    ([2**53 + 1, 2**53 + 2], [2**53 + 1, 2**53 + 2]),
    (["a", "b"], ["a", "b"]),
    (["1", "2"], [1, 2]),
    ([False, True], ["false", "true"]),
]
"""Labels and classes."""


def nullable(cells):
    """Return a pandas column that may hold gaps, whatever its cells are."""
    return pd.Series(pd.array(cells))


def listed(cells):
    """Return a pandas column of categories."""
    return pd.Series(pd.Categorical(cells))


@pytest.mark.parametrize(
    "form",
    [list, pl.Series, nullable, listed],
    ids=["list", "polars", "pandas", "categories"],
)
@pytest.mark.parametrize(("labels", "classes"), CASES, ids=str)
def test_a_missing_label_changes_no_other_label(form, labels, classes):
    """It makes objects of all labels, and they are read as before."""
    known = np.unique(np.array(classes))
    alone = labels_of(one_column(form(labels)), known)

    beside = labels_of(one_column(form([*labels, None])), known)

    assert beside.tolist() == [*alone.tolist(), -1]
    assert sorted(alone) == [0, 1]


def test_a_text_among_labels_changes_no_other_label():
    """An array of texts would make texts of truth values."""
    read = labels_of(one_column([True, False, "n/a"]), np.array([False, True]))

    assert read.tolist() == [1, 0, -1]


def test_a_text_among_numbers_is_a_missing_cell():
    """In a list of rows too: it neither raises nor changes what others are."""
    encoder = Encoder((Span(0.0, 4.0), Keys((("1",),))))
    rows = [[1.0, 1], [3.0, 0]]

    one = encoder.encode(as_columns(rows, "x"), slice(None))
    more = encoder.encode(as_columns([*rows, ["n/a", 1]], "x"), slice(None))

    assert more[:2].tolist() == one.tolist()
    assert more[2].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_text_in_one_column_changes_no_key_of_another(kind):
    """Truth values and long numbers are keys, whatever the type of other columns."""
    big = 2**53 + 1
    encoder = Encoder((Keys((("true",),)), Keys(((str(big),),)), Span(0.0, 4.0)))
    clean = {"a": [True, False], "b": [big, big + 1], "c": [1.0, 3.0]}
    mixed = {**clean, "c": ["1.0", "n/a"]}
    gaps = {"a": [True, None], "b": [big, None], "c": [1.0, None]}

    read = [
        encoder.encode(as_columns(kind(t), "x"), slice(None))[0]
        for t in (clean, mixed, gaps if kind is pl.DataFrame else clean)
    ]

    assert [r.tolist() for r in read] == [[1.0, 1.0, -0.5]] * 3


def test_columns_of_every_type_of_pandas_are_read():
    """Those that can hold gaps too, and those that hold few cells."""
    kinds = ["Sparse[int]", "Int64", "int64[pyarrow]", "category", "float64", "string"]
    frame = pd.DataFrame({k: pd.Series([1, 0, 1], dtype=k) for k in kinds})
    encoder = Encoder((Span(0.0, 1.0),) * len(kinds))

    read = encoder.encode(as_columns(frame, "x"), slice(None))

    assert read.tolist() == [[1.0] * 6, [-1.0] * 6, [1.0] * 6]


def test_a_missing_category_is_a_missing_number():
    """It was read as the least whole number, hence as the lower bound."""
    cells = {"a": pd.Categorical([1, 0, None]), "b": [1, 0, 1]}
    encoder = Encoder((Span(0.0, 1.0),) * 2)

    read = encoder.encode(as_columns(pd.DataFrame(cells), "x"), slice(None))

    assert read.tolist() == [[1.0, 1.0], [-1.0, -1.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "known",
    [[1, 2], [1.5, 2], [True, False], ["a", "b"], [1, "a"], [2**70, 1], [1 + 2j, 2],
     pd.to_timedelta([1, 2]), pd.to_datetime(["2020-01-01", "2020-01-02"])],
    ids=str,
)  # fmt: skip
def test_a_gap_among_categories_changes_no_other_cell(known):
    """One row less would move every other one: durations were numbers only without one."""
    encoder = Encoder((Span(0.0, 5.0),))
    whole, gap = (
        pd.DataFrame({"x": pd.Categorical(cells, categories=known)})
        for cells in (list(known), [*known, None])
    )

    one, other = (
        encoder.encode(as_columns(table, "x"), slice(0, 2)) for table in (whole, gap)
    )

    assert np.array_equal(one, other)


PERSONS = sf.Unit("id", max_rows=3, max_groups=1)
PUBLIC = sf.Rows(neighbours="replace_one", size=20)


@pytest.mark.parametrize(
    ("unit", "options", "ids"),
    [
        (PERSONS, {}, None),
        (sf.Rows(), {"rows_per_person": 2}, np.arange(20) // 2),
        (PUBLIC, {"neighbours": "add_remove"}, None),
        (sf.Rows(), {"neighbours": "replace_one"}, None),
    ],
    ids=["rows of people", "people of rows", "two changes", "a public number"],
)
def test_a_session_pays_for_no_fit_of_another_unit(unit, options, ids):
    """An ε per row bounds nothing about a person; nothing is spent."""
    rows = [{"id": i % 10, "x": float(i % 3)} for i in range(20)]
    data = sf.Dataset(rows, schema=sf.Schema({"x": sf.Real(0, 3)}, unit), name="d")
    session = sf.Session(data, budget="9")
    model = LogisticRegression(
        "1", bounds=(-1, 1), classes=[0, 1], budget=session, **options
    )

    with pytest.raises(sf.DeclarationError, match="the budget protects"):
        model.fit(X, Y, privacy_ids=ids)
    with pytest.raises(sf.DeclarationError, match="the budget protects"):
        evaluate(
            PlainClassifier().fit(X, Y), X, Y, epsilon="1", budget=session,
            privacy_ids=ids, **options,
        )  # fmt: skip
    model.set_params(epsilon=None, budget=None)
    with pytest.raises(sf.DeclarationError, match="the budget protects"):
        PrivateSearchCV(model, {"degree": [1]}, epsilon="1", budget=session).fit(
            X, Y, privacy_ids=ids
        )

    assert session.spent.units == 0


def test_a_budget_that_declares_a_unit_pays_for_that_unit_alone():
    """As a session does; one that declares none is the owner's to answer for."""
    from sfumato.ledger import Declared

    budget = ModelBudget("2", declared=Declared("person by 'id, or, so', add_remove"))
    model = LogisticRegression(
        "1", bounds=(-1, 1), classes=[0, 1], budget=budget, rows_per_person=2
    )

    with pytest.raises(sf.DeclarationError, match="the budget protects"):
        model.fit(X, Y)
    model.fit(X, Y, privacy_ids=np.arange(20) // 2)

    assert budget.left == sf.Epsilon("1")


@pytest.mark.parametrize("odd", ["x", "0", None, 2**70])
def test_a_label_in_a_list_moves_no_other_score_of_a_search(odd):
    """A list of truth values and one text would be an array of texts, which are no labels."""
    model = LogisticRegression(
        epsilon="1", budget=ModelBudget("1"), bounds=(-1, 1), classes=[0, 1]
    ).fit(X, Y)

    def score(last):
        parts = _Parts(X, [*Y[:-1].astype(bool).tolist(), last], None, 0.5, 1)
        parts.scoring = np.arange(len(Y))
        return parts.score(model)

    assert abs(score(True) - score(odd)) <= _FINE


@pytest.mark.parametrize("odd", [0.5, 1, float("nan"), 2**70, "x", None])
def test_a_number_in_a_list_of_rows_rounds_no_key_of_another_row(odd):
    """A list with a fraction in it would be floats, which do not hold large keys."""
    keys = Encoder((Keys(((str(2**53 + 1),),)), Span(0.0, 1.0)))

    first = keys.encode(as_columns([[2**53 + 1, 1], [0, odd]], "model"), slice(None))[0]

    assert first.tolist() == [1.0, 1.0]
