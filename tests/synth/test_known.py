"""What is known beforehand: dependencies, earlier releases, public rows; and names."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.synth import Synthesis, Synthesizer
from sfumato.testing import seeded

WARDS = [f"W{i}" for i in range(12)]
REGION = {w: "NSEW"[i % 4] for i, w in enumerate(WARDS)}
SCHEMA = sf.Schema(
    {
        "ward": sf.Category(WARDS),
        "region": sf.Category(list("NSEW")),
        "age": sf.Integer(0, 100),
        "ill": sf.Boolean(),
        "note": sf.Text(),
    }
)


def stays(rows=4000, seed=0):
    """Return rows in which the ward tells the region, and age tells illness."""
    rng = np.random.default_rng(seed)
    wards = [WARDS[int(w)] for w in 12 * rng.random(rows) ** 2]
    ages = rng.integers(20, 90, rows)
    return [
        {"ward": w, "region": REGION[w], "age": int(a), "ill": bool(a > 60), "note": "x"}
        for w, a in zip(wards, ages)
    ]  # fmt: skip


def dataset(rows=None, name="stays"):
    """Return them as a dataset."""
    return sf.Dataset(stays() if rows is None else rows, schema=SCHEMA, name=name)


@pytest.mark.parametrize(
    "told", ["ward", {"ward": REGION}], ids=["measured", "declared"]
)
def test_a_dependency_holds_in_every_row(told, tmp_path):
    """One region for each ward, the right one where rows are many; saved and read."""
    with seeded(4):
        made = Synthesizer(dependent={"region": told}).fit(
            dataset(), budget=sf.Epsilon("3")
        )
    table = made.sample(3000, seed=1)

    met = {}
    for ward, region in zip(table["ward"], table["region"]):
        met.setdefault(ward, set()).add(region)
    assert all(len(regions) == 1 for regions in met.values())
    assert {w: {REGION[w]} for w in WARDS} == {w: met[w] for w in WARDS}
    assert table.names == ("ward", "region", "age", "ill")
    assert set(made.sample(60, where={"region": ["N", "S"]})["region"]) == {"N", "S"}
    measured = [t.columns for t in made.release.tables]
    assert (("ward", "region") in measured) is (told == "ward")
    made.save(tmp_path / "m.synth")
    read = Synthesis.load(tmp_path / "m.synth")
    assert read.release == made.release
    assert read.made.options == made.made.options
    assert read.sample(90, seed=2).to_csv() == made.sample(90, seed=2).to_csv()


@pytest.mark.parametrize("budget", [sf.Epsilon("2"), sf.ApproxDP("2", "1e-6")], ids=str)
def test_a_measured_dependency_is_paid_from_the_same_purse(budget):
    """Nothing is left, and nothing more was taken than the price."""
    session = sf.Session(dataset(), budget)

    made = Synthesizer("oneshot", dependent={"region": "ward"}).fit(
        session, None if budget.cap is None else budget.cap
    )

    loss = type(budget.cap)
    assert session.left.units == 0
    assert (
        sum(loss(t.noise.loss).units for t in made.release.tables) <= budget.cap.units
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dependent": {"age": "ward"}}, "no declared keys"),
        ({"dependent": {"region": "age"}}, "no declared keys"),
        ({"dependent": {"region": "wards"}}, "unknown column"),
        ({"dependent": {"region": 3}}, "does not say"),
        ({"dependent": {"region": {"ward": {}}}}, "does not say"),
        ({"dependent": {"region": {"ward": {"W0": "X"}}}}, "no declared key"),
        ({"dependent": {"region": {"ward": {"Q": "N"}}}}, "no declared key"),
        ({"dependent": {"region": {"ward": {"W0": "N"}}}, "complete": True}, "leaves keys"),
        ({"dependent": {"region": "ill", "ill": "region"}}, "not modelled"),
        ({"dependent": {"region": "ward"}, "forbid": [{"region": "N"}]}, "not made"),
        ({"columns": ["note"]}, "no declared keys"),
    ],
    ids=str,
)  # fmt: skip
def test_a_refusal_spends_nothing_and_has_a_hint(settings, words):
    """Whatever is wrong with a dependency is said before the debit."""
    session = sf.Session(dataset(), sf.Epsilon("1"))

    with pytest.raises(sf.DeclarationError, match=words) as caught:
        Synthesizer(**settings).fit(session, "1")

    assert caught.value.hint
    assert session.spent.units == 0


def test_texts_are_dropped_or_get_new_names():
    """Texts without declared keys are never made; a surrogate may stand in their place."""
    made = Synthesizer(surrogates=["note"]).fit(dataset(), budget=sf.Epsilon("1"))

    table = made.sample(3)

    assert table.names == ("note", "ward", "region", "age", "ill")
    assert table["note"] == ["S000001", "S000002", "S000003"]
    texts = sf.Schema({"note": sf.Text()})
    with pytest.raises(sf.DeclarationError, match="none can be made"):
        Synthesizer().plan(
            sf.Dataset([{"note": "x"}], schema=texts, name="t"), budget=sf.Epsilon("1")
        )


@pytest.mark.parametrize("method", ["adaptive", "oneshot", "independent"])
def test_an_earlier_release_goes_on(method, tmp_path):
    """Its noisy tables count; what is bought now is this release's alone; both are told."""
    session = sf.Session(dataset(), sf.ApproxDP("3", "1e-6"))
    first = Synthesizer(method).fit(session, "1")

    second = Synthesizer(method).fit(session, "1", start=first)

    assert second.made.measured[: len(first.made.measured)] == first.made.measured
    loss = sf.ZCDP
    bought = sum(loss(t.noise.loss).units for t in second.release.tables)
    assert bought <= loss(second.release.claim.loss).units
    assert second.release.start == (first.release.claim,)
    assert "goes on with an earlier release" in str(second.release)
    second.save(tmp_path / "m.synth")
    assert Synthesis.load(tmp_path / "m.synth").release == second.release
    third = Synthesizer(method).fit(session, "0.5", start=second)
    assert [c.loss for c in third.release.start] == [
        first.release.claim.loss,
        second.release.claim.loss,
    ]


def test_going_on_weighs_both_releases_by_their_precision():
    """Counts of both, inverse variances added; in the bins of the first."""
    session = sf.Session(dataset(), sf.ZCDP("1"))
    one = Synthesizer("independent", columns=["age"], complete=True)

    first = one.fit(session, rho="0.001")
    second = one.fit(session, rho="0.004", start=first)

    old, new = (np.array(m.release.tables[0].counts) for m in (first, second))
    (binning,) = second.made.binnings
    assert binning.counts == pytest.approx((old + 4 * new) / 5, abs=1e-6)
    assert binning.deviation == pytest.approx((1 / 500 + 1 / 125) ** -0.5)
    assert binning.places == first.made.binnings[0].places


def test_what_goes_on_from_a_test_seed_is_not_private(tmp_path):
    """Its model holds counts whose noise anybody can draw again; so do those after it."""
    session = sf.Session(dataset(stays(400)), sf.Epsilon("9"))
    first = Synthesizer("oneshot").fit(session, "1")
    with seeded(1):
        made = Synthesizer("oneshot").fit(session, "1", start=first)
    made.save(tmp_path / "m.synth")

    after = Synthesizer("oneshot").fit(
        session, "1", start=Synthesis.load(tmp_path / "m.synth")
    )
    last = Synthesizer("oneshot").fit(session, "1", public=after)

    claims = [one.release.claim.private for one in (first, made, after, last)]
    assert claims == [True, False, False, False]


def test_public_rows_are_a_first_guess():
    """Nothing but single columns is bought, and the dependence of the public rows stays."""
    public = dataset(stays(3000, seed=9), name="elsewhere")

    with seeded(1):
        plain = Synthesizer("independent").fit(dataset(), budget=sf.Epsilon("1"))
        made = Synthesizer("independent").fit(
            dataset(), budget=sf.Epsilon("1"), public=public
        )
        again = Synthesizer("independent").fit(
            dataset(), budget=sf.Epsilon("1"), public=made
        )

    def right(one):
        table = one.sample(2000, seed=1)
        pairs = zip(table["age"], table["ill"])
        return np.mean([ill is (age > 60) for age, ill in pairs if age is not None])

    assert right(plain) < 0.75
    assert right(made) > 0.85
    assert right(again) > 0.8
    assert made.release.claim.loss == "1"


def test_what_is_measured_corrects_the_public_rows():
    """Public rows that say the contrary are overruled where rows are many."""
    wrong = [{**r, "ill": not r["ill"]} for r in stays(3000, seed=9)]

    with seeded(1):
        made = Synthesizer(marginals=[("age", "ill")]).fit(
            dataset(), budget=sf.Epsilon("5"), public=dataset(wrong, name="elsewhere")
        )

    table = made.sample(2000, seed=1)
    pairs = zip(table["age"], table["ill"])
    assert np.mean([ill is (age > 60) for age, ill in pairs if age is not None]) > 0.85


def test_what_does_not_fit_is_refused_before_the_debit():
    """Another table, other cells, the private table as a public one."""
    session = sf.Session(dataset(), sf.Epsilon("3"))
    first = Synthesizer("independent").fit(session, "1")
    other = Synthesizer("independent").fit(
        dataset(name="other"), budget=sf.Epsilon("1")
    )
    schema = sf.Schema({"age": sf.Integer(0, 99)})
    strange = sf.Dataset([{"age": 1}], schema=schema, name="strange")

    for given, words in (
        ({"start": other}, "another table"),
        ({"public": session.desk.dataset}, "private one"),
        ({"public": dataset(stays(9))}, "private one"),
        ({"public": strange}, "declared otherwise"),
    ):
        with pytest.raises(sf.DeclarationError, match=words) as caught:
            Synthesizer("independent").fit(session, "1", **given)
        assert caught.value.hint
    with pytest.raises(sf.DeclarationError, match="other columns or cells"):
        Synthesizer("independent", cells=20).fit(session, "1", start=first)
    assert session.spent == sf.Epsilon("1")


def test_the_page_names_the_release_that_it_goes_on_with():
    """Both losses stand on the page, and noise is told in rows, of people too."""
    from sfumato.report.synthetic import synthetic_html
    from sfumato.synth.quality import owner_quality, portrait

    schema = sf.Schema(
        {n: c for n, c in SCHEMA.columns if n in ("age", "ill")},
        sf.Unit("who", max_rows=2, max_groups=1),
    )
    rows = [{**r, "who": i // 2} for i, r in enumerate(stays(600))]
    session = sf.Session(
        sf.Dataset(rows, schema=schema, name="visits"), sf.Epsilon("3")
    )
    made = Synthesizer("independent")
    first = made.fit(session, "1.25")
    second = made.fit(session, "0.5", start=first)

    page = synthetic_html(second.release, portrait(second), lang="en")

    assert "whose loss adds up: ε = 1.25" in page
    assert '<td class="n">8</td>' in page  # two rows of hers at ε = 0.25 a column
    told = Synthesizer(dependent={"region": "ward"}).fit(
        dataset(), budget=sf.Epsilon("3")
    )
    assert [c.name for c in owner_quality(told, dataset()).columns] == [
        "ward",
        "region",
        "age",
        "ill",
    ]


def test_a_first_guess_from_this_very_table_is_told():
    """A synthesis of the same rows is no public fact of others: its loss is named."""
    session = sf.Session(dataset(), sf.Epsilon("3"))
    first = Synthesizer("independent").fit(session, "1")
    other = Synthesizer("independent").fit(dataset(name="o"), budget=sf.Epsilon("1"))

    second = Synthesizer("independent").fit(session, "1", public=first)
    third = Synthesizer("independent").fit(session, "0.5", public=other)

    assert second.release.start == (first.release.claim,)
    assert third.release.start == ()
