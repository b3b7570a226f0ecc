"""Optional libraries, found when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.errors import MissingExtraError
from sfumato.words import N_

__all__ = ["need"]

_EXTRAS = {
    "jinja2": "report",
    "matplotlib": "report",
    "openpyxl": "excel",
    "pyarrow": "parquet",
}


def need(library: str) -> Any:
    """Return a library, or a module of it.

    Raises:
        MissingExtraError: It is not installed; the hint says how to install it.
    """
    try:
        return import_module(library)
    except ImportError as error:
        name = library.partition(".")[0]
        package = f'"sfumato[{_EXTRAS[name]}]"' if name in _EXTRAS else name
        raise MissingExtraError(
            N_("{library} is not installed"),
            hint=N_("run: pip install {package}"),
            library=name,
            package=package,
        ) from error
