"""Quality of linked tables, each with what it borrows, against true rows: owner only.

The head is compared together with the number of rows that its people have elsewhere,
another table together with the shared columns of whose its rows are: so dependence
through the keys is judged too. As all of `sfumato.synth.quality`, NOT PRIVATE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.declare.dataset import Dataset
from sfumato.engine.linked import Together
from sfumato.release.quality import OwnerQuality
from sfumato.synth.coded import Columns, coded
from sfumato.synth.joined import LinkedSynthesis
from sfumato.synth.quality import compared
from sfumato.synth.table import SyntheticTable

__all__ = ["linked_owner_quality"]

People = Sequence["str | None"]


def linked_owner_quality(
    made: LinkedSynthesis,
    head: Dataset,
    others: Mapping[str, Dataset],
    *,
    target: str = "",
    quasi_identifiers: Sequence[str] = (),
) -> dict[str, OwnerQuality]:
    """Compare linked tables with the true ones. FOR THE OWNER'S EYES: not private.

    Args:
        made: The linked tables.
        head: The table of one row per person that they were made from.
        others: The other tables, by name.
        target: A column of the head, of two values, to be predicted from the others.
        quasi_identifiers: Columns of the head for k-anonymity of its synthetic rows.

    Raises:
        DeclarationError: The target is not a made column of two values.
        EngineError: A table cannot be read.
    """
    with Together(head, others) as together:
        people, true = together.head.owned()
        tails = {name: one.owned() for name, one in together.others.items()}
    drawn = made.sample(len(people), seed=1)
    keys = drawn[made.head][made.key]
    fake = _coded(made, drawn, made.head)
    found = {}
    numbers = {name: whose for name, (whose, _) in tails.items()}
    drawn_numbers = {name: drawn[name][made.key] for name in others}
    rows = (
        _numbered(made, people, true, numbers),
        _numbered(made, keys, fake, drawn_numbers),
        None,
    )
    found[made.head] = compared(
        made[made.head],
        rows,
        drawn[made.head],
        target=target,
        hidden=quasi_identifiers,
    )
    for name, (whose, own) in tails.items():
        rows = (
            _lent(made, (people, true), (whose, own)),
            _lent(
                made, (keys, fake), (drawn[name][made.key], _coded(made, drawn, name))
            ),
            None,
        )
        found[name] = compared(made[name], rows, drawn[name])
    return found


def _coded(
    made: LinkedSynthesis, drawn: Mapping[str, SyntheticTable], name: str
) -> Columns:
    one = made[name].made
    return coded(one.schema, drawn[name], (made.key, *one.options.surrogates))


def _numbered(
    made: LinkedSynthesis, people: People, columns: Columns, whose: Mapping[str, People]
) -> Columns:
    """Add the number of rows that each person has in every other table."""
    schema = made[made.head].made.schema
    kept = [i for i, p in enumerate(people) if p is not None]
    found = {name: values[kept] for name, values in columns.items()}
    for name, rows in whose.items():
        counts = Counter(rows)
        most = schema[name].upper  # type: ignore[union-attr]
        numbers = [min(counts[people[i]], int(most)) for i in kept]
        found[name] = np.array(numbers, np.float64)
    return found


def _lent(
    made: LinkedSynthesis,
    head: tuple[People, Columns],
    tail: tuple[People, Columns],
) -> Columns:
    """Add the shared columns of whose each row is; of nobody's rows none is kept."""
    people, facts = head
    first: dict[str | None, int] = {}
    for i, person in enumerate(people):
        first.setdefault(person, i)
    whose, own = tail
    kept = [i for i, p in enumerate(whose) if p is not None]
    found = {name: values[kept] for name, values in own.items()}
    at = np.array([first.get(whose[i], -1) for i in kept], np.int64)
    for name in made.shared:
        values = np.append(facts[name], np.nan)  # the last: of who is not in the head
        found[f"{made.head}.{name}"] = values[at]
    return found
