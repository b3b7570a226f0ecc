"""Plans: exact cost, shared measurements, refusals that cost nothing."""

import re
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato import (
    Boolean,
    Category,
    DeclarationError,
    Epsilon,
    Integer,
    Query,
    Real,
    Rows,
    Schema,
    col,
    count,
    histogram,
    mean,
    median,
    proportion,
    quantile,
    std,
    variance,
)
from sfumato import (
    sum as total,
)
from sfumato.account import GDP, ZCDP, Geometric, KNorm
from sfumato.plan import (
    Bins,
    ByCount,
    ByRatio,
    CentredSum,
    CountRows,
    Direct,
    PublicSize,
    SumValues,
    bound,
    expected_errors,
    make_plan,
    sensitivity,
)
from sfumato.plan.term import squared_sensitivity

COLUMNS = {
    "glucose": Real(0, 250, step=1, missing=0),
    "bmi": Real(10, 70, complete=True),
    "age": Integer(0, 120, complete=True),
    "outcome": Category([0, 1]),
    "smoker": Boolean(),
}
SCHEMA = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=768))
STATISTICS = st.sampled_from([
    count(), count("glucose"), mean("glucose"), mean("bmi"), mean("age"), mean("smoker"),
    total("glucose"), total("age"), histogram("age", [0, 30, 60, 120]),
    histogram("outcome"), mean("bmi", weight=9), count("outcome"),
    variance("bmi"), std("age"), proportion("outcome", 1), proportion("smoker"), std("smoker"), median("age"), quantile("bmi", "0.9"),
])  # fmt: skip
QUERIES = st.builds(
    lambda s, g, f: (
        ((f and Query().where(col("age") >= 30)) or Query()).group_by(*g).select(*s)
    ),
    st.lists(STATISTICS, min_size=1, max_size=6),
    st.sampled_from([(), ("outcome",), ("outcome", "smoker")]),
    st.booleans(),
)


@given(QUERIES, st.integers(10**6, 10**13), st.sampled_from([SCHEMA, FIXED]))
def test_a_plan_costs_exactly_what_was_offered(query, units, schema):
    """Never more nor less, whatever the split; nothing when all is public."""
    plan = make_plan(query, schema, Epsilon.from_units(units))

    assert plan.cost.units == (units if plan.steps else 0)
    assert all(s.mechanism.scale > 0 for s in plan.steps)


@given(
    QUERIES, st.integers(10**6, 10**12), st.sampled_from([SCHEMA, FIXED]), st.booleans()
)
def test_a_plan_of_rho_costs_exactly_what_was_offered(query, units, schema, gaussian):
    """Gaussian steps: charges sum exactly; each variance follows from its charge."""
    kind = GDP if gaussian else ZCDP
    plan = make_plan(query, schema, kind.from_units(units))

    assert plan.cost == kind.from_units(units if plan.steps else 0)
    for step in plan.steps:
        noise = step.mechanism
        assert noise.law == "whole"
        rho = Fraction(plan.charge(step).units, 10**12)
        assert 2 * rho * noise.variance == noise.squared_sensitivity


@pytest.mark.parametrize(
    ("aggregate", "groups", "add", "replace"),
    [
        (CountRows(), 1, 1, 1),
        (CountRows(), 3, 1, 2),
        (CentredSum("x", -3, 7), 1, 100, 400),
        (CentredSum("x", -3, 7), 3, 100, 400),
        (SumValues("x", 2, 7), 1, 49, 49),
        (SumValues("x", 2, 7), 2, 49, 98),
        (SumValues("x", -3, 7), 2, 49, 100),
        (Bins("x", (0.0, 1.0, 2.0), 2), 3, 1, 2),
    ],
)
def test_squared_l2_sensitivities_by_hand(aggregate, groups, add, replace):
    """Two rows in one cell, or in two: the larger change counts."""
    one = squared_sensitivity(aggregate, Rows(), groups=groups)
    other = squared_sensitivity(aggregate, FIXED.unit, groups=groups)

    assert (one, other) == (add, replace)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(QUERIES)
def test_plans_are_values(query):
    """The same question makes the same plan, and its digest tells plans apart."""
    one, two = make_plan(query, SCHEMA, 1), make_plan(query, SCHEMA, "1.0")

    assert one == two and one.digest == two.digest
    assert one.digest != make_plan(query, SCHEMA, 2).digest


def test_bc053_copies_of_a_statistic_are_one_draw():
    """BC053: twenty sums in one request are one measurement at the whole cost."""
    plan = make_plan(Query().select(*[total("age")] * 20), SCHEMA, "1")

    assert len(plan.steps) == 1
    assert str(plan.cost) == "1"
    assert [s.name for s in plan.query.statistics][:3] == [
        "sum_age",
        "sum_age_2",
        "sum_age_3",
    ]


def test_means_share_what_they_can():
    """Means of complete columns share one count of rows; a sum follows from its mean."""
    plan = make_plan(
        Query().select(mean("bmi"), mean("age"), total("age"), count()), SCHEMA, 1
    )

    assert [type(p.aggregate) for p in plan.parts] == [
        CentredSum,
        CountRows,
        CentredSum,
    ]
    assert plan.recipes == (ByRatio(0, 1), ByRatio(2, 1), ByCount(2, 1), Direct(1))


def test_every_part_is_measured_once():
    """Steps cut the parts into classes; joint steps hold no histogram."""
    ask = Query().select(mean("bmi"), mean("glucose"), histogram("outcome"), count())
    plan = make_plan(ask.group_by("smoker"), SCHEMA, 1)

    measured = sorted(part for step in plan.steps for part in step.parts)
    assert measured == list(range(len(plan.parts)))
    for step in plan.steps:
        if isinstance(step.mechanism, KNorm):
            aggregates = [plan.parts[p].aggregate for p in step.parts]
            assert step.mechanism.bounds == tuple(map(bound, aggregates))
            assert not any(isinstance(a, Bins) for a in aggregates)


def test_joint_noise_beats_noise_apart():
    """Six means: the chosen arrangement has a third of the variance of Laplace noise."""
    columns = {f"x{i}": Integer(0, 100, complete=True) for i in range(6)}
    plan = make_plan(Query().select(*map(mean, columns)), Schema(columns), 1)

    (step,) = plan.steps
    apart = 2 * (6 + 1) ** 2 * 100**2  # ε split evenly over seven geometric draws
    assert plan.noise_of(0).variance < apart / 3
    assert len(step.parts) == 7


def test_a_huge_epsilon_draws_apart():
    """Where noise is below one step, joint draws gain nothing and are not used."""
    plan = make_plan(Query().select(mean("glucose"), count()), SCHEMA, 1000)

    assert all(isinstance(s.mechanism, Geometric) for s in plan.steps)


def test_bc061_a_public_size_is_free_and_a_mean_of_it_is_not():
    """BC061: under replace-one the count costs nothing and the mean costs all."""
    free = make_plan(Query().select(count()), FIXED, 1)
    paid = make_plan(Query().select(count(), mean("age")), FIXED, 1)

    assert (free.recipes, free.cost.units) == ((PublicSize(),), 0)
    assert str(paid.cost) == "1" and paid.recipes[1] == ByRatio(0, None)


def test_bc059_noise_never_depends_on_the_data():
    """A plan is made without rows: scales come from schema, unit and ε alone."""
    plan = make_plan(Query().select(mean("bmi")), SCHEMA, 1)

    assert [s.mechanism.bounds for s in plan.steps] == [(COLUMNS["bmi"].width, 1)]


@pytest.mark.parametrize(
    ("aggregate", "groups", "add", "replace"),
    [
        (CountRows(), 1, 1, 1),
        (CountRows(), 3, 1, 2),
        (CentredSum("x", -3, 7), 1, 10, 20),
        (SumValues("x", -3, 7), 1, 7, 10),
        (SumValues("x", 2, 7), 1, 7, 7),
        (SumValues("x", 2, 7), 2, 7, 14),
        (SumValues("x", -9, -2), 1, 9, 9),
        (Bins("x", (0.0, 1.0, 2.0), 2), 1, 1, 2),
    ],
)
def test_sensitivities_by_hand(aggregate, groups, add, replace):
    """A few values worked out on paper; the oracle checks them all on the engine."""
    one = sensitivity(aggregate, Rows(), groups=groups)
    other = sensitivity(aggregate, FIXED.unit, groups=groups)

    assert (one, other) == (add, replace)


def test_the_cube_root_rule_minimises_the_weighted_variance():
    """No shift of ε between two steps lowers Σ w·(Δ/ε)²."""
    plan = make_plan(Query().select(count(weight=8), histogram("outcome")), SCHEMA, 1)
    a, b = (float(s.mechanism.cost) for s in plan.steps)

    assert a / b == pytest.approx(2, rel=1e-6)

    def loss(x):
        return 8 / x**2 + 1 / (1 - x) ** 2

    assert loss(a) <= min(loss(a * 1.01), loss(a * 0.99))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Query(), "no statistic"),
        (Query().select(mean("Glucose")), "did you mean 'glucose'"),
        (Query().select(mean("outcome")), "no sum or mean"),
        (Query().select(histogram("age")), "public edges"),
        (Query().select(histogram("outcome", [0, 1])), "takes no edges"),
        (Query().select(count()).group_by("age"), "no declared keys"),
        (Query().select(count()).group_by("outcome", "outcome"), "groups twice"),
        (Query().select(count()).where(col("outcome") == 2), "declared key"),
        (Query().select(count()).where(col("outcome") > 0), "declared key"),
        (Query().select(count()).where(col("age") == "old"), "finite number"),
        (Query().select(count()).where(col("age") > float("nan")), "finite number"),
        (Query().select(count()).where(col("smoker") == 1), "True"),
        (Query().select(count()).where(~(col("nobody") > 1)), "unknown column"),
    ],
)
def test_questions_that_do_not_fit_are_refused(query, words):
    """One clear error each, before anything is read or spent."""
    with pytest.raises(DeclarationError) as caught:
        make_plan(query, SCHEMA, 1)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Real(), lambda: Real(0), lambda: Real(5, 5), lambda: Real(9, 1),
        lambda: Real(0, float("nan")), lambda: Real(float("nan"), 10),
        lambda: Real(float("inf"), float("inf")), lambda: Real(float("-inf"), 10),
        lambda: Real(0, 1e308), lambda: Real(-1e308, 1e308), lambda: Real("a", 1),
        lambda: Real(0, 1, step=0), lambda: Real(0, 1, step=-1), lambda: Real(0, 1, step=3),
        lambda: Real(0, 1, step=1e-30), lambda: Real(0, 1, missing="n/a"),
        lambda: Integer(0, 0.4), lambda: Category([]), lambda: Category([1, "1"]),
        lambda: Category([0.5]), lambda: Category([None]), lambda: Category([True, False]),
        lambda: Boolean(true="yes"), lambda: Boolean(true="a", false="a"),
        lambda: Schema({}),
        lambda: Schema(None),
        lambda: Schema(["a"]),
        lambda: Category(0.5),
        lambda: Category(None), lambda: Schema({"a": int}), lambda: Rows(size=3),
        lambda: Rows(neighbours="replace_one"), lambda: Rows(neighbours="other"),
        lambda: Rows(neighbours="replace_one", size=0),
        lambda: histogram("a", [1]), lambda: histogram("a", [1, 1]),
        lambda: histogram("a", [0, float("nan")]), lambda: count(weight=0), lambda: count(weight="1e51"), lambda: count(weight=10**400),
        lambda: mean("a", weight="-1"), lambda: Query().select("count"),
        lambda: Query().where(True), lambda: bool(col("a") > 1), lambda: col("a") > None,
        lambda: (col("a") > 1) & 3, lambda: Real(0, 1, step="1e-399"),
        lambda: Real(0, 1, step="1e399"), lambda: Real(0, 1, missing="1e399"),
        lambda: Real(5e-324, 1e-323), lambda: Real(1e16 + 2, 1e16 + 4),
        lambda: histogram("a", ["0", "1e399"]),
    ],
)  # fmt: skip
def test_declarations_that_say_nothing_are_refused(make):
    """BC007, BC009, BC035 and kin: each refusal has a hint that says what to write."""
    with pytest.raises(DeclarationError) as caught:
        make()

    assert len(caught.value.hint) > 10


def test_bounds_are_asked_for():
    """BC009, BC065: without bounds there is no sensitivity, so no answer."""
    with pytest.raises(DeclarationError, match="bound must be a finite number"):
        Real()


@given(
    st.floats(-1e50, 1e50), st.floats(-1e50, 1e50),
    st.one_of(st.none(), st.floats(1e-6, 1e6)),
)  # fmt: skip
def test_a_declared_grid_fits_64_bits(a, b, step):
    """Whatever is declared is refused or has grid numbers within 64-bit integers."""
    try:
        column = Real(min(a, b), max(a, b), step=step)
    except DeclarationError:
        return

    assert column.width >= 1
    assert max(abs(column.first), abs(column.last)) <= 2**62
    if step is None:
        assert column.width <= 2**30 + 1


def test_the_expected_error_is_computed_without_data():
    """BC079: zero for the exact part, finite for the rest, exact for a count."""
    plan = make_plan(
        Query().select(count(), mean("age"), total("age"), histogram("outcome")),
        SCHEMA,
        1,
    )
    errors = {e.name: e for e in expected_errors(plan, rows=768)}
    public = expected_errors(make_plan(Query().select(count()), FIXED, 1))

    assert errors["count"].error == plan.noise_of(0).error(0.95)
    assert 0 < errors["mean_age"].mean_absolute < errors["mean_age"].error < 10
    assert errors["mean_age"].rows == 768 and errors["count"].rows is None
    assert (public[0].error, public[0].mean_absolute) == (0, 0)


def test_weights_move_the_split():
    """A figure that matters far more is measured on its own, with more of the ε."""
    ask = Query().select(mean("bmi", weight=1000), mean("age"), count())
    plain, heavy = (
        make_plan(q, SCHEMA, 1)
        for q in (Query().select(mean("bmi"), mean("age"), count()), ask)
    )

    assert heavy.noise_of(0).variance < 0.8 * plain.noise_of(0).variance
    assert heavy.noise_of(2).variance > plain.noise_of(2).variance


def test_too_many_cells_are_refused():
    """A cross product of keys beyond a million cells is refused beforehand."""
    keys = {f"k{i}": Category(range(100)) for i in range(4)}

    with pytest.raises(DeclarationError, match="cells"):
        make_plan(Query().select(count()).group_by(*keys), Schema(keys), 1)


@pytest.mark.parametrize("level", [0, 1, -1, 2, "nan", float("inf"), None, "x"])
def test_a_quantile_has_a_level_between_0_and_1(level):
    """The smallest and the largest value hang on one row; they cannot be asked."""
    with pytest.raises(DeclarationError, match="must lie between 0 and 1"):
        quantile("age", level)


@pytest.mark.parametrize("column", ["outcome", "smoker"])
def test_what_is_no_number_has_no_quantile(column):
    """A category has no order."""
    with pytest.raises(DeclarationError, match="has no quantiles"):
        make_plan(Query().select(median(column)), SCHEMA, 1)


@pytest.mark.parametrize("column", ["outcome"])
def test_a_category_has_no_spread(column):
    """Nor a distance."""
    for statistic in (variance(column), std(column)):
        with pytest.raises(DeclarationError, match="is a category"):
            make_plan(Query().select(statistic), SCHEMA, 1)


def test_quantiles_of_a_column_share_one_tree():
    """More of them cost nothing; a tree has at most 256 leaves under 16 nodes."""
    asked = [median("bmi"), quantile("bmi", "0.1"), quantile("bmi", 0.9)]
    plan = make_plan(Query().select(*asked), SCHEMA, 1)

    assert [p.cells for p in plan.parts] == [256, 16] or plan.parts[0].cells <= 256
    assert len(plan.parts) == 2
    assert {r.levels for r in plan.recipes} == {(0, 1)}


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (proportion("outcome"), "the share of which key of 'outcome'"),
        (proportion("outcome", 2), "2 is no declared key"),
        (proportion("outcome", True), "True is no declared key"),
        (proportion("smoker", "yes"), "'smoker' is true or false; 'yes' is neither"),
        (proportion("age", 3), "'age' is a number; it has no share"),
        (proportion("smokers"), "unknown column 'smokers'"),
    ],
)
def test_a_share_is_of_a_declared_key(statistic, said):
    """What is not declared is refused, never read from the rows."""
    with pytest.raises(DeclarationError, match=re.escape(said)):
        make_plan(Query().select(statistic), SCHEMA, 1)


def test_the_share_of_true_is_the_mean_of_a_boolean():
    """One measurement answers both."""
    plan = make_plan(
        Query().select(
            mean("smoker"), proportion("smoker"), proportion("smoker", True)
        ),
        SCHEMA,
        1,
    )

    assert set(plan.recipes) == {ByRatio(0, 1)}


def test_many_groups_times_many_keys_are_refused_at_once():
    """The size is known before anything of that size is built."""
    wide = Schema({n: Category(range(200)) for n in "abcdefgh"})
    for query in (
        Query().group_by("a", "b", "c").select(proportion("d", 1)),
        Query().group_by(*"abcdefgh").select(count()),
    ):
        with pytest.raises(DeclarationError, match="cells; at most"):
            make_plan(query, wide, 1)


def test_a_filter_without_end_is_refused_in_words():
    """Counted without recursion, before anything is walked or spent."""
    long = col("age") > 1
    for _ in range(5000):
        long = long & (col("age") > 1)

    with pytest.raises(DeclarationError, match="more than 400 conditions"):
        make_plan(Query().where(long).select(count()), SCHEMA, 1)
