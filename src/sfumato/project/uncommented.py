"""A project file without its comments: what a page may show of it.

Comments are for whoever keeps the file. ``sfumato init --read-values`` writes there what
cells look like and how many there are, which is private; so a page shows none of them.
"""

from __future__ import annotations

import re
import tomllib

__all__ = ["uncommented"]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|(?P<line>^[ \t]*#[^\n]*(?:\n|\Z))"
    r"|(?P<rest>[ \t]*#[^\n]*)",
    re.DOTALL | re.MULTILINE,
)


def uncommented(text: str) -> str:
    r"""Return the same TOML without comments; nothing if it cannot be told apart.

    Examples:
        >>> uncommented('# seen: 800\na = "#1"  # mine\nb = 2')
        'a = "#1"\nb = 2'
    """
    found = _TOKEN.sub(lambda m: "" if m["line"] or m["rest"] else m[0], text)
    try:
        same = tomllib.loads(found) == tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        same = False
    return found.lstrip("\n") if same else ""
