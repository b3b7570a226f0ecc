"""What a synthetic table does not have, and what of it cannot be trusted: said before."""

from __future__ import annotations

from sfumato.declare.schema import Schema, Text
from sfumato.declare.unit import Unit
from sfumato.release.tongue import language_asked
from sfumato.synth.expect import expected_tables
from sfumato.synth.options import Options
from sfumato.synth.run import Layout
from sfumato.words import N_, speaker

__all__ = ["left_out", "warnings_of"]

_POOR = 0.3  # an error of a third: mostly noise


def left_out(schema: Schema, options: Options) -> tuple[str, ...]:
    """Return the declared columns that cannot be made: texts without a list of keys.

    The column that names people is one of them, unless new names stand in its place.
    """
    texts = [n for n in schema if isinstance(schema[n], Text)]
    if isinstance(schema.unit, Unit) and schema.unit.column not in texts:
        texts.append(schema.unit.column)
    made = (*options.columns, *options.surrogates)
    return tuple(n for n in texts if n not in made)


def warnings_of(
    layout: Layout, *, rows: int, lang: str = "en", keyed: bool = False
) -> tuple[str, ...]:
    """Say, in English, what cannot be trusted, and which columns will be lacking.

    Args:
        layout: What was decided.
        rows: A public guess of the number of rows.
        lang: ``"en"`` or ``"zh"``.
        keyed: Whether the column that names people gets new names in any case.
    """
    schema, options = layout.plan.schema, layout.options
    found, say = list[str](), speaker(language_asked(lang))
    single = [e for e in expected_tables(layout, rows=rows) if len(e.columns) == 1]
    poor = [e for e in single if e.error > _POOR]
    if 2 * len(poor) > len(single):
        text = N_(
            "{poor} of {count} columns will be mostly noise at {rows} rows: spend more, "
            "make fewer columns, or declare fewer cells"
        )
        found.append(say(text, poor=len(poor), count=len(single), rows=rows))
    key = schema.unit.column if isinstance(schema.unit, Unit) else None
    lacking = [n for n in left_out(schema, options) if not (keyed and n == key)]
    if lacking:
        text = N_(
            "not made, for they name people or have no declared keys: {names}; "
            "surrogates=[…] puts new names in their place"
        )
        found.append(say(text, names=say(N_(", ")).join(map(repr, lacking))))
    new = [*options.surrogates, *[key] * (keyed and key is not None)]
    if new:
        text = N_("new names that mean nothing stand in: {names}")
        found.append(say(text, names=say(N_(", ")).join(map(repr, new))))
    return tuple(found)
