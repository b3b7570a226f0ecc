"""A page shows a project file without its comments, which may tell of private rows."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.project.outputs import Outputs
from sfumato.project.uncommented import uncommented

PARTS = st.sampled_from(
    [
        'a{i} = "x # y"', "b{i} = 'it # is'", 'c{i} = """\n# text\n"quoted" \\" #"""',
        "d{i} = '''\n# text\n'''", 'e{i} = ["#", \'#\', 1] # SECRET', "f{i} = 3  # it's SECRET",
        '# SECRET "', "  # 'SECRET", "", "[t{i}] # SECRET", "g{i} = [ # SECRET\n 1, # SECRET\n]",
    ]
)  # fmt: skip


@given(st.lists(PARTS, max_size=12))
@settings(deadline=None)
def test_it_says_the_same_without_comments(parts):
    """Whatever stands in texts stays, no comment does."""
    text = "\n".join(part.replace("{i}", str(i)) for i, part in enumerate(parts))

    plain = uncommented(text)

    assert tomllib.loads(plain) == tomllib.loads(text)
    assert "SECRET" not in plain


@pytest.mark.parametrize("text", ["a = # b", 'a = "\n', "a = nan"])
def test_what_cannot_be_told_apart_is_not_shown(text):
    """Better no file than a comment."""
    assert uncommented(text) == ""


def test_the_page_has_no_comment_of_the_file(tmp_path):
    """What `sfumato init --read-values` noted for the owner is not published."""
    file = tmp_path / "project.toml"
    file.write_text("# observed: whole numbers: 800\na = 1  # 800\n", encoding="utf-8")

    assert Outputs(tmp_path, ("html",), project=file)._asked_by() == "a = 1\n"
