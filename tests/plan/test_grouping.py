"""Public keys: declared or listed, crossed, in order; what is no key is refused."""

import math

import numpy as np
import pandas as pd
import pytest

from sfumato import (
    Boolean,
    Category,
    Dataset,
    Date,
    DeclarationError,
    Epsilon,
    Integer,
    Query,
    Schema,
    Session,
    Text,
    Unit,
    col,
    count,
    histogram,
    mean,
)
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.plan import make_plan

SCHEMA = Schema({
    "sex": Category(["F", "M"]),
    "year": Category([2024, 2025, 2026]),
    "ill": Boolean(),
    "age": Integer(0, 120),
})  # fmt: skip
ROWS = [
    {"sex": s, "year": y, "ill": i, "age": 40}
    for s, y, i in (
        ("F", 2024, True), ("F", 2024, False), ("M", 2024, True), ("F", 2026, True),
        ("X", 2024, True), ("M", None, True), ("M", 2026, None), (None, None, None),
    )
]  # fmt: skip


def groups(query):
    """Return the groups of a question about the count of rows."""
    return make_plan(query.select(count()), SCHEMA, 1).groups


def counted(query):
    """Return rows per group, once the database and the specification agree."""
    plan = make_plan(query.select(count()), SCHEMA, 1)
    expected = ReferenceEngine(ROWS).run(plan).unseal()
    with open_engine(Dataset(ROWS, schema=SCHEMA, name="t")) as engine:
        assert engine.run(plan).unseal() == expected
    return dict(zip(plan.groups, expected[0], strict=True))


def test_declared_keys_are_crossed_in_the_declared_order():
    """The first column is outermost; a Boolean is false before true."""
    assert groups(Query().group_by("ill", "sex")) == (
        (False, "F"), (False, "M"), (True, "F"), (True, "M"),
    )  # fmt: skip


def test_only_listed_combinations_are_answered_in_their_order():
    """Absent ones too; rows of unlisted ones are in no group."""
    listed = [("M", 2025), ("F", 2024), ("M", 2024)]

    found = counted(Query().group_by("sex", "year", keys=listed))

    assert list(found.items()) == [
        (("M", 2025), 0), (("F", 2024), 2), (("M", 2024), 1),
    ]  # fmt: skip


def test_listed_keys_are_crossed_with_those_of_other_calls():
    """Each call is a block of its own."""
    query = Query().group_by("sex", "year", keys=[("F", 2024), ("M", 2026)])

    found = counted(query.group_by("ill"))

    assert found == {
        ("F", 2024, False): 1, ("F", 2024, True): 1,
        ("M", 2026, False): 0, ("M", 2026, True): 0,
    }  # fmt: skip


def test_all_other_rows_have_one_group_on_request():
    """Unlisted, undeclared and missing keys: every row is in exactly one group."""
    query = Query().group_by("sex", "year", keys=[("F", 2024)], other="rest")

    assert counted(query) == {("F", 2024): 2, ("rest", "rest"): 6}
    assert counted(Query().group_by("sex", other="?")) == {
        ("F",): 3, ("M",): 3, ("?",): 2,
    }  # fmt: skip


def test_a_key_of_a_machine_type_is_the_declared_key():
    """numpy's numbers, texts and truth values are what they hold."""
    listed = [(np.int64(2026), np.str_("M"), np.bool_(True))]

    found = groups(Query().group_by("year", "sex", "ill", keys=listed))

    assert found == ((2026, "M", True),)
    assert list(map(type, found[0])) == [int, str, bool]


REFUSED = [
    (("sex",), ["F", "F"], "the key 'F' of sex is listed twice"),
    (("sex",), ["f"], "'f' is no declared key of 'sex'.*nearest declared keys: 'F'"),
    (("year",), ["2024"], "'2024' is no declared key.*nearest declared keys: 2024$"),
    (("sex",), [1], "1 is no declared key of 'sex'"),
    (("year",), [True], "True is no declared key of 'year'"),
    (("ill",), [1], "1 is no declared key of 'ill'"),
    (("ill",), ["true"], "'true' is no declared key of 'ill'.*keys: (True|False)"),
    (("year",), [2024.0], "2024.0 cannot be a key of 'year'"),
    (("year",), [math.nan], "nan cannot be a key"),
    (("sex",), [None], "None cannot be a key"),
    (("sex",), [b"F"], "b'F' cannot be a key"),
    (("sex", "year"), ["F"], r"the key 'F' has 1 parts, and the columns are sex, year"),
    (("sex",), [("F", 2024)], r"the key \('F', 2024\) has 2 parts"),
    (("sex",), [], "the list of keys of sex is empty"),
    (("sex",), "F", "must be a list, got str"),
    (("sex",), {"F", "M"}, "must be a list, got set"),
    (("sex",), {"F": 1}, "must be a list, got dict"),
    (("sex",), pd.DataFrame({"F": [1]}), "must be a list, got DataFrame"),
    (("sex",), 7, "must be a list, got int"),
    ((), [()], "no column to group by is named"),
    (("age",), [40], "column 'age' cannot group"),
    (("Sex",), ["F"], "unknown column 'Sex'.*did you mean 'sex'"),
    (("sex", "sex"), [("F", "F")], "a column groups twice"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "keys", "said"), REFUSED)
def test_what_is_no_key_is_refused_before_anything_is_spent(columns, keys, said):
    """By fact and hint; the ledger has no entry."""
    session = Session(Dataset(ROWS, schema=SCHEMA, name="t"), Epsilon(1))

    with pytest.raises(DeclarationError, match="(?s)" + said):
        session.query().group_by(*columns, keys=keys).select(count()).release(1)

    assert session.left == Epsilon(1)


@pytest.mark.parametrize(
    ("columns", "other", "said"),
    [
        (("sex",), "F", "'F' is a key of 'sex'"),
        (("year",), "2025", "'2025' is a key of 'year'"),
        (("ill",), "true", "'true' is a key of 'ill'"),
        (("sex",), "", "needs a name"),
        (("sex",), 7, "needs a name"),
        ((), "rest", "no column to group by"),
    ],
)
def test_the_group_of_other_rows_needs_a_name_of_its_own(columns, other, said):
    """A name that is a key would make two groups one."""
    with pytest.raises(DeclarationError, match=said):
        groups(Query().group_by(*columns, other=other))


@pytest.mark.parametrize("relation", [{}, {"neighbours": "replace_one", "size": 2}])
@pytest.mark.parametrize("columns", [("city",), ("sex", "city")])
def test_all_others_beside_unknown_keys_of_people_are_refused(relation, columns):
    """Several hidden keys of one person would meet in that one group."""
    schema = Schema(
        {"city": Text(), "sex": Category(["F", "M"])},
        unit=Unit("who", max_rows=2, max_groups=1, **relation),
    )
    rows = [{"city": c, "sex": "F", "who": w} for c in "ab" for w in "xy"]
    budget = Epsilon("1", "1e-6")
    session = Session(Dataset(rows, schema=schema, name="t"), budget)
    ask = session.query().group_by(*columns, other="rest").select(count())

    with pytest.raises(DeclarationError, match=r"(?s)all other rows.*public keys"):
        ask.release("0.5", delta="1e-6")

    assert session.left == budget


def test_the_release_has_all_groups_whatever_the_rows():
    """Names and order of the figures are those of the question."""
    listed = [("M", 2025), ("F", 2024)]
    names = []

    for rows in (ROWS, [], ROWS[2:3]):
        session = Session(Dataset(rows, schema=SCHEMA, name="t"), Epsilon(1))
        ask = session.query().group_by("sex", "year", keys=listed, other="rest")
        made = ask.select(count(), mean("age"), histogram("ill")).release(1)
        names.append([(f.name, dict(f.group), f.bin) for f in made])

    assert names[0] == names[1] == names[2]
    assert [n[1] for n in names[0][:3]] == [
        {"sex": "M", "year": 2025},
        {"sex": "F", "year": 2024},
        {"sex": "rest", "year": "rest"},
    ]
    assert "2 listed keys" in made.question and "rest" in made.question


def test_a_listed_key_costs_a_cell_and_no_loss():
    """The cost does not depend on how many keys are listed; too many are refused."""
    few = make_plan(Query().group_by("sex", keys=["F"]).select(count()), SCHEMA, 1)
    assert few.cost == Epsilon(1) and [p.cells for p in few.parts] == [1]

    wide = Schema({"g": Category(range(1001)), "h": Category(range(1001))})
    with pytest.raises(DeclarationError, match="1002001 cells"):
        make_plan(Query().group_by("g", "h").select(count()), wide, 1)


def test_days_group_by_a_part_of_them():
    """The refusal names what does: a day is no category."""
    schema = Schema({"visit": Date("2022-01-01", "2023-12-31")})

    with pytest.raises(
        DeclarationError, match="derive its year, month, day or weekday"
    ):
        make_plan(Query().select(count()).group_by("visit"), schema, 1)
    make_plan(
        Query().derive("m", col("visit").month()).select(count()).group_by("m"),
        schema,
        1,
    )
