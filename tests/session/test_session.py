"""The path of one question through the real engine, ledger and gate."""

import contextlib
import copy
import itertools
import json
import os
import pickle
import threading
import traceback
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import EngineError, SfumatoError
from sfumato.gate import release
from sfumato.ledger import Ledger, descriptors
from sfumato.release.once import grant
from sfumato.secret import Secret
from sfumato.testing import seeded

FRAME = pd.DataFrame({
    "glucose": [120.0, 180.0, np.nan, 90.0] * 50,
    "age": [30, 40, 50, 60] * 50,
    "outcome": [0, 1, 0, 1] * 50,
})  # fmt: skip
SCHEMA = sf.Schema({
    "glucose": sf.Real(0, 250, step=1),
    "age": sf.Integer(0, 120, complete=True),
    "outcome": sf.Category([0, 1]),
})  # fmt: skip
MUCH = "1000"  # noise is all but absent: figures can be compared with the truth


def session(frame=FRAME, schema=SCHEMA, budget="1", **kw):
    return sf.Session(
        sf.Dataset(frame, schema=schema, name="t"), budget=sf.Epsilon(budget), **kw
    )


def test_all_figures_of_one_question():
    """Every statistic, filtered and grouped, is the true one when ε is huge."""
    ask = (
        session(budget=MUCH).query().where(sf.col("age") >= 40).group_by("outcome")
        .select(sf.count(), sf.count("glucose"), sf.mean("glucose"), sf.sum("age"),
                sf.histogram("glucose", [0, 100, 200, 250]))
    )  # fmt: skip

    answer = ask.release(MUCH)

    assert [f.name for f in answer][:2] == ["count", "count"]
    assert answer.find("count", outcome=0).estimate == 50
    assert answer.find("count_glucose", outcome=0).estimate == 0
    assert answer.find("count", outcome=1).estimate == 100
    assert answer.find("mean_glucose", outcome=1).estimate == pytest.approx(
        135, abs=0.5
    )
    assert answer.find("sum_age", outcome=1).estimate == pytest.approx(5000, abs=5)
    bins = [
        f.estimate for f in answer if f.kind == "histogram" and f.group["outcome"] == 1
    ]
    assert bins == [50, 50, 0]
    assert answer.claim.epsilon == MUCH and answer.claim.neighbours == "add_remove"


def test_bc005_rows_values_and_mean_are_three_questions():
    """Count of rows, count of values, mean over values."""
    frame = pd.DataFrame({"x": [1.0, 2.0, None] * 200})
    desk = session(frame, sf.Schema({"x": sf.Real(0, 10)}), budget=MUCH)

    answer = desk.query().select(sf.count(), sf.count("x"), sf.mean("x")).release(MUCH)

    assert [round(f.estimate, 2) for f in answer] == [600, 400, 1.5]


def test_a_plan_reads_nothing_and_spends_nothing():
    """Cost and expected errors are known before anything is spent."""
    desk = session()
    plan = desk.query().select(sf.count(), sf.mean("age")).plan("0.5")

    assert str(plan.cost) == "0.5" and str(desk.left) == "1"
    assert [e.name for e in plan.expected(rows=200)] == ["count", "mean_age"]
    assert "mean_age" in str(plan) and "120" in str(plan.explain())


def test_the_debit_comes_first_and_stands():
    """An engine that fails leaves one fixed text, no cause, and the debit."""
    desk = session()
    plan = desk.query().select(sf.count()).plan("0.4")

    class Broken:
        def prepare(self, plan):
            """The statement is in order."""

        def run(self, plan):
            raise ValueError("cell 'HIV positive' of row 7")

    object.__setattr__(plan._desk, "engine", Broken())
    with pytest.raises(EngineError) as caught:
        plan.release()

    assert "HIV" not in str(caught.value) and caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert str(desk.left) == "0.6"


def test_a_statement_that_cannot_be_bound_spends_nothing(monkeypatch):
    """It is bound before the debit; the refusal has one fixed text and no cause."""
    desk = session()
    plan = desk.query().select(sf.count()).plan("0.4")
    monkeypatch.setattr(
        "sfumato.engine.render.Statement.sql",
        property(
            lambda self: "SELECT no_such_column FROM data", lambda self, sql: None
        ),
        raising=False,
    )

    with pytest.raises(sf.SourceError, match="nothing was spent") as caught:
        plan.release()

    assert "no_such_column" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert desk.spent.units == 0


def test_an_exhausted_budget_answers_nothing():
    """A refusal spends nothing and a smaller question still fits."""
    desk = session(budget="0.5")
    with pytest.raises(sf.BudgetExceededError):
        desk.query().select(sf.count()).release("0.6")

    desk.query().select(sf.count()).release("0.5")
    assert desk.left.units == 0


@pytest.mark.parametrize("epsilon", [0, "0", -1, None, float("nan"), float("inf")])
def test_bc045_no_epsilon_switches_privacy_off(epsilon):
    """Refused before data is read; the ledger is unchanged."""
    desk = session()
    with pytest.raises(sf.DeclarationError, match="epsilon"):
        desk.query().select(sf.count()).release(epsilon)

    assert desk.spent.units == 0


@pytest.mark.parametrize("confidence", [0, 1, 2, -0.5, float("nan"), None, "0.95"])
def test_an_unusable_confidence_spends_nothing(confidence):
    """Checked before the debit."""
    desk = session()
    with pytest.raises(sf.DeclarationError, match="confidence"):
        desk.query().select(sf.count()).release("0.5", confidence=confidence)

    assert desk.spent.units == 0


def test_bc055_the_order_of_questions_does_not_matter():
    """Each dataset pays for its own questions, in any order."""
    ends = set()
    for order in itertools.permutations(range(3)):
        a, b = (session(schema=SCHEMA) for _ in range(2))
        asks = [a.query().select(sf.mean("age")), a.query().select(sf.sum("age")),
                b.query().select(sf.mean("age"))]  # fmt: skip
        for i in order:
            asks[i].release("0.1")
        ends.add((str(a.spent), str(b.spent)))

    assert ends == {("0.2", "0.1")}


def test_bc063_bins_come_from_declared_edges():
    """Adding one row first renumbers nothing."""
    schema = sf.Schema({"x": sf.Real(0, 3)})
    ask = sf.Query().select(sf.histogram("x", [0, 1, 3]))
    for rows, expected in (([0.5] * 100, [100, 0]), ([2.0] + [0.5] * 100, [100, 1])):
        answer = session(pd.DataFrame({"x": rows}), schema, MUCH).ask(ask).release(MUCH)
        assert [f.estimate for f in answer] == expected


def test_bc077_the_last_edge_is_closed():
    """999 belongs to the last of ten bins; an inner edge starts its bin."""
    schema = sf.Schema({"x": sf.Integer(0, 999)})
    edges = [*range(0, 1000, 100), 999]
    desk = session(pd.DataFrame({"x": range(1000)}), schema, MUCH)

    answer = desk.query().select(sf.histogram("x", edges)).release(MUCH)

    assert [f.estimate for f in answer] == [100] * 10


def test_bc015_declared_keys_always_appear_in_order():
    """Absent keys come with noise around 0; undeclared cells make no key."""
    frame = pd.DataFrame({"g": ["a"] * 100 + ["zz"]})
    desk = session(frame, sf.Schema({"g": sf.Category(["c", "a", "b"])}), budget=MUCH)

    answers = [
        desk.query().select(sf.count()).group_by("g").release("1") for _ in range(300)
    ]

    assert {tuple(f.group["g"] for f in a) for a in answers} == {("c", "a", "b")}
    assert abs(np.mean([a.find("count", g="b").estimate for a in answers])) < 0.6


def test_bc017_a_tiny_table_has_one_unbiased_count():
    """Three rows: one number each time, right on average."""
    desk = session(FRAME.head(3), budget=MUCH)

    found = [
        desk.query().select(sf.count()).release("0.5")["count"].estimate
        for _ in range(500)
    ]

    assert abs(np.mean(found) - 3) < 7 * 2.8 / 500**0.5


@pytest.mark.parametrize("bound", ["1000", "1000000000000"])
def test_bc013_the_noise_is_what_the_bounds_imply(bound):
    """No declared row count is needed; sd is √2·U within 7 standard errors."""
    frame = pd.DataFrame({"x": [2, 7, 2, 7], "g": list("aabb")})
    schema = sf.Schema({"x": sf.Integer(0, int(bound)), "g": sf.Category(["a", "b"])})
    desk = session(frame, schema, budget=MUCH)

    found = [f.estimate for _ in range(250) for f in
             desk.query().select(sf.sum("x")).group_by("g").release("1")]  # fmt: skip

    assert np.std(found) == pytest.approx(2**0.5 * int(bound), rel=0.35)


def test_bc027_sums_beyond_64_bits_are_exact():
    """Three times 2^62 is 1.38e19, not a wrapped negative."""
    schema = sf.Schema({"x": sf.Integer(0, 2**62 - 2**10)})
    desk = session(pd.DataFrame({"x": [2**62] * 3}), schema, budget=MUCH)

    found = desk.query().select(sf.sum("x")).release(MUCH)["sum_x"].estimate

    assert found == pytest.approx(3 * 2.0**62, rel=0.05)


def test_bc079_json_holds_no_nan():
    """A public size is exact; everything else is finite."""
    fixed = sf.Schema(
        dict(SCHEMA.columns), unit=sf.Rows(neighbours="replace_one", size=200)
    )
    answer = (
        session(schema=fixed).query().select(sf.count(), sf.mean("age")).release("1")
    )

    def fail(token):
        raise AssertionError(token)

    json.loads(answer.to_json(), parse_constant=fail)
    assert (answer["count"].estimate, answer["count"].interval) == (200, (200, 200))
    assert answer["count"].noise == ()


def test_bc095_a_copied_session_shares_the_one_ledger():
    """deepcopy does not double the budget; pickling is refused."""
    desk = session()
    twin = copy.deepcopy(desk)
    desk.query().select(sf.count()).release("0.6")

    with pytest.raises(sf.BudgetExceededError):
        twin.query().select(sf.count()).release("0.6")
    with pytest.raises(SfumatoError, match="pickled"):
        pickle.dumps(desk)


def test_a_ledger_file_outlives_the_session(tmp_path):
    """A second session continues the same budget."""
    path = tmp_path / "t.ledger"
    session(ledger=path).query().select(sf.count()).release("0.7")

    assert str(session(ledger=path).left) == "0.3"


def test_a_wrong_table_leaves_no_ledger_behind(tmp_path):
    """The table is opened before the ledger is created."""
    path = tmp_path / "t.ledger"
    with pytest.raises(sf.SourceError):
        session(pd.DataFrame({"other": [1]}), ledger=path)

    assert not path.exists()


def test_releases_of_one_plan_keep_one_order():
    """Names, groups and bins are the same whatever the data."""
    ask = (
        sf.Query()
        .group_by("outcome")
        .select(sf.count(), sf.histogram("age", [0, 60, 120]))
    )
    shapes = set()
    for frame in (FRAME, FRAME.head(0), FRAME.sample(frac=1, random_state=1)):
        answer = session(frame).ask(ask).release("0.5")
        shapes.add(tuple((f.name, tuple(f.group.items()), f.bin) for f in answer))

    assert len(shapes) == 1


def test_bc093_a_seed_replays_and_is_marked():
    """BC093: equal bytes for equal seeds, and the claim says NOT PRIVATE."""
    texts = []
    for _ in range(2):
        desk = session()
        with seeded(5):
            answer = desk.query().select(sf.count(), sf.mean("age")).release("0.5")
        texts.append([(f.estimate, f.interval) for f in answer])
        assert not answer.claim.private

    assert texts[0] == texts[1]
    assert desk.query().select(sf.count()).release("0.5").claim.private


def test_the_gate_wants_the_right_receipt():
    """A receipt for another plan or amount does not open the gate."""
    desk = session()
    plan = desk.query().select(sf.count()).plan("0.5").plan
    book = Ledger(None, dataset="t", cap=sf.Epsilon("1"))
    for receipt in (book.debit(sf.Epsilon("0.4"), plan=plan.digest),
                    book.debit(sf.Epsilon("0.5"), plan="other")):  # fmt: skip
        with pytest.raises(SfumatoError, match="does not pay"):
            release(plan, Secret(((200,),)), receipt)


def used_twice(receipt, plan):
    """Release with a receipt; return how often a second release goes through."""
    twins = [receipt, copy.copy(receipt), replace(receipt), pickle.loads(pickle.dumps(receipt))]  # fmt: skip
    release(plan, Secret(((200,),)), receipt)
    made = 0
    for twin in twins:
        assert twin == receipt
        with contextlib.suppress(SfumatoError):
            release(plan, Secret(((200,),)), twin)
            made += 1
    return made


def a_paid_plan():
    """Return a receipt and the plan it pays for."""
    plan = session().query().select(sf.count()).plan("0.5").plan
    book = Ledger(None, dataset="t", cap=sf.Epsilon("1"))
    return book.debit(sf.Epsilon("0.5"), plan=plan.digest), plan


def test_a_receipt_opens_the_gate_once():
    """Neither the receipt nor any copy of it pays for a second draw of noise."""
    assert used_twice(*a_paid_plan()) == 0


def test_a_planted_second_use_is_caught(monkeypatch):
    """If the gate took no right, one debit would pay for five releases."""
    monkeypatch.setattr("sfumato.gate.take", lambda _: None)

    assert used_twice(*a_paid_plan()) == 4


def test_of_many_threads_one_uses_a_receipt():
    """Eight threads at the gate with one receipt: one release."""
    receipt, plan = a_paid_plan()
    start, made = threading.Barrier(8), []

    def work():
        start.wait()
        with contextlib.suppress(SfumatoError):
            made.append(release(plan, Secret(((200,),)), receipt))

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]

    assert len(made) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_does_not_double_a_receipt():
    """The child of a process that has paid cannot release, the parent can."""
    receipt, plan = a_paid_plan()
    pid = os.fork()
    if pid == 0:
        code = 0
        with contextlib.suppress(SfumatoError):
            release(plan, Secret(((200,),)), receipt)
            code = 1
        os._exit(code)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert release(plan, Secret(((200,),)), receipt)


def test_each_step_gets_its_own_noise(monkeypatch):
    """The gate asks for every step's own law, in order, and adds what it gets."""
    asked = []

    def echo(scale, size):
        asked.append(scale)
        return np.full(size, 7)

    def box(bounds, scale, resolution):
        asked.append((bounds, scale, resolution))
        return tuple(range(100, 100 + len(bounds)))

    ask = session().query().select(sf.mean("glucose"), sf.histogram("outcome"))
    plan = ask.plan("0.5").plan
    receipt = Ledger(None, dataset="t", cap=sf.Epsilon("1")).debit(
        plan.cost, plan=plan.digest
    )
    monkeypatch.setattr("sfumato.noise.discrete_laplace", echo)
    monkeypatch.setattr("sfumato.noise.box_noise", box)

    answer = release(plan, Secret(((10,), (20,), (30, 40))), receipt)

    joint, bins = (s.mechanism for s in plan.steps)
    assert asked == [(joint.bounds, joint.scale, joint.resolution), bins.scale]
    assert [m.values for m in answer.measurements] == [(110,), (121,), (37, 47)]


def test_what_follows_the_noise_sees_noisy_integers_only(monkeypatch):
    """Equal noisy integers give equal figures and intervals, whatever is behind them."""
    asked = (
        sf.mean("glucose"),
        sf.sum("age"),
        sf.count("glucose"),
        sf.histogram("outcome"),
    )
    plan = session().query().select(*asked).plan("0.5").plan
    receipt = Ledger(None, dataset="t", cap=sf.Epsilon("1")).debit(
        plan.cost, plan=plan.digest
    )

    def released(truth, shift):
        gate_noise = SimpleNamespace(
            default=lambda: SimpleNamespace(secure=True),
            discrete_laplace=lambda _, size: np.full(size, shift),
            box_noise=lambda bounds, *_: (shift,) * len(bounds),
        )
        monkeypatch.setattr("sfumato.gate.noise", gate_noise)
        exact = tuple((truth + i,) * p.cells for i, p in enumerate(plan.parts))
        with seeded(1):  # for the bootstrap of the intervals
            return release(plan, Secret(exact), grant(receipt))

    assert released(100, 7) == released(90, 17) == released(-900, 1007)


def test_the_owner_sees_truth_and_nobody_else():
    """The comparison holds true figures, hides them in its repr and costs nothing."""
    desk = session()
    plan = desk.query().select(sf.count(), sf.mean("age")).plan("0.5")
    answer = plan.release()

    seen = plan.compare_for_owner(answer)

    assert [row.truth for row in seen.rows] == [200, 45]
    assert "NEVER FOR PUBLICATION" in repr(seen) and "200" not in repr(seen)
    assert str(desk.left) == "0.5"


@pytest.mark.parametrize(
    ("budget", "ask", "told"),
    [
        (sf.ZCDP("1000"), {"rho": "900"}, None),
        (sf.ApproxDP("100", "1e-6"), {"epsilon": "90"}, "1e-6"),
        (sf.ApproxDP("100", "1e-6", gaussian_only=True), {"epsilon": "90"}, "1e-6"),
    ],
)
def test_budgets_in_rho_answer_with_gaussian_noise(budget, ask, told):
    """Figures are right when the loss is huge; the claim tells ε only at a δ."""
    desk = sf.Session(sf.Dataset(FRAME, schema=SCHEMA, name="t"), budget=budget)
    question = desk.query().select(
        sf.count(), sf.mean("glucose"), sf.histogram("outcome")
    )

    answer = question.release(**ask)

    assert answer["count"].estimate == pytest.approx(200, abs=3)
    assert answer["mean_glucose"].estimate == pytest.approx(130, abs=2)
    assert {m.noise.law for m in answer.measurements} <= {
        "gaussian",
        "discrete_gaussian",
    }
    assert answer.claim.measure == budget.measure
    if told is None:
        assert (answer.claim.epsilon, answer.claim.delta) == (None, "0")
    else:
        assert 89.99 < float(answer.claim.epsilon) <= 90
        assert float(answer.claim.delta) == float(told)


def test_two_halves_cost_less_than_a_whole_under_approximate_dp():
    """An ε under an (ε, δ) budget is charged as the ρ it converts to."""
    desk = sf.Session(
        sf.Dataset(FRAME, schema=SCHEMA, name="t"), budget=sf.ApproxDP("1", "1e-6")
    )
    made = 0
    with pytest.raises(sf.BudgetExceededError):
        while True:
            desk.query().select(sf.count()).release("0.5")
            made += 1

    assert made == 3


@pytest.mark.parametrize(
    ("budget", "ask", "words"),
    [
        (sf.Epsilon(1), {"rho": "0.1"}, "kept in epsilon, not in rho"),
        (sf.ZCDP(1), {"epsilon": "0.1"}, "kept in rho, not in epsilon"),
        (sf.ZCDP(1), {}, "either epsilon or rho"),
        (sf.Epsilon(1), {"epsilon": 1, "rho": 1}, "either epsilon or rho"),
        (sf.ZCDP(1), {"rho": 0}, "rho must be greater than 0"),
        (sf.ApproxDP("1", "1e-18"), {"epsilon": "1e-9"}, "less than 1e-12 of rho"),
    ],
)
def test_another_currency_is_refused(budget, ask, words):
    """One currency per budget; nothing is spent."""
    desk = sf.Session(sf.Dataset(FRAME, schema=SCHEMA, name="t"), budget=budget)
    with pytest.raises(sf.DeclarationError, match=words):
        desk.query().select(sf.count()).release(**ask)

    assert desk.spent.units == 0


@pytest.mark.filterwarnings("ignore::sfumato.account.LargeDeltaWarning")
@pytest.mark.parametrize(
    ("delta", "outcome"),
    [(0, "epsilon"), (None, "epsilon"), ("1e-7", "zcdp"), (0.01, "zcdp"), (0.1, "zcdp"),
     ("1e-5", "zcdp"), (1, None), (1.5, None), (-1e-9, None), (float("nan"), None)],
)  # fmt: skip
def test_bc047_delta_is_read_or_refused_by_name(delta, outcome):
    """0 and none mean the same; outside [0, 1) the refusal names delta and its value."""
    if outcome is not None:
        assert sf.ApproxDP("1", delta).measure == outcome
        return
    with pytest.raises(sf.DeclarationError) as caught:
        sf.ApproxDP("1", delta)

    assert "delta" in str(caught.value) and str(delta) in str(caught.value)


def test_a_request_key_replays_the_stored_answer(tmp_path):
    """Asked again, also by another session: the same release, and no second charge."""
    path = tmp_path / "t.ledger"
    ask = sf.Query().select(sf.count(), sf.mean("age"))
    first = session(ledger=path).ask(ask).release("0.3", request_key="monday")
    again = session(ledger=path).ask(ask).release("0.3", request_key="monday")

    assert first == again and first.to_json() == again.to_json()
    assert str(session(ledger=path).left) == "0.7"
    with pytest.raises(sf.LedgerError):
        session(ledger=path).ask(ask).release("0.2", request_key="monday")
    assert str(session(ledger=path).left) == "0.7"


def test_a_profile_says_wherever_it_is_printed_when_it_holds():
    """ε rounded up, the mechanisms, and the condition; also before anything is spent."""
    desk = session()
    assert str(desk.profile()).startswith("epsilon 0.0 at delta 1e-6, of 0 mechanisms")
    for _ in range(4):
        desk.query().select(sf.mean("age")).release("0.25")
    profile = desk.profile()
    told = float(str(profile).split()[1])

    assert profile.epsilon("1e-6") <= told <= 1.001 * profile.epsilon("1e-6")
    for text in (str(profile), repr(profile)):
        assert "valid only if the parameters were fixed beforehand" in text


def test_an_analysts_limit_binds_below_the_budget():
    """Charged in one transaction with the dataset's budget."""
    limit = sf.Limit("analyst", "li", sf.Epsilon("0.3"))
    desk = session(limits=[limit])
    desk.query().select(sf.count()).release("0.3")
    with pytest.raises(sf.BudgetExceededError):
        desk.query().select(sf.count()).release("0.1")

    assert str(desk.left) == "0.7"


def test_the_ledger_keeps_the_real_mechanisms(tmp_path):
    """Descriptors hold kinds and exact parameters, so that costs can be derived again."""
    path = tmp_path / "t.ledger"
    session(ledger=path).query().select(
        sf.mean("age"), sf.histogram("outcome")
    ).release("0.5")

    (entry,) = descriptors(path)

    kinds = [m["kind"] for m in json.loads(entry.descriptor)["mechanisms"]]
    assert kinds == ["k_norm", "geometric"]


def test_describe_and_repr_show_public_facts_only():
    """Nothing of the rows is shown."""
    desk = session()

    for text in (
        str(desk.describe()),
        repr(desk),
        repr(desk.query().select(sf.count())),
    ):
        assert "200" not in text and "120.0, 180" not in text
    assert "left ε 1" in str(desk.describe())


def test_a_question_that_costs_nothing_is_answered():
    """The public size alone is exact, free, and recorded at ε 0."""
    fixed = sf.Schema(
        dict(SCHEMA.columns), unit=sf.Rows(neighbours="replace_one", size=200)
    )
    desk = session(schema=fixed)

    answer = desk.query().select(sf.count()).release("0.5")

    assert (answer["count"].estimate, answer.measurements) == (200, ())
    assert answer.claim.epsilon == "0" and desk.spent.units == 0


@pytest.mark.parametrize("title", [3, None, ["a"], b"a"])
def test_a_title_that_is_no_text_spends_nothing(title):
    """Checked before the debit: a page could not be made of it."""
    desk = session()
    with pytest.raises(sf.DeclarationError, match="title"):
        desk.query().select(sf.count()).release("0.5", title=title)

    assert desk.spent.units == 0


def test_ledgers_in_memory_do_not_know_each_other():
    """Two sessions without a file, alive at once: each has a budget of its own."""
    one, other = session(), session()

    one.query().select(sf.count()).release("0.25")

    assert str(one.spent) == "0.25"
    assert str(other.spent) == "0"


def test_an_answer_with_half_a_character_is_stored_and_read(tmp_path):
    """It was paid for: a title that UTF-8 cannot hold must not lose it."""
    ask = sf.Query().select(sf.count())
    desk = session(ledger=tmp_path / "l.db")

    first = desk.ask(ask).release("0.3", title="\ud800", request_key="k")
    again = desk.ask(ask).release("0.3", title="\ud800", request_key="k")

    assert first == again and first.title == "\ud800"


def test_a_stopped_release_leaves_no_integer_in_its_traceback(monkeypatch):
    """A notebook that shows frames, or a log that keeps them, sees nothing exact."""
    desk = session()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.noise.discrete_laplace", stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        desk.query().select(sf.count()).release("0.3")

    error = stopped.value
    frames = [
        frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    assert error.__context__ is None and error.__cause__ is None
    assert frames[1:] == ["release", "release", "_answered"]
    held = [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)][1:]
    assert "200" not in repr(held)
    assert desk.left == sf.Epsilon("0.7")
