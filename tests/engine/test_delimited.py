"""Delimited text: a total reading, line by line."""

import csv
import io
import re
from contextlib import suppress
from encodings.aliases import aliases
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.dataset import CSV, Dataset
from sfumato.declare.query import Query, count, histogram, people
from sfumato.declare.query import sum as total
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.declare.unit import Unit
from sfumato.engine import lines, records
from sfumato.engine.cell import UNREAD
from sfumato.engine.lines import Lines
from sfumato.engine.load import open_engine
from sfumato.engine.records import Quoted, split_lines
from sfumato.errors import SourceError
from sfumato.plan import make_plan

SCHEMA = Schema({"x": Integer(0, 100), "g": Category(["a", "b"])})
PLAN = make_plan(Query().select(count(), total("x"), histogram("g")), SCHEMA, 1)
CELLS = st.text(alphabet='ab",;\n\r\x00 é\u2028', max_size=6)


def read(text):
    """Return the records of a text, as lines of a file opened with newline=''."""
    return list(split_lines(io.StringIO(text, newline=""), ","))


def integers(source, schema=SCHEMA, plan=PLAN):
    """Return the exact integers of the plan above."""
    with open_engine(Dataset(source, schema=schema, name="t")) as engine:
        return engine.run(plan).unseal()


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4)), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())  # fmt: skip
def test_what_a_csv_writer_wrote_is_read_back(table, end, quoted):
    """Well-formed text, quoted fully or where needed, loses nothing."""
    if not quoted and end != "\r\n":  # then the writer leaves other line breaks bare
        table = [[re.sub("[\r\n]", "", cell) for cell in row] for row in table]
    file = io.StringIO(newline="")
    how = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(file, lineterminator=end, quoting=how).writerows(table)

    assert read(file.getvalue()) == table


@given(st.text(alphabet='ab",\n\r', max_size=30))
def test_any_text_is_read(text):
    """No text raises, and no character outside quotes and separators is lost."""
    kept = [c for record in read(text) for cell in record for c in cell if c in "ab"]

    assert kept == [c for c in text if c in "ab"]


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(["1,a", '2,"b"', '"3",a', "4,", '5,"a ""b"""']), max_size=5
    ),
    st.text(alphabet='a1", ', max_size=8),
    st.lists(st.sampled_from(["6,a", '7,"b"', '"8",a', "9", ',"b"']), max_size=5),
)
def test_a_bad_line_changes_no_other_line(before, bad, after):
    """Stray quotes, ragged lines and blanks stay the matter of their own line."""
    around = read("\n".join([*before, *after]) + "\n")
    lines = read("\n".join([*before, bad, *after]) + "\n")

    assert lines[: len(before)] == around[: len(before)]
    assert lines[len(lines) - len(after) :] == around[len(before) :]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,g\n", ((0,), (0,), (0, 0))),
        ("x,g", ((0,), (0,), (0, 0))),
        ("\ufeffx,g\n5,a\n", ((1,), (5,), (1, 0))),
        ("g,x\na,5\n\n\nb,7\n", ((2,), (12,), (1, 1))),
        ("x,y,g\n5\n5,1\n5,1,a,9,9\n,,\n", ((4,), (15,), (1, 0))),
        ('"x","g"\n"5","a"\n', ((1,), (5,), (1, 0))),
        ('x,g\n5,"a\n6,b\n', ((2,), (11,), (0, 1))),
        ('x,note,g\n5,"one\ntwo",a\n6,,b\n', ((2,), (11,), (1, 1))),
        ("x,g\n5,a\x00\n6,b\n", ((2,), (11,), (0, 1))),
        ("x,g\r5,a\r6,b\r", ((2,), (11,), (1, 1))),
        ("x,g\n5,a\r6,b\n7,b\n", ((2,), (12,), (0, 1))),
        ("x,g\r\n5,a\r6,b\r\n7,b\r\n", ((2,), (12,), (0, 1))),
        ("x,g\n" + "9" * 300_000 + ",a\n", ((1,), (100,), (1, 0))),
        ('x,g\n1,"' + "a" * 300_000 + '"\n', ((1,), (1,), (0, 0))),
        ("x,g\nNA,a\nnull,b\n", ((2,), (0,), (1, 1))),
        ("x,g,,\n5,a,,\n", ((1,), (5,), (1, 0))),
    ],
)
def test_shapes_of_files(text, expected, tmp_path):
    """Header only, marks of order, blanks, ragged lines, long cells, NULs, breaks."""
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8", newline="")

    assert integers(file) == expected


def test_a_file_of_tabs(tmp_path):
    """The name .tsv says which separator."""
    (tmp_path / "t.tsv").write_text("x\tg\n5\ta,b\n6\ta\n")

    assert integers(tmp_path / "t.tsv") == ((2,), (11,), (1, 0))


def test_many_lines_come_in_batches(tmp_path):
    """More lines than one batch, with quotes at the seams."""
    lines = [f'{i % 7},"{"ab"[i % 2]}"' for i in range(45_000)]
    (tmp_path / "t.csv").write_text("x,g\n" + "\n".join(lines))

    assert integers(tmp_path / "t.csv") == (
        (45_000,), (sum(i % 7 for i in range(45_000)),), (22_500, 22_500),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "format_", "said"),
    [
        ("", {}, "no header"),
        ("\n", {}, "no header"),
        ("x;g\n1;a\n", {}, "separator=';'"),
        ("X,G\n", {}, "did you mean"),
        ("x,g,x\n1,a,2\n", {}, "2 columns called 'x'"),
        ("x,g\n", {"separator": ",,"}, "single, different"),
        (
            "x,g\n",
            {"separator": ";", "decimal": ",", "thousands": ","},
            "single, different",
        ),
        ("x,g\n", {"encoding": "utf-9"}, "unknown text encoding"),
        ("x,g\n", {"encoding": "base64"}, "unknown text encoding"),
        ("x,g\n", {"encoding": "undefined"}, "cannot be read"),
        ("x,g\n", {"encoding": "ISO-2022-JP"}, "has a state that lasts"),
        ("x,g\n", {"encoding": "utf-7"}, "has a state that lasts"),
        ('"x,g\n' + "1,a\n" * 60_000, {}, "did you mean"),
        ('"x,y\n' + "1,a\n" * 3, {}, "did you mean"),
    ],
)
def test_a_refusal_says_what_to_do(text, format_, said, tmp_path):
    """Wrong headers and wrong formats are refused before anything is spent."""
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(SourceError) as refusal:
        integers(CSV(file, **format_))

    assert said in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert str(refusal.value).count("\n") == 1


@pytest.mark.parametrize(
    "text",
    ["Jane Doe,31\nBob,42\n", 'id,"note\n7,Jane\n8,Bob\n', '"\n7,Jane\n8,"Bob\n'],
)
def test_a_refusal_quotes_no_row(text, tmp_path):
    """Without a header, or with a stray quote in it, cells do not become names."""
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(SourceError) as refused:
        integers(file)

    said = str(refused.value)
    assert "Jane" not in said and "Bob" not in said and "31" not in said


HOSTILE = ["\x1b$B", "\x1b(I", "\x0e", "~{", "+", "\\", "\x1b$)C\x0e", "\x85", "\u2028"]


@pytest.mark.parametrize("codec", sorted(set(aliases.values())))
def test_no_cell_changes_how_others_are_decoded(codec, tmp_path):
    """Of every codec that is read: what switches its state would blind all later rows."""
    file, rows = tmp_path / "t.csv", [["g", "x"]]
    for cell in HOSTILE:
        with suppress(
            LookupError, UnicodeError
        ):  # it cannot write it, or no text at all
            cell.encode(codec)
            rows += [[cell, 2], ["b", 3]]
    if len(rows) == 1:
        return
    with file.open("w", newline="", encoding=codec) as out:
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    plan, known = make_plan(Query().select(count("g"), count()), SCHEMA, 1), len(rows)

    with suppress(SourceError):  # refused beforehand
        found = integers(CSV(file, encoding=codec), SCHEMA, plan)
        assert found == ((known // 2,), (known - 1,))


def test_a_stray_quote_in_the_header_costs_no_row(tmp_path):
    """The header is read by the rule of all lines."""
    file = tmp_path / "t.csv"
    file.write_text('x,g,"n\n5,a,1\n6,b,"2"\n', encoding="utf-8")

    assert integers(file) == ((2,), (11,), (1, 1))


LINES = "line\n" * 2_500


def test_a_quoted_cell_may_have_any_number_of_lines():
    """A long note makes one record, not thousands."""
    assert read(f'1,"{LINES}",a\n2,b,c\n') == [["1", LINES, "a"], ["2", "b", "c"]]


def test_people_whose_identifiers_share_their_first_line_are_two(tmp_path):
    """However long the identifiers are."""
    rows = "".join(f'"{LINES}{who}",5\n' for who in ("one", "two", "two"))
    (tmp_path / "t.csv").write_text(f"id,x\n{rows}")
    schema = Schema({"x": Integer(0, 100)}, Unit("id", max_rows=1, max_groups=1))
    plan = make_plan(Query().select(people()), schema, 1)

    assert integers(tmp_path / "t.csv", schema, plan) == ((2 << 20,),)


def kept(longest, text, ends="\r\n"):
    """Return the records of a text of which so many characters are kept."""
    with (
        mock.patch.object(lines, "LONGEST", longest),
        mock.patch.object(records, "LONGEST", longest),
    ):
        newline = "" if len(ends) > 1 else ends
        whole = Lines(io.StringIO(text, newline=newline), ends)
        return list(split_lines(whole, ",", whole))


CELL = st.text(alphabet='ab",\n\r 9', max_size=12)


@settings(deadline=None, max_examples=200)
@given(
    st.integers(3, 30), st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(),
)  # fmt: skip
def test_a_record_that_is_too_long_is_one_record(longest, table, end, whole):
    """Whatever a proper writer puts into a cell, it becomes no record of its own.

    Cells of a record that is kept whole are those that were written; of another one they
    are those, as far as they are kept, and say that they were cut where they were.
    """
    out = io.StringIO(newline="")
    breaks = any(sign in cell for row in table for cell in row for sign in "\r\n")
    quoting = csv.QUOTE_ALL if whole or breaks else csv.QUOTE_MINIMAL
    writer = csv.writer(out, lineterminator=end, quoting=quoting)
    writer.writerows(table)

    found = kept(longest, out.getvalue())

    assert len(found) == len(table)
    for cells, row in zip(found, table, strict=True):
        *first, last = cells
        assert first == row[: len(first)]
        assert last == row[len(first)] or last.endswith(UNREAD)
        if sum(map(len, row)) * 2 + 4 * len(row) < longest:
            assert cells == row


@pytest.mark.parametrize("longest", range(3, 30))
def test_a_carriage_return_in_a_cell_ends_no_record(longest):
    """Where lines end in another way; some writers do not quote it."""
    rows = ["1,a", "a\rb\rc,\r,d\r", '"e"\rf,2', "3,\r\r", "2,b"]

    found = kept(longest, "\n".join(rows), "\n")

    assert len(found) == len(rows)
    assert [found[0], found[-1]] == [["1", "a"], ["2", "b"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("sign", ["\n", "\r\n", "\r"])
def test_a_line_break_in_a_quoted_name_does_not_say_how_lines_end(sign, end, tmp_path):
    """Otherwise all rows would be one, and their cells names that a refusal may quote."""
    rows = [f'"a{sign}note",g,x', "1,a,1", '"2\n\r",a,1', "3,b,1", ""]
    (tmp_path / "t.csv").write_text(end.join(rows), newline="")

    schema = Schema({"g": Category(["a", "b"]), "x": Integer(0, 9)})
    plan = make_plan(Query().select(histogram("g")), schema, 1)

    assert integers(tmp_path / "t.csv", schema, plan) == ((2, 1),)


def test_lines_that_end_twice_are_read_as_lines(tmp_path):
    """A text that Windows wrote as text once more: no first cell begins with a line feed."""
    rows = ["g,x", "a,1", "a,2", "b,3", ""]
    (tmp_path / "t.csv").write_text("\r\r\n".join(rows), newline="")

    schema = Schema({"g": Category(["a", "b"]), "x": Integer(0, 9)})
    plan = make_plan(Query().select(histogram("g")), schema, 1)

    assert integers(tmp_path / "t.csv", schema, plan) == ((2, 1),)


@pytest.mark.parametrize("longest", range(3, 30))
@pytest.mark.parametrize("stray", ['"a', 'x,"', '"a"b', '"""', 'b,"a"" ,c'])
def test_a_stray_quote_costs_no_row_however_much_is_kept(longest, stray):
    """Where no quoted cell can end, the quote is an ordinary character."""
    rows = ["1,2", stray, *["3,4,5"] * 12, '6,"7"', "8,9"]

    found = kept(longest, "\n".join(rows))

    assert len(found) == len(rows)
    assert found[2:14] == kept(longest, "3,4,5\n" * 12)


def test_a_note_of_many_lines_makes_no_rows(tmp_path):
    """A person who writes more than is kept of a cell moves a count by one."""
    rows = [["a", 1], ["a,9\n" * 300_000, 3], ["a", 2]]
    for longest in (False, True):
        with (tmp_path / "t.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["g", "x"])
            writer.writerows(
                [["z" * (1 << 20), *row] for row in rows] if longest else rows
            )
        header = ["long", "g", "x"] if longest else ["g", "x"]
        text = (tmp_path / "t.csv").read_text()
        (tmp_path / "t.csv").write_text(",".join(header) + text[text.index("\n") :])
        plan = make_plan(Query().select(count(), total("x")), SCHEMA, 1)

        assert integers(tmp_path / "t.csv", SCHEMA, plan) == (
            (3,),
            (0 if longest else 3,),
        )


def test_no_line_is_looked_at_twice_for_a_quote(monkeypatch):
    """Stray quotes cost a look ahead to the next quote each: linear, whatever the text."""
    looked = []

    class Counted(Quoted):
        def _rest(self, source):
            held = len(self.ahead)
            rest = super()._rest(source)
            looked.append(len(self.ahead) - held)
            assert held == 0 or not rest
            return rest

    monkeypatch.setattr("sfumato.engine.records.Quoted", Counted)
    lines = ['1,"a\n', *["b\n"] * 3_000, '2,"c"d\n', '3,"e\n', *["f\n"] * 3_000]
    found = list(split_lines(lines, ","))

    assert len(found) == len(lines) and sum(looked) <= len(lines)


def test_rows_of_many_short_lines_count_as_heavy():
    """Else a batch could hold thousands of rows of a million characters."""
    lines = Lines(io.StringIO(f'1,"{LINES}"\n' * 3, newline=""))

    (batch,) = lines.batches(split_lines(lines, ","))

    assert len(batch) == 3 and lines.heavy >= 3 * len(LINES)
