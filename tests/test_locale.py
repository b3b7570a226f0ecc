"""The Chinese catalogue is complete, fits the texts in the code, and is compiled.

After a change of texts, from the project's root::

    python -m babel.messages.frontend extract -F src/sfumato/locale/babel.cfg -k N_ \
        --no-location --omit-header --sort-output -o build/sfumato.pot src/sfumato
    python -m babel.messages.frontend update -D sfumato -l zh -i build/sfumato.pot \
        -d src/sfumato/locale --no-fuzzy-matching -w 88
    # translate in src/sfumato/locale/zh/LC_MESSAGES/sfumato.po, then
    python -m babel.messages.frontend compile -D sfumato -d src/sfumato/locale
"""

from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

SOURCE = Path(__file__).parents[1] / "src" / "sfumato"
HOME = SOURCE / "locale" / "zh" / "LC_MESSAGES"
METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]


@cache
def marked() -> dict[str, frozenset[str]]:
    """The texts that each top-level package and module marks with `N_`."""
    found: dict[str, set[str]] = {}
    for name, _, message, _, _ in extract_from_dir(
        SOURCE, METHODS, keywords={"N_": None}, comment_tags=()
    ):
        found.setdefault(Path(name).parts[0], set()).add(str(message))
    return {part: frozenset(found[part]) for part in sorted(found)}


@pytest.fixture(scope="module")
def chinese() -> Catalog:
    """The committed catalogue."""
    with (HOME / "sfumato.po").open("rb") as file:
        return read_po(file, locale="zh")


def placeholders(text: str) -> set[tuple[str, str | None, str | None]]:
    """The named placeholders of a text, each with its format."""
    return {
        (n, spec, way) for _, n, spec, way in Formatter().parse(text) if n is not None
    }


@pytest.mark.parametrize("part", marked())
def test_all_texts_are_translated(part: str, chinese: Catalog) -> None:
    """Every marked text of the package has a Chinese one with its placeholders."""
    texts = marked()[part]

    missing = sorted(t for t in texts if not (m := chinese.get(t)) or not m.string)
    differ = sorted(
        t
        for t in texts
        if (m := chinese.get(t)) and placeholders(str(m.string)) != placeholders(t)
    )
    assert not missing, "not translated:\n" + "\n".join(missing)
    assert not differ, "other placeholders:\n" + "\n".join(differ)


def test_every_part_with_texts_is_checked() -> None:
    """The parts are found in the tree, so that no new one escapes the check."""
    calls = re.compile(r"\bN_\(\s*[\"']")
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("templates/*.html")]

    found = {
        file.relative_to(SOURCE).parts[0]
        for file in files
        if file.name != "words.py" and calls.search(file.read_text("utf-8"))
    }
    assert found
    assert found == set(marked())


def test_nothing_is_fuzzy(chinese: Catalog) -> None:
    """No guess of a tool is left in the catalogue."""
    assert not [m.id for m in chinese if m.id and m.fuzzy]


def test_the_compiled_catalogue_is_fresh(chinese: Catalog) -> None:
    """The .mo file is what the .po file compiles to."""
    compiled = io.BytesIO()
    write_mo(compiled, chinese)

    assert (HOME / "sfumato.mo").read_bytes() == compiled.getvalue()
