"""What will be done for a price, decided from declarations and settings alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sfumato.account import Loss
from sfumato.declare.schema import Schema
from sfumato.errors import DeclarationError
from sfumato.plan.contingency import TablePlan, choice_of, noise_of
from sfumato.synth.depend import dependents
from sfumato.synth.expect import predicted_megabytes
from sfumato.synth.grids import Grid, grids, merge
from sfumato.synth.model import Model, Potentials
from sfumato.synth.options import Options
from sfumato.synth.rules import cuts_of, marked, masks
from sfumato.synth.run import MOST_KEYS, Layout
from sfumato.synth.tree import Tree
from sfumato.words import N_

__all__ = ["layout_of"]

_ROOM = 200_000
_FINEST = 25  # whole units of the loss for each share of it


def layout_of(name: str, schema: Schema, options: Options, loss: Loss) -> Layout:
    """Return what is done for a price: cells, tree, memory; checked, nothing read.

    Raises:
        DeclarationError: The settings do not fit the schema or the price, or fitting
            would need more memory than is allowed.
    """
    names = options.modelled(schema)
    for table in options.tables:
        for one in table:
            if one not in names:
                raise DeclarationError(
                    N_("column {name} is to be measured, and is not modelled"),
                    hint=N_("name columns that are made and that nothing determines"),
                    name=repr(one),
                )
    for place, one in enumerate(options.surrogates):
        if one in options.surrogates[:place]:
            raise DeclarationError(
                N_("two columns of new names are called {name}"),
                hint=N_("name each once"),
                name=repr(one),
            )
        if one in options.names(schema):
            raise DeclarationError(
                N_("column {name} is declared and a surrogate as well"),
                hint=N_("leave it out of columns, or give the surrogate another name"),
                name=repr(one),
            )
    if options.method == "adaptive":
        choice_of(loss, schema.unit, size=1)  # a budget that cannot pay for choices
    fine = grids(
        schema,
        names,
        complete=options.whole(schema),
        cells=options.cells,
        cuts=cuts_of(schema, options.forbid),
    )
    fine = marked(fine, options.forbid)
    noise_of(loss, schema.unit)
    plan = TablePlan(name, schema, options.settings, loss)
    told = dependents(schema, options.dependent, fine, options.whole(schema))
    layout = Layout(plan, options, fine, _ROOM, told)
    _check_rules(fine, options)
    needed = predicted_megabytes(layout)
    if needed > options.memory:
        raise DeclarationError(
            N_(
                "fitting {count} columns may need {needed} MB, above the {memory} allowed"
            ),
            hint=N_(
                'make fewer columns, declare fewer cells, use method="independent", or '
                "allow more: memory={needed}"
            ),
            count=len(names),
            needed=needed,
            memory=options.memory,
        )
    _smallest(plan, options, len(fine))
    return layout


def _check_rules(fine: Sequence[Grid], options: Options) -> None:
    """Refuse rules that leave nothing, or that tie too many cells together."""
    if not options.forbid:
        return
    coarse = [
        merge(g, np.zeros(g.coding.count), 1.0, 1.0, bins=1, most=MOST_KEYS)
        for g in fine
    ]
    base = masks(coarse, options.forbid)
    tree = Tree([b.coding.count for b in coarse], [a for a, _ in base])
    held = max(prod(fine[x].coding.count for x in c) for c in tree.cliques)
    if held > _ROOM * 5:
        raise DeclarationError(
            N_("the forbidden combinations tie together {cells} cells, too many"),
            hint=N_("use combinations of fewer columns, or declare fewer cells"),
            cells=held,
        )
    potentials = Potentials(tree)
    for axes, weights in base:
        potentials.add(axes, weights)
    Model(potentials, 1.0)


def _smallest(plan: TablePlan, options: Options, columns: int) -> None:
    """Refuse a loss that cannot be split among the columns and rounds.

    The least that is ever split is what choices that found no table leave: a twelfth of
    the loss by rounds, and it goes to all columns.
    """
    rounds = options.rounds or max(60, 2 * columns)
    if plan.cost.units >= _FINEST * (columns + 1) * (rounds + len(options.tables)):
        return
    raise DeclarationError(
        N_("{loss} is too little to be shared by {columns} columns"),
        hint=N_("spend more, or make fewer columns"),
        loss=plan.cost,
        columns=columns,
    )
