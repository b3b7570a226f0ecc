"""A synthetic table is written as the private one was declared."""

import csv
import io

import pytest

import sfumato as sf
from sfumato.report.synthetic import synthetic_html
from sfumato.synth import Synthesizer
from sfumato.synth.quality import portrait


def made(column, yes, no):
    rows = [{"死亡": yes}] * 300 + [{"死亡": no}] * 100 + [{"死亡": None}] * 30
    data = sf.Dataset(rows, schema=sf.Schema({"死亡": column}), name="t")
    session = sf.Session(data, budget="100")
    return Synthesizer(method="independent").fit(session, epsilon="90")


@pytest.mark.parametrize(
    ("column", "yes", "no"),
    [
        (sf.Boolean(true=["是", "有"], false=["否", "无"]), "是", "否"),
        (sf.Boolean(), "true", "false"),
    ],
)
def test_the_declarations_of_the_private_table_read_the_synthetic_one(
    column, yes, no, tmp_path
):
    """Truth values are declared cells; written otherwise, each would be missing."""
    table = made(column, yes, no).sample(430, seed=1)
    cells = [r["死亡"] for r in csv.DictReader(io.StringIO(table.to_csv()))]
    assert set(cells) == {yes, no, ""}
    assert set(table["死亡"]) == {True, False, None}  # in Python they stay truth values
    table.save(tmp_path / "s.csv")
    again = sf.Dataset(tmp_path / "s.csv", schema=sf.Schema({"死亡": column}), name="s")
    told = sf.Session(again, budget="100").query().group_by("死亡").select(sf.count())
    figures = told.release(epsilon="90")
    assert figures.find("count", 死亡=True).estimate == pytest.approx(
        cells.count(yes), abs=3
    )
    assert figures.find("count", 死亡=False).estimate == pytest.approx(
        cells.count(no), abs=3
    )


def test_the_page_writes_truth_values_as_declared():
    synthesis = made(sf.Boolean(true="是", false="否"), "是", "否")
    assert portrait(synthesis).labels == (("否", "是", "–"),)
    page = synthetic_html(synthesis.release, portrait(synthesis), lang="zh")
    assert "False" not in page
    assert "True" not in page


def test_chinese_names_of_a_map_are_not_upside_down():
    """Upright letters that are turned by half a turn stand on their heads."""
    synthesis = made(sf.Boolean(true="是", false="否"), "是", "否")
    page = synthetic_html(synthesis.release, portrait(synthesis), lang="zh")
    assert "writing-mode:vertical-rl" in page
    assert "rotate(180deg)" not in page
