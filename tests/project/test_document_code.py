"""Code in the documents runs as it stands, on tables with the columns that it names."""

import re
from pathlib import Path

import pytest

import sfumato as sf

ROOT = Path(__file__).parent.parent.parent
NUMBERS = {"Weight": 70, "Height": 1.7, "Age": 40, "Glucose": 120, "Systolic": 130,
           "Diastolic": 80}  # fmt: skip
KEYS = {"Outcome": [0, 1], "Sex": ["F", "M"]}
PEOPLE = [
    {name: value + i % 7 for name, value in NUMBERS.items()}
    | {"Outcome": i % 2, "Sex": "FM"[i % 2], "Pregnant": i % 4 == 0}
    for i in range(600)
]
SCHEMA = sf.Schema(
    {name: sf.Real(0, 300, step="0.1") for name in NUMBERS}
    | {name: sf.Category(keys) for name, keys in KEYS.items()}
    | {"Pregnant": sf.Boolean()}
)
FILES = {
    "labs.csv": "patient,HbA1c,day\n1,7.1,2023-02-03\n2,9.5,2023-02-04\n",
    "visits.csv": "patient,site,cost\n1,A,30\n2,B,500\n2,A,20\n",
    "visits-2024.csv": "patient,site,cost\n1,A,90\n",
    "sites.csv": "site,region,beds\nA,north,90\nB,south,400\n",
    "patients.csv": "City,Glucose\n" + "Ulm,120\nBonn,150\n" * 200,
}


def code(name):
    """Return the first block of Python of a document."""
    text = (ROOT / "docs" / name).read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]


@pytest.fixture
def patients():
    """A dataset with the columns that the documents speak of."""
    return sf.Dataset(PEOPLE, schema=SCHEMA, name="patients")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the files that the documents name."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("desk")
def test_joins():
    """Every question of the example can be planned."""
    names = {}

    exec(code("joins.md"), names)

    for name in ("by_region", "bad", "both", "years"):
        assert names[name].plan("0.1").cost == sf.Epsilon("0.1")


@pytest.mark.usefixtures("desk")
def test_unknown_keys():
    """The threshold that the comment tells is that of the plan."""
    names = {"sf": sf}

    exec(code("keys.md"), names)

    told = re.search(r"print\(plan\) +# … (.*)", code("keys.md"))
    assert told and told[1] in str(names["plan"])


@pytest.mark.parametrize(
    ("name", "library"),
    [("expressions.md", "sfumato"), ("sql.md", "sqlglot"), ("ibis.md", "ibis")],
)
def test_questions(name, library, patients):
    """In Python, in SQL and as an expression of Ibis."""
    pytest.importorskip(library)
    names = {"sf": sf, "session": sf.Session(patients, budget="5")}

    exec(code(name), names)

    asked = names.get("ask")
    assert asked is None or asked.plan("0.5").cost == sf.Epsilon("0.5")


@pytest.mark.usefixtures("desk")
def test_synthetic_tables(patients):
    """Planned, made, drawn from and saved."""
    names = {"patients": patients}

    exec(code("synthetic.md"), names)

    drawn = names["made"].sample(300)
    rows = zip(drawn["Sex"], drawn["Pregnant"], strict=True)
    assert ("M", True) not in set(rows)
    assert Path("synthetic.csv").exists() and Path("clinic.synth").exists()
