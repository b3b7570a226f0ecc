"""What would fail after the debit is refused before it, or does not fail."""

import contextlib
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.account import Epsilon
from sfumato.synth import LinkedSynthesizer, Synthesis, Synthesizer
from sfumato.synth.draw import draw_bins
from sfumato.synth.estimate import Noisy
from sfumato.synth.expect import _candidates, _largest
from sfumato.synth.quality import owner_quality
from sfumato.synth.run import _lean
from sfumato.synth.search import Search, _shared

SCHEMA = sf.Schema(
    {"Age": sf.Integer(0, 100), "Code": sf.Category([0, 1, 2]), "Ill": sf.Boolean()}
)
ROWS = [{"Age": i % 90, "Code": i % 3, "Ill": i % 4 == 0} for i in range(200)]


def dataset(name="d", schema=SCHEMA, rows=ROWS):
    """Return a small table."""
    return sf.Dataset(rows, schema=schema, name=name)


@pytest.mark.parametrize(
    "value",
    [np.int64(1), Decimal(1), Fraction(1), 1.0, "1", [np.int64(1), None]],
    ids=repr,
)
def test_settings_of_every_kind_of_number_can_be_saved(value, tmp_path):
    """They are written as Python's own numbers, so that JSON has them."""
    made = Synthesizer(
        forbid=[{"Code": value, "Ill": True}, {"Age": (90, float("inf")), "Ill": True}],
    ).fit(dataset(), budget=sf.Epsilon("3"))

    made.save(tmp_path / "m.synth")

    held = Synthesis.load(tmp_path / "m.synth")
    assert held.made.options == made.made.options
    assert not any(
        r["Ill"] and (r["Code"] == 1 or (r["Age"] or 0) >= 90)
        for r in held.sample(300).rows()
    )


def test_declared_tables_of_dependencies_can_be_saved(tmp_path):
    """Their keys are numbers of any kind too."""
    table = {"Code": {np.int64(0): True, Decimal(1): False}}
    made = Synthesizer(dependent={"Ill": table}).fit(dataset(), budget=sf.Epsilon("3"))

    made.save(tmp_path / "m.synth")

    rows = Synthesis.load(tmp_path / "m.synth").sample(200).rows()
    assert {(r["Code"], r["Ill"]) for r in rows} <= {
        (0, True), (1, False), (2, None), (None, None)
    }  # fmt: skip


def test_a_setting_that_is_no_value_is_refused():
    """Before anything is read."""
    with pytest.raises(sf.DeclarationError, match="no text, number"):
        Synthesizer(forbid=[{"Code": object(), "Ill": True}])


@pytest.mark.parametrize("method", ["adaptive", "oneshot", "independent"])
def test_an_enormous_price_is_fitted(method):
    """Its noise has no variance that a double can hold."""
    made = Synthesizer(method).fit(dataset(), budget=sf.Epsilon("100000"))

    assert round(made.release.total) == 200


@pytest.mark.parametrize("method", ["adaptive", "oneshot", "independent"])
@pytest.mark.parametrize("rounds", [None, 1000])
def test_the_smallest_price_that_is_taken_can_be_shared(method, rounds):
    """A price is refused before the debit, or every share of it is a whole unit."""
    made = Synthesizer(
        method, rounds=rounds, weights={"Code": "0.001", "Ill": 1000}, marginals=[("Age",)]
    )  # fmt: skip
    with pytest.raises(sf.DeclarationError, match="too little"):
        made.plan(
            dataset(), budget=Epsilon.from_units(25 * 4 * ((rounds or 60) + 1) - 1)
        )
    for _ in range(3):
        made.fit(dataset(), budget=Epsilon.from_units(25 * 4 * ((rounds or 60) + 1)))


def test_no_table_gets_nothing():
    """However unlike they are, and however little there is."""
    shares = _shared(Epsilon.from_units(12), [1e30, 1.0, 1e-30])

    assert sum(s.units for s in shares) == 12
    assert min(s.units for s in shares) >= 1


@pytest.mark.parametrize("weight", ["1e-400", "1e306", "1e400", 0, 1001])
def test_weights_that_no_double_holds_are_refused(weight):
    """They would overflow after the debit."""
    with pytest.raises(sf.DeclarationError, match=r"0\.001 to 1000"):
        Synthesizer(weights={"Age": weight})


def test_tables_that_hang_together_count_as_one_clique():
    """All pairs of twelve columns: no junction tree has room for it."""
    names = [f"c{i}" for i in range(12)]
    schema = sf.Schema({n: sf.Integer(0, 100) for n in names})
    table = dataset(schema=schema, rows=[dict.fromkeys(names, 0)])
    asked = Synthesizer(marginals=list(combinations(names, 2)))

    with pytest.raises(sf.DeclarationError, match="MB"):
        asked.plan(table, budget=sf.Epsilon("1"))


def test_a_wider_table_needs_no_less_memory():
    """The bound once fell from 5277 MB to 15 MB between 632 and 634 columns."""
    needed = []
    for count in (632, 640):
        schema = sf.Schema({f"c{i}": sf.Integer(0, 100) for i in range(count)})
        table = dataset(schema=schema, rows=[{f"c{i}": 0 for i in range(count)}])
        plan = Synthesizer(memory=100_000).plan(table, budget=sf.Epsilon("1"))
        needed.append(plan.megabytes)

    assert needed[0] < needed[1]


@pytest.mark.parametrize("ways", [2, 3])
def test_candidates_are_counted_by_kind(ways):
    """As many cells as one by one."""
    sizes = [2, 5, 5, 1, 9, 200, 200, 60]
    cells = [
        int(np.prod(t))
        for k in range(2, ways + 1)
        for t in combinations([n for n in sizes if n > 1], k)
    ]
    cells = sorted((c for c in cells if c <= 10_000), reverse=True)

    found = _candidates(sizes, ways)

    assert [c for c, many in found for _ in range(many)] == cells
    assert _largest(found, 5) == sum(cells[:5])


def test_columns_to_be_measured_must_be_made():
    """And new names must be two names."""
    for settings, words in (
        ({"columns": ["Age", "Code"], "marginals": [("Age", "Ill")]}, "not modelled"),
        ({"method": "independent", "columns": ["Age"], "marginals": [["Ill"]]}, "not modelled"),
        ({"surrogates": ["id", "id"]}, "two columns"),
    ):  # fmt: skip
        with pytest.raises(sf.DeclarationError, match=words):
            Synthesizer(**settings).plan(dataset(), budget=sf.Epsilon("1"))


def test_keys_beyond_64_bits_are_drawn():
    """The model was paid for, and no row could be drawn of it."""
    schema = sf.Schema({"Key": sf.Category([10**30, 5])})
    made = Synthesizer(complete=True).fit(
        dataset(schema=schema, rows=[{"Key": 5}] * 9), budget=sf.Epsilon("1")
    )

    assert set(made.sample(50)["Key"]) <= {5, 10**30}


def test_two_conditions_on_one_source_hold_both():
    """A column and the one that determines it, in either order."""
    keys = [f"h{i}" for i in range(60)]
    schema = sf.Schema({"H": sf.Category(keys), "R": sf.Category(["n", "s"])})
    table = {key: "ns"[i % 2] for i, key in enumerate(keys)}
    made = Synthesizer("independent", complete=True, dependent={"R": {"H": table}}).fit(
        dataset(schema=schema, rows=[{"H": "h1", "R": "s"}] * 900), budget=sf.Epsilon("5")
    )  # fmt: skip

    for where in ({"H": ["h10", "h11"], "R": "s"}, {"R": "s", "H": ["h10", "h11"]}):
        assert set(made.sample(50, where=where)["H"]) == {"h11"}
    with pytest.raises(sf.DeclarationError):
        made.sample(5, where={"H": ["h10", "h12"], "R": "s"})


def test_one_file_under_two_names_is_not_public(tmp_path):
    """Whoever gives the private file as public would publish it."""
    path = tmp_path / "t.csv"
    path.write_text("Age,Code,Ill\n1,1,true\n" * 1)
    private = sf.Dataset(path, schema=SCHEMA, name="a")
    again = sf.Dataset(str(tmp_path / "." / "t.csv"), schema=SCHEMA, name="b")
    csv = sf.Dataset(sf.CSV(path), schema=SCHEMA, name="c")

    for public in (again, csv):
        with pytest.raises(sf.DeclarationError, match="private one"):
            Synthesizer().plan(private, budget=sf.Epsilon("1"), public=public)
    rows = dataset()
    with pytest.raises(sf.DeclarationError, match="private one"):
        Synthesizer().plan(rows, budget=sf.Epsilon("1"), public=sf.Dataset(rows.source, schema=SCHEMA, name="e"))  # fmt: skip


def test_public_rows_lead_only_as_far_as_the_tree_has_room():
    """A tree of public rows across tables asked for could make one huge clique."""
    search = Search(
        sizes=(10,) * 4, unit=sf.Rows(), purse=None, count=None, noisy=[], base=[],
        weights={}, room=500,
    )  # fmt: skip
    layout = SimpleNamespace(
        grids=[SimpleNamespace(name=n) for n in "abcd"],
        options=SimpleNamespace(tables=(("b", "c"),)),
    )
    told = [(axes, np.zeros(100)) for axes in ((0, 1), (0, 2), (2, 3))]

    _lean(search, layout, told)

    assert [axes for axes, _ in search.base] == [(0, 1), (2, 3)]


def test_tables_chosen_one_by_one_fit_beside_those_asked_for():
    """Each alone has room beside them, all together would not."""
    tables = [(0, 1), (0, 2), (2, 3)]
    search = Search(
        sizes=(10,) * 4, unit=sf.Rows(), purse=None, count=None,
        noisy=[Noisy((1, 2), np.zeros(100), 1.0)], base=[], weights={}, room=500,
    )  # fmt: skip

    assert search._fitting(tables, 500) == [0, 1, 2]
    assert search._fitting(tables, 500, [(0, 1)]) == [0, 2]


def test_the_usual_number_of_rows_is_one_that_can_be_drawn():
    """Where noise makes it enormous, as many rows as are ever drawn; not an error."""
    made = Synthesizer("independent").fit(dataset(), budget=sf.Epsilon("3"))
    made.made.model.total = 1e12
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sfumato.synth.synthesis.balanced_bins",
            lambda model, rows, stream: draw_bins(
                model, asked.append(rows) or 3, stream
            ),
        )
        made.sample()

    assert asked == [100_000_000]


@pytest.mark.parametrize("rows", [0, 1])
def test_the_owner_may_judge_an_empty_table(rows):
    """Of no rows there are no classes: the table was paid for and is told anyway."""
    table = dataset(rows=pd.DataFrame(ROWS).head(rows))
    made = Synthesizer().fit(table, budget=sf.Epsilon("3"))

    found = owner_quality(made, table, target="Ill", quasi_identifiers=["Code"])

    assert found.true_rows == found.made_rows == rows
    assert (found.classes == ()) == (rows == 0)


def test_a_damaged_file_is_told_so(tmp_path):
    """Whatever byte it is that changed."""
    path = tmp_path / "m.synth"
    Synthesizer().fit(dataset(), budget=sf.Epsilon("3")).save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(
            whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        )
        with contextlib.suppress(sf.ArgumentError):
            Synthesis.load(path)


WHO = {n: sf.Unit("id", max_rows=n, max_groups=1) for n in (1, 3)}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"others": {"vist": Synthesizer(complete=True)}}, "no other table"),
        ({"weights": {"vist": 3}}, "no other table"),
        ({"weights": {"visits": 0}}, "1 to 1000"),
        ({"weights": {"": "a"}}, "1 to 1000"),
        ({"weights": {"visits": 10**30}}, "1 to 1000"),
    ],
    ids=["others", "name", "nothing", "text", "endless"],
)
def test_settings_of_linked_tables_that_go_unheard_are_refused(settings, words):
    """A slip of the pen in a name would drop its rules without a word."""
    head = dataset(
        "patients", sf.Schema({"a": sf.Boolean()}, WHO[1]), [{"id": 1, "a": True}]
    )
    other = dataset(
        "visits", sf.Schema({"b": sf.Boolean()}, WHO[3]), [{"id": 1, "b": True}]
    )

    with pytest.raises(sf.DeclarationError, match=words):
        LinkedSynthesizer(**settings).plan(
            head, {"visits": other}, budget=sf.Epsilon("1")
        )


def test_linked_tables_have_the_new_names_that_were_asked_for():
    """In each table, beside the key; they were announced, and left out of the others."""
    head = dataset("patients", sf.Schema({"a": sf.Boolean()}, WHO[1]), [{"id": 1, "a": True}])  # fmt: skip
    other = dataset("visits", sf.Schema({"b": sf.Boolean()}, WHO[3]), [{"id": 1, "b": True}])  # fmt: skip
    made = LinkedSynthesizer(
        Synthesizer(surrogates=["id", "bed"]),
        {"visits": Synthesizer(surrogates=["visit", "id"])},
    ).fit(head, {"visits": other}, budget=sf.Epsilon("2"))

    tables = made.sample(20)

    assert tables["patients"].names == ("id", "bed", "a")
    assert tables["visits"].names == ("id", "visit", "b")
    assert len(set(tables["visits"]["visit"])) == len(tables["visits"])


def test_a_column_called_like_a_borrowed_one_is_refused():
    """It would take the place of the head's, and not be made."""
    head = dataset(
        "patients", sf.Schema({"a": sf.Boolean()}, WHO[1]), [{"id": 1, "a": True}]
    )
    schema = sf.Schema({"patients.a": sf.Boolean()}, WHO[3])
    other = dataset("visits", schema, [{"id": 1, "patients.a": True}])

    with pytest.raises(sf.DeclarationError, match="borrowed"):
        LinkedSynthesizer().plan(head, {"visits": other}, budget=sf.Epsilon("1"))
