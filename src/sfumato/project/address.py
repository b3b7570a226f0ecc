"""Where a project's table lies: a file beside the project, PostgreSQL, or Spark.

A secret never stands in a project file, for the file is meant to be shown. It comes from
the environment: ``postgresql://reader:${CLINIC_PASSWORD}@db/clinic``.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, urlsplit

from sfumato.declare.dataset import CSV, Postgres, Spark
from sfumato.errors import DeclarationError, ProjectError
from sfumato.project.model import DataTable
from sfumato.project.place import place_of, placed, shown
from sfumato.words import N_

__all__ = ["Source", "declared_ledger", "declared_source", "refuse_unset", "table_name",
           "written_alike"]  # fmt: skip

Source: TypeAlias = CSV | Path | Postgres | Spark

_POSTGRES = ("postgresql://", "postgres://")
_SPARK = ("sc://", "spark://")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = ("password", "passfile", "sslpassword", "token")
_OF_TEXT = ("encoding", "separator", "decimal", "thousands")
_OF_POSTGRES = ("table", "schema_", "seconds")
_OF_SPARK = ("table",)


def declared_source(data: DataTable, where: Path) -> Source:
    """Return the source that ``[data]`` names; nothing is opened.

    Args:
        data: That table of the project file.
        where: The project file, beside which files lie.

    Raises:
        ProjectError: An entry does not go with the source, or a secret stands in it.
    """
    text, file = data.source, where.name
    if text.startswith(_POSTGRES):
        _only(data, _OF_POSTGRES, "PostgreSQL", file)
        _refuse_secrets(text, file, "data.source")
        table, url = _table(data, file), _filled(text)
        return Postgres(url, table, data.schema_ or "public", data.seconds or 600)
    if text == "spark" or text.startswith(_SPARK):
        _only(data, _OF_SPARK, "Spark", file)
        _refuse_secrets(text, file, "data.source")
        return Spark(_table(data, file), None if text == "spark" else _filled(text))
    if "\0" in text:
        raise ProjectError(
            N_("{file}: {key} is no path"),
            hint=N_("write a path such as {example}"),
            file=file,
            key="data.source",
            example='"tables/diabetes.csv"',
        )
    return _of_file(data, where.parent / text, file)


def declared_ledger(text: str, file: str) -> str | None:
    """Return the address of a ledger in PostgreSQL; none where it is a file.

    Raises:
        ProjectError: A secret stands in it.
    """
    if not text.startswith(_POSTGRES):
        return None
    _refuse_secrets(text, file, "budget.ledger")
    return _filled(text)


def refuse_unset(address: Source | Path | str, key: str, file: str) -> None:
    """Refuse an address that needs an environment variable that is not set.

    Raises:
        ProjectError: With the variable's name.
    """
    url = address.url if isinstance(address, Postgres | Spark) else address
    names = _VARIABLE.findall(url) if isinstance(url, str) else []
    if missing := [name for name in names if name not in os.environ]:
        raise ProjectError(
            N_("{file}: the environment variable {name} is not set"),
            hint=N_("{key} needs it: export {name}=…"),
            file=file,
            key=key,
            name=missing[0],
        )


def table_name(source: Source) -> str:
    """Return the name of a table as it may be shown: no address, no folder."""
    if isinstance(source, Postgres):
        return f"{source.schema}.{source.table}"
    if isinstance(source, Spark):
        return source.table
    return Path(source.path if isinstance(source, CSV) else source).name


def written_alike(source: object, path: Path) -> CSV | Path:
    """Return another file of the same columns, written as a project's own table is.

    One that begins with the mark of UTF-8, as synthetic tables do, is in UTF-8.
    """
    if not isinstance(source, CSV) or _is_columnar(path):
        return path
    encoding = "utf-8" if _is_marked(path) else source.encoding
    return replace(source, path=path, encoding=encoding)


def _is_marked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(3) == codecs.BOM_UTF8
    except OSError:  # told by whoever opens it in earnest
        return False


def _is_columnar(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq") or path.is_dir()


def _of_file(data: DataTable, path: Path, file: str) -> CSV | Path:
    if _is_columnar(path):
        _only(data, (), "Parquet", file)
        return path
    _only(data, _OF_TEXT, "text", file)
    _check_text_options(data, file)
    return CSV(path, data.encoding, data.separator, data.decimal, data.thousands)


def _only(data: DataTable, allowed: Iterable[str], kind: str, file: str) -> None:
    """Refuse entries that say nothing about this kind of source."""
    extra = data.model_fields_set - {"source", "name", *allowed}
    if not extra:
        return
    facts = {
        "Parquet": N_("{file}: {key} goes with text files, not with Parquet"),
        "text": N_("{file}: {key} goes with a database, not with a file"),
        "PostgreSQL": N_("{file}: {key} does not go with a table in PostgreSQL"),
        "Spark": N_("{file}: {key} does not go with a table in Spark"),
    }
    raise ProjectError(
        facts[kind],
        hint=N_("remove it"),
        file=file,
        key=place_of("data", min(extra).rstrip("_")),
    )


def _table(data: DataTable, file: str) -> str:
    if not data.table:
        raise ProjectError(
            N_("{file}: data.table is missing: which table of the database is meant?"),
            hint=N_('write its name: table = "patients"'),
            file=file,
        )
    return data.table


def _refuse_secrets(text: str, file: str, key: str) -> None:
    """Refuse a password or token that stands in the file itself."""
    try:
        parts = urlsplit(text)
        written = [parts.password or ""]
        options = parse_qsl(parts.query, keep_blank_values=True)
        options += [(k, v) for k, _, v in (p.partition("=") for p in parts.path.split(";"))]  # fmt: skip
    except ValueError:
        raise ProjectError(
            N_("{file}: {key} is no address"),
            hint=N_("write one such as {example}"),
            file=file,
            key=key,
            example='"postgresql://reader@db/clinic"',
        ) from None
    written += [value for name, value in options if name.strip("/").lower() in _SECRET]
    if any(_VARIABLE.sub("", value) for value in written):
        raise ProjectError(
            N_("{file}: a secret stands in {key}"),
            hint=N_(
                "keep it in the environment and write its name there, as in {example}"
            ),
            file=file,
            key=key,
            example='"postgresql://reader:${CLINIC_PASSWORD}@db/clinic"',
        )


def _filled(text: str) -> str:
    """Return an address with the variables that are set, escaped as addresses are."""
    return _VARIABLE.sub(lambda m: quote(os.environ[m[1]], safe="") if m[1] in os.environ else m[0], text)  # fmt: skip


def _check_text_options(data: DataTable, file: str) -> None:
    with placed(f"{file}: data.encoding"):
        try:
            known = codecs.lookup(data.encoding)._is_text_encoding  # noqa: SLF001  as open() asks
        except (LookupError, ValueError):
            known = False
        if not known:
            raise DeclarationError(
                N_("unknown encoding {name}"),
                hint=N_('write "utf-8", "gb18030" or "utf-16"'),
                name=shown(data.encoding),
            )
    with placed(f"{file}: data"):
        signs = (data.separator, data.decimal, data.thousands)
        if any(len(s) != 1 for s in signs if s is not None) or len(set(signs)) < 3:  # noqa: PLR2004  three signs
            raise DeclarationError(
                N_("separator, decimal and thousands must be single, different signs"),
                hint=N_('write, for example, separator = ";" with decimal = ","'),
            )
