"""docs/public-faults.md names tests that exist, each once."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_named_test_is_there():
    """A line of the page stands or falls with its test."""
    page = (ROOT / "docs" / "public-faults.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", page)

    assert len(named) == 64
    assert len(set(named)) == len(named)
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), name
