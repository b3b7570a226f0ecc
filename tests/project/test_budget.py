"""Budgets, limits and splits of a project file: read exactly, refused in one line."""

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.account import GDP, ZCDP, ApproxDP, Epsilon
from sfumato.errors import ProjectError
from sfumato.project import load, total_cost
from sfumato.project.spend import spends, total_of

HEAD = """\
[data]
source = "table.csv"
name = "small"
[columns.Glucose]
type = "real"
lower = 0
upper = 250
step = 1
[columns.Outcome]
type = "category"
values = [0, 1]
"""


def text(budget, *releases):
    """Return a project file; a release is its lines besides name and statistics."""
    parts = [
        f'[[releases]]\nname = "r{i}"\n{lines}\n'
        + ("" if "statistics" in lines else 'statistics = [{ mean = "Glucose" }]\n')
        for i, lines in enumerate(releases)
    ]
    return f"{HEAD}[budget]\n{budget}\n{''.join(parts)}"


def refusal(path):
    """Return the one line that a wrong file earns."""
    with pytest.raises(ProjectError) as refused:
        load(path)
    assert "\n" not in refused.value.fact
    return f"{refused.value.fact}; {refused.value.hint}"


@pytest.mark.parametrize(
    ("lines", "budget", "release", "loss"),
    [
        ('epsilon = "1"', Epsilon("1"), "epsilon = 0.5", Epsilon("0.5")),
        ('epsilon = 1\ndelta = "0"', Epsilon("1"), "epsilon = 0.5", Epsilon("0.5")),
        ('rho = "0.1"', ZCDP("0.1"), "rho = 0.02", ZCDP("0.02")),
        ("rho = 0.1\ngaussian_only = true", GDP("0.1"), 'rho = "0.02"', GDP("0.02")),
        ("epsilon = 1\ndelta = 1e-6", ApproxDP("1", "1e-6"),
         "epsilon = 0.5", ZCDP("0.006641524356")),
        ("epsilon = 1\ndelta = 1e-6", ApproxDP("1", "1e-6"),
         "rho = 0.01", ZCDP("0.01")),
        ("epsilon = 1\ndelta = 1e-6\ngaussian_only = true",
         ApproxDP("1", "1e-6", gaussian_only=True), "rho = 0.01", GDP("0.01")),
        ("epsilon = 1\ndelta = 1e-6\nthreshold_delta = 1e-7",
         ApproxDP("1", "1e-6", threshold_delta="1e-7"), "rho = 0.01", ZCDP("0.01")),
        ("epsilon = 1\nthreshold_delta = 1e-7", Epsilon("1", "1e-7"), "epsilon = 0.5",
         Epsilon("0.5")),
        ("rho = 1\nthreshold_delta = 1e-7", ZCDP("1", "1e-7"), "rho = 0.5", ZCDP("0.5")),
    ],
)  # fmt: skip
def test_budgets_in_each_currency(project, lines, budget, release, loss):
    """The file says what the Python face says, and no warning is left over."""
    found = load(project(text(lines, release)))

    assert found.budget == budget
    assert found.releases[0].loss == loss
    assert total_cost(found.releases) == loss
    assert found.releases[0].plan.measure == budget.measure


def test_a_large_delta_is_no_python_warning(project):
    """The command line tells it; warnings of Python would be English and two lines."""
    found = load(project(text("epsilon = 1\ndelta = 0.001", "rho = 0.01")))

    assert found.budget.delta_units == 10**15


@pytest.mark.parametrize(
    ("budget", "release", "line"),
    [
        ("", "epsilon = 1", "budget: either epsilon or rho must be given"),
        ("epsilon = 1\nrho = 1", "epsilon = 1", "budget: epsilon and rho are both given"),
        ("rho = 0", "rho = 1", "budget.rho: rho must be greater than 0, got 0"),
        ("rho = true", "rho = 1", "budget.rho: rho must be a finite number"),
        ('rho = "0.1 + delta 1e-9"', "rho = 1", "budget.rho: rho must be a finite"),
        ("rho = 1\ndelta = 1e-6", "rho = 1", "budget: delta goes with epsilon"),
        ("epsilon = 1\ndelta = 1", "rho = 1", "budget.delta: delta must lie in [0, 1)"),
        ("epsilon = 1\ndelta = -1e-9", "rho = 1", "budget.delta: delta must lie in"),
        ("epsilon = 1\ndelta = 1e-19", "rho = 1", "budget.delta: delta 1E-19 is below"),
        ("epsilon = 1\ngaussian_only = true", "rho = 1", "budget: Gaussian noise needs"),
        ("rho = 1\ngaussian_only = true\nthreshold_delta = 1e-9", "rho = 1",
         "budget: a Gaussian budget shows no unknown keys"),
        ("epsilon = 1", "epsilon = 1\ndelta = 1e-9",
         "releases.r0.epsilon: the budget holds no delta for unknown keys"),
        ("epsilon = 1\ndelta = 1e-9\nthreshold_delta = 1e-9", "rho = 1",
         "budget: threshold_delta 1E-9 uses up delta 1E-9"),
        ("epsilon = 1e-12\ndelta = 1e-12", "rho = 1", "leaves less than 1e-12 of rho"),
        ("epsilon = 1", "rho = 1", "releases.r0.rho: the budget is kept in epsilon"),
        ("rho = 1", "epsilon = 1", "releases.r0.epsilon: the budget is kept in rho"),
        ("epsilon = 1", "epsilon = 1\nrho = 1", "releases.r0: epsilon and rho are both"),
        ("epsilon = 1", "", 'releases.r0 has neither epsilon nor rho; write what it may '
         'cost, or let it share: budget.split = "equal"'),
        ('epsilon = 1\nsplit = "fair"', "", 'budget.split cannot be "fair"; write'),
        ('epsilon = 1\nsplit = "equal"', "epsilon = 1", "budget.split has nothing to do"),
        ('epsilon = 1\nsplit = "equal"\nratio = 0.5', "", "ratio goes with a geometric"),
        ('epsilon = 1\nsplit = "geometric"\nratio = 1', "", "budget.ratio: ratio must lie between 0 and 1, got 1"),
        ('epsilon = 1\nsplit = "equal"', "weight = 2", "releases.r0.weight has no use"),
        ('epsilon = 1\nsplit = "weighted"', "weight = 0", "releases.r0.weight: a finite"),
        ("epsilon = 1", "epsilon = 1\nweight = 2", "releases.r0.weight has no use"),
        ("epsilon = 1\nanchor = 1", "epsilon = 1", "budget.anchor must be a text"),
        ('epsilon = 1\nanchor = "a\\u0000"', "epsilon = 1", "budget.anchor is no path"),
        ("epsilon = 1\nlimit = 1", "epsilon = 1", "budget.limit is unknown; did you mean"),
        ("epsilon = 1", "epsilon = 1\nstatistics = [{ count = true, target = 0 }]",
         "releases.r0.statistics[1].target: a finite number greater than 0"),
        ("epsilon = 1", 'epsilon = 1\nstatistics = [{ count = true, target = "1" }]',
         "releases.r0.statistics[1].target: a finite number greater than 0"),
    ],
)  # fmt: skip
def test_wrong_amounts_are_refused(project, budget, release, line):
    """One line with the place, whatever is wrong; nothing of the table is read."""
    path = project(text(budget, release))
    (path.parent / "table.csv").unlink()

    assert line in refusal(path)


LIMIT = '[[budget.limits]]\nkind = "analyst"\nname = "wu"\n'


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ('[[budget.limits]]\nkind = "boss"\nname = "wu"\nepsilon = 1',
         'budget.limits[1].kind cannot be "boss"; write "analyst" or "project"'),
        ('[[budget.limits]]\nkind = "analyst"\nepsilon = 1', "budget.limits[1].name is"),
        (LIMIT + "", "budget.limits[1]: either epsilon or rho must be given"),
        (LIMIT + "rho = 1", "budget.limits[1]: the budget is kept in epsilon, not in rho"),
        (LIMIT + "epsilon = 0", "budget.limits[1].epsilon: epsilon must be greater"),
        (LIMIT + "epsilon = 1\ncap = 1", "budget.limits[1].cap is unknown"),
        (LIMIT + "epsilon = 1\n" + LIMIT + "epsilon = 1",
         'budget.limits[2]: analyst "wu" has two limits'),
    ],
)  # fmt: skip
def test_wrong_limits_are_refused(project, limit, line):
    """Each by its number, as people count."""
    assert line in refusal(project(text(f"epsilon = 1\n{limit}", "epsilon = 1")))


def test_limits_are_in_the_currency_of_the_budget(project):
    """An ε under an (ε, δ) budget is the ρ it converts to."""
    limit = LIMIT + "epsilon = 0.5"
    pure = load(project(text(f"epsilon = 1\n{limit}", "epsilon = 1"))).limits
    found = load(project(text(f"epsilon = 1\ndelta = 1e-6\n{limit}", "rho = 0.01")))

    assert pure == (sf.Limit("analyst", "wu", Epsilon("0.5")),)
    assert found.limits == (sf.Limit("analyst", "wu", ZCDP("0.006641524356")),)


def test_a_database_and_an_anchor_are_named(project):
    """An address stays as it is; an anchor lies beside the file."""
    lines = 'epsilon = 1\nledger = "postgresql://u@h/db"\nanchor = "a/b"'
    path = project(text(lines, "epsilon = 1"))
    found = load(path)

    assert found.ledger == "postgresql://u@h/db"
    assert found.anchor == path.parent / "a/b"


SPLITS = ["equal", "weighted", "geometric", "optimal"]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    "budget", ['epsilon = "1"', 'rho = "0.1"', "epsilon = 1\ndelta = 1e-6",
               "epsilon = 1\ndelta = 1e-6\nthreshold_delta = 1e-7",
               "epsilon = 1\ndelta = 1e-6\ngaussian_only = true"]
)  # fmt: skip
def test_shares_are_the_whole_to_the_last_unit(project, split, budget):
    """What is given and what is shared is exactly the cap."""
    own = "epsilon = 0.1" if budget.startswith("eps") else "rho = 0.01"
    asked = ["", own, "", 'statistics = [{ count = true }]\ngroup_by = ["Outcome"]']
    found = load(project(text(f'{budget}\nsplit = "{split}"', *asked)))

    assert total_cost(found.releases).units == found.budget.cap.units
    assert [a.shared for a in found.releases] == [True, False, True, True]
    assert [a.plan.cost for a in found.releases] == [a.loss for a in found.releases]


def test_each_split_is_its_rule(project):
    """Equal; in proportion to weights; each a share of the one before; by need."""

    def losses(split, *releases):
        found = load(project(text(f"epsilon = 1\n{split}", *releases)))
        return [str(a.loss) for a in found.releases]

    count = 'statistics = [{ histogram = "Outcome" }]'
    heavy = f"weight = 8\n{count}"
    assert losses('split = "equal"', "", "") == ["0.5", "0.5"]
    assert losses('split = "weighted"', "weight = 3", "") == ["0.75", "0.25"]
    assert losses('split = "geometric"\nratio = 0.5', "", "") == [
        "0.666666666667", "0.333333333333",
    ]  # fmt: skip
    first, second = map(float, losses('split = "geometric"', "", ""))
    assert second / first == pytest.approx(0.8)
    few, many = map(float, losses('split = "optimal"', count, heavy))
    assert many / few == pytest.approx(2, rel=1e-5)  # cube root of the weight


def test_an_optimal_split_beats_its_neighbours(project):
    """The weighted variances of two releases add up to less than at other splits."""
    releases = ['statistics = [{ histogram = "Outcome" }]', ""]
    found = load(project(text('rho = 0.1\nsplit = "optimal"', *releases)))
    from sfumato.plan import make_plan
    from sfumato.plan.weigh import weights

    def loss(units):
        whole = 0.0
        for asked, share in zip(found.releases, units):
            plan = make_plan(asked.query, found.dataset.schema, ZCDP.from_units(share))
            worth = weights([p.aggregate for p in plan.parts], plan.recipes, plan.query)
            whole += sum(w * plan.noise_of(i).variance for i, w in enumerate(worth))
        return whole

    one, two = (a.loss.units for a in found.releases)
    move = one // 20
    best = loss((one, two))
    assert best < loss((one - move, two + move))
    assert best < loss((one + move, two - move))


def test_a_free_release_gets_nothing(project):
    """A public number of rows costs nothing, so that its share goes to the others."""
    unit = '[unit]\nneighbours = "replace_one"\nsize = 600\n'
    path = project(
        unit
        + text('epsilon = 1\nsplit = "equal"', "statistics = [{ count = true }]", "")
    )
    free, paid = load(path).releases

    assert free.plan.cost.units == 0
    assert paid.loss == Epsilon("1")


MADE = '[synthetic]\n{key}\n[[models]]\nname = "m"\ntarget = "Outcome"\n'


@pytest.mark.parametrize("split", SPLITS)
def test_shares_leave_what_models_and_tables_will_spend(project, split):
    """The budget pays for all that the file asks for, to the last unit."""
    made = MADE.format(key="epsilon = 0.25") + "epsilon = 0.125\ntest_epsilon = 0.125\n"
    asked = text(f'epsilon = "1"\nsplit = "{split}"', "", "epsilon = 0.1", "")
    found = load(project(asked + made))

    assert total_cost(found.releases) == Epsilon("0.5")
    assert total_of(spends(found)) == Epsilon("1")


def test_shares_fit_the_smallest_limit(project):
    """Every release is charged to each limit: larger shares could never be spent."""
    limits = "".join(
        f'[[budget.limits]]\nkind = "{kind}"\nname = "{kind}"\nepsilon = {cap}\n'
        for kind, cap in (("analyst", 0.6), ("project", 0.9))
    )
    asked = text(f'epsilon = "1"\nsplit = "equal"\n{limits}', "", "epsilon = 0.2", "")

    assert [str(a.loss) for a in load(project(asked)).releases] == ["0.2", "0.2", "0.2"]


def test_nothing_left_to_share_is_refused(project):
    """Shares never go beyond the cap."""
    path = project(text('epsilon = 1\nsplit = "equal"', "epsilon = 1", ""))

    assert "the amounts given, 1, leave nothing of 1" in refusal(path)


@given(
    st.sampled_from(SPLITS),
    st.integers(1, 10**12),
    st.integers(1, 6),
    st.sampled_from(["epsilon", "rho"]),
)
@settings(max_examples=40, deadline=None)
def test_no_split_exceeds_the_cap(tmp_path_factory, split, units, parts, key):
    """For any cap the shares are the cap, or it is refused as too small."""
    path = tmp_path_factory.mktemp("split") / "project.toml"
    cap = Fraction(units, 10**12)
    count = "statistics = [{ count = true }]"
    path.write_text(
        text(f'{key} = "{cap}"\nsplit = "{split}"', *[count] * parts), encoding="utf-8"
    )
    if units < 10**4:  # some shares are less than a unit: the sum of a few digits
        with suppress(ProjectError):
            load(path)
        return
    found = load(path)

    assert sum(a.plan.cost.units for a in found.releases) == units
