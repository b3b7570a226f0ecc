"""Rules that a type checker cannot see are tests of the source tree."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

SOURCE = Path(sfumato.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [p.relative_to(SOURCE).as_posix() for p in FILES]


def users_of(*words):
    """Return the files whose text holds one of the words."""
    return {
        p.relative_to(SOURCE).as_posix()
        for p in FILES
        if any(w in p.read_text(encoding="utf-8") for w in words)
    }


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_file_is_short_and_explains_itself(path):
    """At most 400 lines; the module and each public name have a docstring."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)

    assert text.count("\n") <= 400
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
            overload = "overload" in [ast.unparse(d) for d in node.decorator_list]
            assert overload or ast.get_docstring(node), node.name


def test_only_the_gate_unseals():
    """A Secret is opened in one file."""
    assert users_of(".unseal(") == {"gate.py"}


def test_only_ledger_and_gate_deal_with_the_right_to_release():
    """The ledger puts it into a receipt, the gate takes it out; nobody else can."""
    users = users_of("sfumato.release.once import")

    assert users == {"release/record.py", "ledger/book.py", "gate.py"}


def test_only_the_stream_is_random():
    """Randomness enters through one file."""
    words = ("import secrets", "urandom", "import random", "np.random", "numpy.random",
             "from random", "from secrets")  # fmt: skip

    assert users_of(*words) == {"noise/stream.py"}


def test_no_module_is_a_drawer():
    """A module is named for its one job."""
    drawers = {"utils", "common", "helpers", "misc", "manager", "tools"}

    assert not drawers & {p.stem for p in FILES} | drawers & {
        p.parent.name for p in FILES
    }


def test_the_public_face_is_what_it_says():
    """`__all__` is sorted as ruff sorts it, complete, and every name loads."""
    assert set(sfumato.__all__) == set(sfumato._HOME)
    assert set(sfumato.__all__) <= set(dir(sfumato))
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sfumato.nothing


def test_the_face_and_its_types_agree():
    """Type checkers see the names that run time loads, from the same modules."""
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    typed = {
        alias.name: node.module.removeprefix("sfumato.")
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert typed == sfumato._HOME


def test_import_is_light():
    """`import sfumato` loads no library; the first name loads what it needs."""
    code = (
        "import sys, sfumato; heavy = {'numpy', 'duckdb', 'pydantic', 'matplotlib',"
        " 'pandas', 'cryptography', 'click'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_messages_are_not_f_strings():
    """A text that is translated has named placeholders, filled when it is shown."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "N_":
                assert isinstance(node.args[0], ast.Constant), (path, node.lineno)
