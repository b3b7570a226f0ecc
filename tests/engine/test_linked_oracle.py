"""Every way one person can fill two small linked tables: what she moves at most.

Exhaustive, through the real engine: 4 ways to stand in the head times 10 ways to have up
to 3 visits, of which 2 count, beside others who stay. The bounds are those by which the
gate scales its noise.
"""

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

from sfumato.account import ZCDP, Epsilon
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Boolean, Category, Integer, Schema
from sfumato.declare.unit import Unit
from sfumato.engine import linked
from sfumato.engine.contingency import Choose, Rate, count_tables, scores
from sfumato.engine.linked import Heads, Tails, Together
from sfumato.plan.contingency import FINE, Coding, TableQuery, choice_of, noise_of

SEX = Coding("sex", count=3, missing=2, places=(0, 1))
NUMBER = Coding("visits", count=3, missing=1, edges=(0, 1, 2))
ILL = Coding("ill", count=3, missing=2, places=(0, 1))
LENT = Coding("p.sex", count=3, missing=2, places=(0, 1))
SETS = ((0,), (1,), (0, 1))
ONE, TWO = (Unit("who", max_rows=n, max_groups=1) for n in (1, 2))
HEADS = TableQuery(
    Schema({"sex": Category(["F", "M"]), "visits": Integer(0, 2)}, ONE), (SEX, NUMBER), SETS
)  # fmt: skip
TAILS = TableQuery(
    Schema({"ill": Boolean(), "p.sex": Category(["F", "M"])}, TWO), (ILL, LENT), SETS
)  # fmt: skip
STAY = ([("b", "M"), (None, "F")], [("b", True), ("c", False), (None, True)])
WAYS = [
    (heads, visits)
    for heads in ((), ("F",), ("M",), ("F", "M"))
    for size in range(4)
    for visits in combinations_with_replacement((True, False), size)
]


def counted(heads, visits):
    """Return the tables of the head and of visits when person a has these rows."""
    people = pd.DataFrame(
        [*STAY[0], *(("a", s) for s in heads)], columns=["who", "sex"]
    )
    seen = pd.DataFrame([*STAY[1], *(("a", i) for i in visits)], columns=["who", "ill"])
    head = Dataset(people, schema=Schema({"sex": Category(["F", "M"])}, ONE), name="p")
    other = Dataset(seen, schema=Schema({"ill": Boolean()}, TWO), name="visits")
    with Together(head, {"visits": other}) as together:
        one = count_tables(Heads(together, {"visits": "visits"}), HEADS)
        two = count_tables(Tails(together, "visits", {"p.sex": "sex"}), TAILS)
    return one.unseal(), two.unseal()


def moved(ways=WAYS):
    """Return, of both tables, the largest moves of counts in L1 and L2, of scores, of ratings."""
    without = counted((), ())
    most = {"head": [0.0] * 4, "visits": [0.0] * 4}
    rng = np.random.default_rng(0)
    guesses = [
        tuple(rng.integers(0, 4 * FINE, t.size) for t in tables) for tables in without
    ]
    for heads, visits in ways:
        tables = counted(heads, visits)
        for i, (name, query) in enumerate((("head", HEADS), ("visits", TAILS))):
            gap = [a - b for a, b in zip(tables[i], without[i], strict=True)]
            choose = Choose((0, 1, 2), guesses[i], (1, 3, 2), (0, 7, 5), None)
            rate = Rate((0, 1, 2), guesses[i], None)
            unit = query.schema.unit
            chosen, rated = (
                np.subtract(scores(tables[i], a, unit), scores(without[i], a, unit))
                for a in (choose, rate)
            )
            found = [
                max(np.abs(g).sum() for g in gap),
                max(np.square(g).sum() for g in gap),
                np.abs(chosen).max(),
                np.square(rated).sum(),
            ]
            most[name] = [
                max(x, float(y)) for x, y in zip(most[name], found, strict=True)
            ]
    return most


def check(ways=WAYS):
    """Hold what is moved to what the gate pays for; counts reach their bounds."""
    for name, (far, square, score, rated) in moved(ways).items():
        unit = (HEADS if name == "head" else TAILS).schema.unit
        pure, gauss = (noise_of(type_("1"), unit) for type_ in (Epsilon, ZCDP))
        assert far == pure.sensitivity == FINE * unit.max_rows
        assert square == gauss.squared_sensitivity == (FINE * unit.max_rows) ** 2
        assert score <= choice_of(Epsilon("1"), unit, size=3 * FINE).sensitivity
        asked = noise_of(ZCDP("1"), unit, tables=3, size=FINE)
        assert rated <= asked.squared_sensitivity


def test_one_person_in_all_her_ways():
    """Counts, scores and ratings of both tables stay within what noise is scaled to."""
    check()


FEW = [(("F",), (True, True, True)), (("M",), ()), ((), (True, False))]


def test_numbers_of_other_people_are_found(monkeypatch):
    """Planted: everybody is given the number of visits of the last who came."""
    right = linked._numbers

    def wrong(other, people, coding, query):
        whose, _ = other.rows(())
        return right(other, np.full_like(people, whose[whose >= 0][-1]), coding, query)

    check([*FEW, WAYS[-1]])
    monkeypatch.setattr(linked, "_numbers", wrong)

    with pytest.raises(AssertionError):
        check(FEW)


def test_facts_borrowed_of_other_people_are_found(monkeypatch):
    """Planted: who has no row in the head borrows the cells of somebody who has."""
    right = linked._Opened.rows

    def wrong(self, codings):
        people, bins = right(self, codings)
        a, c = (self.people.get(name, -2) for name in "ac")
        if any(k.column == "sex" for k in codings) and a in people:
            people, bins = (
                np.append(people, c),
                [np.append(b, b[people.tolist().index(a)]) for b in bins],
            )
        return people, bins

    monkeypatch.setattr(linked._Opened, "rows", wrong)

    with pytest.raises(AssertionError):
        check(FEW)
