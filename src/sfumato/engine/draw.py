"""Which of a person's groups count, where keys are unknown: the first ones by a hash.

Formal guarantee: the groups kept are a function of the person's own rows, of the question
and of nothing else, and there are at most ``max_groups`` of them. So a person moves at
most so many keys, each by what her rows in it come to, whatever the hash is; that is all
a threshold needs (``docs/proofs/thresholds.md``). The hash only keeps keys from being
favoured: it is salted with the question, and differs from person to person.

The text that is hashed gives each of its parts with its length before it, so no two
groups of a person have the same text. Should the hash of two be the same, the keys
themselves decide; each group has a place of its own, so none is ever let in beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5

from sfumato.declare.schema import Key, Text
from sfumato.declare.unit import Unit
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Floating, Truth, Whole
from sfumato.engine.terms import Terms
from sfumato.plan import Plan

__all__ = ["nth", "order"]


def order(plan: Plan, person: str, group: Sequence[Key]) -> tuple[str, ...]:
    """Return what a person's groups are sorted by: the hash, then the keys.

    Examples:
        >>> from sfumato.declare.query import Query, count
        >>> from sfumato.declare.schema import Schema
        >>> from sfumato.declare.unit import Unit
        >>> from sfumato.account import Epsilon
        >>> from sfumato.plan import make_plan
        >>> schema = Schema({"City": Text()}, Unit("id", max_rows=1, max_groups=1))
        >>> ask = Query().group_by("City").select(count())
        >>> plan = make_plan(ask, schema, Epsilon("1", "1e-6"))
        >>> len(order(plan, "7", ("Bonn",))[0])
        32
    """
    texts = [
        str(key) if isinstance(column, Text) else str(column.values.index(key))
        for key, (_, column) in zip(group, plan.grouping.columns, strict=True)
    ]
    parts = plan.salt + "".join(f"{len(t)}:{t}" for t in (person, *texts))
    hashed = md5(parts.encode(), usedforsecurity=False)
    return hashed.hexdigest(), *texts


def nth(plan: Plan, terms: Terms, dialect: Dialect) -> str:
    """Return SQL for the place, from 1, of a group among those of its person.

    Over columns ``u`` and ``k0``, ``k1``, …, each combination of which stands once.
    """
    texts = [_person(terms, dialect)]
    for i, (name, column) in enumerate(plan.grouping.columns):
        place = terms.place_of(name, f"k{i}") if not isinstance(column, Text) else ""
        texts.append(dialect.int_to_text.format(x=place) if place else f"k{i}")
    parts = [dialect.text.format(x=plan.salt)]
    for text in texts:
        size = dialect.int_to_text.format(x=dialect.length.format(x=text))
        parts += [size, dialect.text.format(x=":"), text]
    by = [f"md5({' || '.join(parts)})", *texts[1:]]
    ranks = ", ".join(dialect.sorted.format(x=one) for one in by)
    return f"ROW_NUMBER() OVER (PARTITION BY u ORDER BY {ranks})"


def _person(terms: Terms, dialect: Dialect) -> str:
    """Return the text of the identifier in column ``u``, on every database the same."""
    unit = terms.schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  the statement's maker knows it
    match terms.stored(unit.column)[1]:
        case Whole() | Floating():
            return dialect.int_to_text.format(x="u")
        case Truth():
            return "(CASE WHEN u THEN 'true' ELSE 'false' END)"
        case _:
            return "u"
