"""Faults reported of other systems, areas users, keys and report: named for their cases."""

import csv
import io
import json
import math
from html.parser import HTMLParser

import pytest
from repeated import noisy_runs

import sfumato as sf
from sfumato.declare.query import Query, count, variance
from sfumato.errors import DeclarationError, SfumatoError
from sfumato.post import points
from sfumato.project import load

WHO = sf.Unit("who", max_rows=1, max_groups=1)
HOSTILE = ["<script>alert(1)</script>", "=1+1", "@SUM(A1)", "a,b", "two\nlines"]


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [("10000", "500000", "1"), ("0", "1e12", "1000"), ("0", "1e-9", "1e-12")],
)
def test_bc011_wide_bounds_variance(low, high, step):
    """A variance lies in 0 to a quarter of the squared range, however wide that is."""
    schema = sf.Schema({"income": sf.Real(low, high, step=step)})
    bottom, width = float(low), float(high) - float(low)
    rows = [{"income": bottom + width * i / 999} for i in range(1000)]

    found, most = [], (width / 2) ** 2 * (1 + 1e-12)
    for plan, seen in noisy_runs(
        rows, schema, Query().select(variance("income")), 1, 200
    ):
        found.extend(points(plan, plan.recipes[0], seen))

    assert len(found) == 200
    assert all(math.isfinite(x) and 0 <= x <= most for x in found)


def test_bc087_two_units(tmp_path):
    """One table has one unit: contradictions are refused before data are opened."""
    text = (
        'title = "t"\n[data]\nsource = "nowhere.csv"\nname = "t"\n{unit}\n'
        '[columns.x]\ntype = "real"\nlower = 0\nupper = 1\n{more}[budget]\nepsilon = "1"\n'
        '[[releases]]\nname = "r"\nepsilon = "1"\nstatistics = [{{ count = true }}]\n'
    )
    own = '[unit]\ncolumn = "who"\nmax_rows = 1\nmax_groups = 1\n'
    twice = '[columns.who]\ntype = "integer"\nlower = 0\nupper = 9\n'
    for unit, more, fact in (
        (own + own, "", "twice"),
        ("[unit]\nmax_rows = 1\nmax_groups = 1\n", "", "need the column"),
        (own.replace('"who"', '["row", "who"]'), "", "must be a text"),
        (own, twice, "cannot be declared otherwise"),
    ):
        path = tmp_path / "p.toml"
        path.write_text(text.format(unit=unit, more=more), encoding="utf-8")
        with pytest.raises(SfumatoError, match=fact):
            load(path)
    with pytest.raises((DeclarationError, TypeError)):
        sf.Schema({"x": sf.Real(0, 1)}, unit=(sf.Rows(), WHO))
    with pytest.raises(DeclarationError):
        sf.Schema({"who": sf.Integer(0, 9)}, unit=WHO)


class Tags(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_bc127_html_injection(tmp_path):
    """Texts that users write are shown as they are and run nowhere."""
    schema = sf.Schema({text: sf.Category(HOSTILE) for text in HOSTILE})
    rows = [dict.fromkeys(HOSTILE, text) for text in HOSTILE]
    desk = sf.Session(sf.Dataset(rows, schema=schema, name=HOSTILE[0]), budget="9")
    query = Query().group_by(HOSTILE[0], HOSTILE[1]).select(count())
    release = desk.ask(query).release("1", title=HOSTILE[0])

    release.save(tmp_path / "page.html")

    assert (
        not {"script", "img", "iframe", "object"}
        & Tags((tmp_path / "page.html").read_text(encoding="utf-8")).found
    )
    head, *cells = csv.reader(io.StringIO(release.to_csv(), newline=""))
    assert not [c for row in [head, *cells] for c in row if c and c[0] in "=@+\t"]
    seen = {c.removeprefix("'") for row in cells for c in row}
    assert set(HOSTILE) <= seen
    groups = [f["group"] for f in json.loads(release.to_json())["figures"]]
    assert {tuple(g.items()) for g in groups} >= {
        ((HOSTILE[0], a), (HOSTILE[1], b)) for a in HOSTILE for b in HOSTILE
    }
