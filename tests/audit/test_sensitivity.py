"""The public oracle: hostile tables made of declarations, every norm, every neighbour."""

from __future__ import annotations

from math import inf

import pytest

import sfumato as sf
from sfumato.account import ZCDP
from sfumato.audit import sensitivity
from sfumato.audit.hostile import cells, hostile_rows, hostile_tables
from sfumato.declare import query as ask
from sfumato.engine.terms import Terms
from sfumato.plan import allocate
from sfumato.plan.term import reach

COLUMNS = {
    "x": sf.Real("0.5", "2.5", step=1, missing=999),
    "n": sf.Integer(10, 20, complete=True),
    "g": sf.Category(["a", "b"]),
    "b": sf.Boolean(),
}  # fmt: skip
QUESTION = ask.Query().group_by("g").select(
    ask.count(), ask.mean("x"), ask.sum("n"), ask.histogram("x", [0.5, 1, 2.5]),
    ask.std("n"), ask.proportion("b"),
)  # fmt: skip
UNITS = [sf.Rows(), sf.Rows(neighbours="replace_one", size=768)]


@pytest.mark.parametrize("unit", UNITS, ids=lambda u: u.neighbours)
@pytest.mark.parametrize("loss", [1, ZCDP("0.1")], ids=["pure", "rho"])
def test_a_sound_question_holds_in_every_norm_and_is_tight(unit, loss) -> None:
    """No false alarm is possible; and the hostile tables reach a whole charge."""
    schema = sf.Schema(COLUMNS, unit=unit)

    found = sensitivity(QUESTION, schema, loss=loss, tables=10, pool=2)

    assert not found.violated, found
    assert found.tight, found
    assert found.pairs > 10
    assert "VIOLATED" not in str(found)


def test_a_bound_off_by_one_is_proved(monkeypatch) -> None:
    """The neighbour that proves it is part of the finding."""

    def short(aggregate, unit):
        true = reach(aggregate, unit)
        return true - 1 if true > 1 else true

    monkeypatch.setattr(allocate, "reach", short)

    found = sensitivity(QUESTION, sf.Schema(COLUMNS), tables=10, pool=2)

    assert found.violated
    assert "VIOLATED" in str(found)
    assert any(not c.holds and c.change > c.bound for c in found.changes)


def test_an_engine_that_fails_on_a_row_is_a_violation(monkeypatch) -> None:
    """No row may raise an error: the clamp forgotten, infinity cannot be cast."""
    monkeypatch.setattr(Terms, "clamped", lambda self, name: f"q_{name}_unknown")

    found = sensitivity(QUESTION, sf.Schema(COLUMNS), tables=3, pool=1)

    assert found.violated
    assert found.failures


def test_a_small_public_size_is_taken_only_where_no_claim_depends_on_it() -> None:
    """768 rows under replace-one are audited on tables of three."""
    schema = sf.Schema(COLUMNS, unit=UNITS[1])
    progress = []

    found = sensitivity(
        ask.Query().select(ask.mean("x")), schema, tables=4, pool=1,
        progress=lambda: progress.append(1),
    )  # fmt: skip

    assert not found.violated
    assert len(progress) == found.tables == 4


def test_hostile_cells_are_hostile() -> None:
    """Ends, halves, codes, missing cells and infinities; typed cells only on request."""
    for column in COLUMNS.values():
        assert None in cells(column)
        assert all(not isinstance(c, bytes) for c in cells(column, typed=True))
    assert {0.5, 2.5, 999.0, inf, -inf, 2.0, 10**400} <= set(cells(COLUMNS["x"]))

    rows = hostile_rows(sf.Schema(COLUMNS), QUESTION, 3)
    tables = list(hostile_tables(rows, 12, size=None))

    assert [] in tables
    assert any(len(t) > 1 and t[0] == t[1] for t in tables)
    assert {len(t) for t in hostile_tables(rows, 5, size=3)} == {3}


def test_no_table_is_refused() -> None:
    """An audit of nothing would pass."""
    with pytest.raises(sf.ArgumentError, match="at least one table"):
        sensitivity(QUESTION, sf.Schema(COLUMNS), tables=0)


PEOPLE = sf.Unit("who", max_rows=2, max_groups=1)


def test_people_with_many_rows_are_audited_as_a_whole(monkeypatch) -> None:
    """All rows of a person leave together; half a bound of her reach is proved wrong."""
    schema = sf.Schema(COLUMNS, unit=PEOPLE)
    query = ask.Query().group_by("g").select(ask.count(), ask.sum("n"))

    sound = sensitivity(query, schema, tables=12, pool=2)
    true = allocate.sensitivity
    monkeypatch.setattr(
        allocate, "sensitivity", lambda *a, **k: true(*a, **k) // 8 or 1
    )
    monkeypatch.setattr(allocate, "reach", lambda *a, **k: 1)
    broken = sensitivity(query, schema, tables=12, pool=2)

    assert not sound.violated, sound
    assert broken.violated


def test_a_public_number_of_people_is_refused_here() -> None:
    """Replaced people are audited by the program's own tests."""
    unit = sf.Unit("who", max_rows=2, max_groups=1, neighbours="replace_one", size=5)
    query = ask.Query().select(ask.count("x"))

    with pytest.raises(sf.DeclarationError):
        sensitivity(query, sf.Schema(COLUMNS, unit=unit), tables=2)
