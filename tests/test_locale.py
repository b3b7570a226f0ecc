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
CHECKED = ("release", "report")


@pytest.fixture(scope="module")
def chinese() -> Catalog:
    """The committed catalogue."""
    with (HOME / "sfumato.po").open("rb") as file:
        return read_po(file, locale="zh")


def texts(package: str) -> set[str]:
    """All texts that the package marks with `N_`, in Python and in templates."""
    found = extract_from_dir(
        SOURCE / package, METHODS, keywords={"N_": None}, comment_tags=()
    )
    return {str(message) for _, _, message, _, _ in found}


def placeholders(text: str) -> set[str]:
    """The named placeholders of a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("package", CHECKED)
def test_all_texts_are_translated(package: str, chinese: Catalog) -> None:
    """Every marked text of the package has a Chinese one with its placeholders."""
    marked = texts(package)

    missing = sorted(t for t in marked if not (m := chinese.get(t)) or not m.string)
    differ = sorted(
        t
        for t in marked
        if (m := chinese.get(t)) and placeholders(str(m.string)) != placeholders(t)
    )
    assert marked
    assert not missing, "not translated:\n" + "\n".join(missing)
    assert not differ, "other placeholders:\n" + "\n".join(differ)


def test_nothing_is_fuzzy(chinese: Catalog) -> None:
    """No guess of a tool is left in the catalogue."""
    assert not [m.id for m in chinese if m.id and m.fuzzy]


def test_the_compiled_catalogue_is_fresh(chinese: Catalog) -> None:
    """The .mo file is what the .po file compiles to."""
    compiled = io.BytesIO()
    write_mo(compiled, chinese)

    assert (HOME / "sfumato.mo").read_bytes() == compiled.getvalue()
