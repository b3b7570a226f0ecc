"""Header lines: names only, in any encoding, and no row has a say."""

import pytest

from sfumato.errors import SourceError
from sfumato.project.header import (
    check_header,
    read_header,
    refuse_names,
    used_separator,
)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "big5"]
)
def test_names_are_read_in_their_encoding(tmp_path, encoding):
    """A declared encoding gives the exact names."""
    path = tmp_path / "t.csv"
    path.write_bytes("編號,血糖 值\r\n1,2\r\n".encode(encoding))

    assert read_header(path, encoding=encoding) == ["編號", "血糖 值"]


@pytest.mark.parametrize("encoding", ["utf_8", "U8", "gb18030", "utf-16-le"])
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path, encoding):
    """As where the rows are read: a check must not miss a column that a run would find."""
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffid,x\n1,2\n".encode(encoding))

    assert read_header(path, encoding=encoding) == ["id", "x"]
    assert used_separator(path, encoding=encoding) == ","


def test_rows_have_no_say(tmp_path):
    """Bytes after the header that decode to nothing do not matter."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n\xff\xfe\x00,\n")

    assert read_header(path) == ["a", "b"]


def test_quoted_names_may_hold_anything(tmp_path):
    """A name may hold the separator, quotes and a line break."""
    path = tmp_path / "t.csv"
    path.write_text('"a,b","c""d","e\nf"\n1,2,3\n', encoding="utf-8", newline="")

    assert read_header(path) == ["a,b", 'c"d', "e\nf"]


def test_the_separator_is_seen_in_the_header(tmp_path):
    """A semicolon or tab in the header line gives it away."""
    path = tmp_path / "t.csv"
    path.write_text("id;age;sex\n1,1,1,1,1,1;2;3\n", encoding="utf-8")

    assert used_separator(path) == ";"


@pytest.mark.parametrize(
    ("content", "encoding", "line"),
    [
        (b"", "utf-8", "no header"),
        (b"\n1\n", "utf-8", "no header"),
        ("编号".encode("gb18030"), "utf-8", "is not written in utf-8"),
        (b"a", "klingon", "unknown encoding"),
    ],
)
def test_what_is_no_header_is_refused(tmp_path, content, encoding, line):
    """One clear line, with the way out."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)

    with pytest.raises(SourceError, match=line):
        read_header(path, encoding=encoding)


def test_missing_and_double_columns_are_refused(tmp_path):
    """The nearest name is given; a double name is named."""
    with pytest.raises(SourceError, match="has no column 'Glucos'") as refused:
        check_header(["Glucos"], ["Glucose", "Age"], tmp_path / "t.csv")
    assert "'Glucose'" in refused.value.hint
    with pytest.raises(SourceError, match="two columns called 'a'"):
        check_header(["a"], ["a", "a"], tmp_path / "t.csv")


def test_no_row_is_shown_or_read_for_a_broken_header(tmp_path):
    """Cells of a table without a header stay untold; a stray quote ends with its line."""
    path = tmp_path / "t.csv"
    path.write_text('id,"age\n' + "1,Jane\n" * 50_000, encoding="utf-8")

    with pytest.raises(SourceError) as refused:
        check_header(["Glucose"], ["Jane Doe", "31"], path)

    assert "Jane" not in str(refused.value) and "first line" in refused.value.hint
    assert read_header(path) == ["id", '"age']


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('"Height,Age\nJane,30\n', ['"Height', "Age"]),
        ('"Height,Age\nthe "Jane" Doe,30\n', ['"Height', "Age"]),
        ('Height 6" 1\',Age\nO"Hara,30\n', ["Height 6\" 1'", "Age"]),
        ('Age,"Height\n\xff "",30\n""\n', ["Age", '"Height']),
        ('"' + "x" * 200_000 + '",Age\n', ["x" * 200_000, "Age"]),
    ],
)
def test_a_stray_quote_makes_no_row_a_name(tmp_path, text, names):
    """A quote that is not closed as a name is is a sign, and the header one line."""
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="latin-1")

    assert read_header(path) == names


def test_separators_within_names_do_not_count(tmp_path):
    """A comma inside quotes is part of a name."""
    path = tmp_path / "t.csv"
    path.write_text('"a, b, c";"d, e"\n', encoding="utf-8")

    assert used_separator(path) == ";"


@pytest.mark.parametrize(
    ("content", "encoding", "line"),
    [
        (b"a" * (1 << 20) + b"a\n1\n", "utf-8", "has no header line"),
        (b"a,b\n", "rot13", "unknown encoding 'rot13'"),
        (b"a,b\n", "hex", "unknown encoding 'hex'"),
        (b"a,b\n", "iso2022_jp", "'iso2022_jp' has a state"),
    ],
)
def test_no_header_and_no_text_are_refused(tmp_path, content, encoding, line):
    """A line without end is no header, and a codec of bytes no encoding of text."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)

    with pytest.raises(SourceError, match=line):
        read_header(path, encoding=encoding)


@pytest.mark.parametrize("line", ['[{"a": 1, "b": 2}]', '{"a": 1}', "[", "{", "[[1, 2]]", "{a: 1, b: 2}"])  # fmt: skip
def test_json_is_no_table(line, tmp_path):
    """Its first line names no columns."""
    path = tmp_path / "t.csv"
    path.write_text(f"{line}\n", encoding="utf-8")

    with pytest.raises(SourceError, match="is JSON"):
        refuse_names(read_header(path), path)


def test_two_columns_of_one_name_are_refused(tmp_path):
    """Nobody could say which one is meant."""
    with pytest.raises(SourceError, match="two columns called 'a'"):
        refuse_names(["a", "b", "a"], tmp_path / "t.csv")


@pytest.mark.parametrize("names", [["a", "b"], ["[mg/dL]", "x"], ["{x}", "y"], ["glucose [mg/dL]"], ["年龄"]])  # fmt: skip
def test_names_in_brackets_are_names(names, tmp_path):
    """Units often stand so."""
    refuse_names(names, tmp_path / "t.csv")
