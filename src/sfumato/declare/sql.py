"""SQL as a way to ask: text → the same `Query` that the builder makes.

A closed world, twice over. sqlglot takes the text apart, and a visitor must know each
node and use each of its arguments, or the text is refused. And because a parser may
drop a word that it does not need, the words that the visitor used are counted: they
must be all words of the text. What comes out is a `Query`; the text itself never
reaches a database. The grammar in words is ``docs/sql.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sfumato.declare.query import Query
from sfumato.declare.select import Reader
from sfumato.declare.sqlfrom import Tables
from sfumato.declare.sqltree import (
    DEEPEST,
    SHAPE,
    SIGNS,
    named,
    refuse,
    spelt,
    too_large,
)
from sfumato.errors import DeclarationError, MissingExtraError, quoted
from sfumato.words import N_

__all__ = ["read_sql"]

_LONGEST = 100_000  # characters of a text


def read_sql(text: str, *, table: str, tables: Tables | None = None) -> Query:
    """Read one SELECT as a question; nothing is run and nothing spent.

    Names are taken exactly as written, quoted or not, and never folded to one case.

    Args:
        text: The statement.
        table: The name of the dataset's own table, to stand after FROM.
        tables: All tables that may be joined or united, by name, that one among them.
            Without it there is that one only.

    Raises:
        DeclarationError: The text is not SQL, or holds anything beyond the grammar;
            the message names it.
        MissingExtraError: sqlglot is not installed.

    Examples:
        >>> print(read_sql("SELECT Sex, COUNT(*) FROM t GROUP BY Sex", table="t"))
        count by Sex
        >>> print(read_sql("SELECT AVG(x) AS m FROM t WHERE y <> 2", table="t"))
        m where y != 2
        >>> read_sql("SELECT GROUP_CONCAT(x) FROM t", table="t")
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] the SQL cannot be asked because of GROUP CONCAT
        ...
    """
    if not isinstance(text, str):
        raise DeclarationError(
            N_("a question in SQL is a text, got {value}"),
            hint=SHAPE,
            value=type(text).__name__,
            table=spelt(table),
        )
    if not isinstance(table, str):
        raise DeclarationError(
            N_("the name of a table is a text, got {value}"),
            hint=N_("it is what stands after FROM; leave it out for the dataset's"),
            value=quoted(table),
        )
    tree, words = _parse(text, table)
    reader = Reader(table, tables)
    query = reader.query(tree)
    unused = _words(words) - reader.used
    if unused:
        refuse(next(iter(unused)), SHAPE, table=table)
    if reader.used - _words(words):
        raise _unreadable("?", table)
    return query


def _parse(text: str, table: str) -> tuple[Any, list[Any]]:
    """Return the one SELECT of a text as sqlglot's tree, and its words."""
    try:
        import sqlglot
        from sqlglot.errors import ParseError
    except ImportError:
        raise MissingExtraError(
            N_("questions in SQL need the package sqlglot"),
            hint=N_("install it: pip install 'sfumato[sql]'"),
        ) from None
    if len(text) > _LONGEST:
        raise too_large()
    try:
        # SQLite's words, because it knows identifiers in "…", `…` and […] alike.
        words = sqlglot.tokenize(text, read="sqlite")
    except Exception:  # noqa: BLE001  whatever the library cannot cut into words
        words = None
    if words is None:
        raise _unreadable("?", table)
    while words and _type(words[-1]) == "SEMICOLON":
        words.pop()
    _check_words(words, table)
    place = "?"
    try:
        trees = [t for t in sqlglot.parse(text, read="sqlite") if t is not None]
    except ParseError as error:
        trees = []
        told = error.errors[0] if error.errors else {}
        place = f"{told.get('line', '?')}:{told.get('col', '?')}"
    except Exception:  # noqa: BLE001  no fault of the library may surface as its own
        trees = []
    if len(trees) != 1:
        raise _unreadable(place, table)
    return trees[0], words


def _check_words(tokens: Sequence[Any], table: str) -> None:
    """Refuse what a parser should not even see: other statements, and endless depth."""
    if not tokens or _type(tokens[0]) != "SELECT":
        refuse(tokens[0].text[:40].upper() if tokens else "''", SHAPE, table=table)
    depth, row = 0, 0
    for token in tokens:
        kind = _type(token)
        if kind == "SEMICOLON":
            refuse(";", SHAPE, table=table)
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        row = row + 1 if kind in ("NOT", "DASH", "PLUS", "TILDE") else 0
        if depth + row > DEEPEST:
            raise too_large()


def _type(token: Any) -> str:
    return str(token.token_type.name)


def _words(tokens: Sequence[Any]) -> Counter[str]:
    """Count the words and signs of a text; those that have no meaning are left out."""
    kinds = ["", *map(_type, tokens), ""]
    found: Counter[str] = Counter()
    for i, token in enumerate(tokens):
        before, kind, after = kinds[i : i + 3]
        ends = before in ("R_PAREN", "END") or before not in ("", *SIGNS)
        if kind == "ALIAS" and ends and after and after not in SIGNS:
            continue  # AS before a name may be left out, and CAST cannot be without
        if kind == "DOT" and after == "NUMBER" and before in SIGNS:
            continue  # .5 is one number in two words
        is_constant = kind in ("NUMBER", "STRING")
        found[kind if is_constant else SIGNS.get(kind) or named(token.text)] += 1
    return found


def _unreadable(place: str, table: str) -> DeclarationError:
    return DeclarationError(
        N_("the text cannot be read as SQL at line and column {place}"),
        hint=SHAPE,
        place=place,
        table=spelt(table),
    )
