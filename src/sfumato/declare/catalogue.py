"""Bounds to begin with for common clinical columns, found by the column's name alone.

Each range is wide enough for any living patient, not a reference interval: outside it
a value is more likely a typing error than a measurement. The ranges are ours, set
with a wide margin around the limits that the named works discuss; **the steward of
the table must confirm each one**, above all the unit. Nothing here reads a table.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TypeAlias, final

from sfumato.words import N_

__all__ = ["CATALOGUE", "Entry", "Range", "Suggestion", "suggest"]

Key: TypeAlias = "str | int"


@final
@dataclass(frozen=True, slots=True)
class Range:
    """Plausible bounds in one unit of measurement.

    Attributes:
        unit: The unit, such as ``"mg/dL"``.
        lower: Smallest plausible value.
        upper: Largest plausible value.
        step: Usual precision of the measurement.
    """

    unit: str
    lower: float
    upper: float
    step: float = 1


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of column.

    Attributes:
        english: Its name in English.
        chinese: Its name in Chinese.
        aliases: Further names that columns of this kind have.
        ranges: Bounds, one per unit in use; the SI unit, where two are in use, last.
        whole: Whether values are whole numbers.
        missing: Codes that often stand for "no value", impossible as measurements.
        keys: For a category, its usual spellings, each a list of keys; then `ranges` is
            empty.
        native: The spelling of a column with a Chinese name; none for the first of `keys`.
        source: The work whose limits the bounds lie well outside of.
    """

    english: str
    chinese: str
    aliases: tuple[str, ...]
    ranges: tuple[Range, ...] = ()
    whole: bool = False
    missing: tuple[int, ...] = ()
    keys: tuple[tuple[Key, ...], ...] = ()
    native: tuple[Key, ...] = ()
    source: str = ""


@final
@dataclass(frozen=True, slots=True)
class Suggestion:
    """An entry for a column, with what to begin with and the other choices.

    Attributes:
        entry: The kind of column.
        first: The bounds to begin with; none for a category.
        others: The bounds in other units.
        keys: The keys to begin with; none for a number.
        spellings: Other usual spellings of the keys.
    """

    entry: Entry
    first: Range | None
    others: tuple[Range, ...]
    keys: tuple[Key, ...] = ()
    spellings: tuple[tuple[Key, ...], ...] = ()


TIETZ = "Tietz Textbook of Laboratory Medicine"
NHANES = N_("CDC NHANES laboratory and examination manuals")
WHO = N_("WHO STEPS surveillance manual")
ICU = N_("plausibility limits usual in intensive-care registries")
OWN = N_("our own judgement")

R, E = Range, Entry

# fmt: off
CATALOGUE: tuple[Entry, ...] = (
    # demography and history
    E("Age", "年龄", ("age_years", "age at admission", "岁"), (R("years", 0, 120),), whole=True, source=WHO),
    E("Sex", "性别", ("gender", "性別"), keys=(("F", "M"), ("female", "male"), (1, 2)), native=("男", "女"), source=WHO),
    E("Pregnancies", "怀孕次数", ("gravidity", "number of pregnancies", "孕次"), (R("", 0, 25),), whole=True, source=NHANES),
    E("Parity", "产次", ("births", "deliveries", "分娩次数"), (R("", 0, 20),), whole=True, source=NHANES),
    E("Length of stay", "住院天数", ("los", "los_days", "hospital days", "住院日"), (R("days", 0, 365),), whole=True, source=OWN),
    E("Outcome", "结局", ("label", "diabetes", "died", "death", "mortality", "readmitted", "诊断结果", "是否患病", "死亡"), keys=((0, 1), ("no", "yes")), native=("否", "是"), source=OWN),
    E("Smoker", "吸烟", ("smoking", "current smoker", "是否吸烟", "吸烟史"), keys=((0, 1), ("no", "yes")), native=("否", "是"), source=WHO),
    E("Diabetes pedigree function", "糖尿病谱系函数", ("DiabetesPedigreeFunction", "dpf", "糖尿病遗传函数"), (R("", 0, 2.5, 0.001),), source="Smith et al. 1988 (Pima study)"),
    # body
    E("Height", "身高", ("stature", "body height"), (R("cm", 30, 250, 0.1),), missing=(0,), source=NHANES),
    E("Weight", "体重", ("body weight", "bodyweight"), (R("kg", 0.3, 350, 0.1),), missing=(0,), source=NHANES),
    E("BMI", "体重指数", ("body mass index", "bmi_kg_m2", "体质指数", "身体质量指数"), (R("kg/m²", 8, 100, 0.1),), missing=(0,), source=NHANES),
    E("Waist circumference", "腰围", ("waist", "wc"), (R("cm", 20, 250, 0.1),), missing=(0,), source=NHANES),
    E("Skin thickness", "皮褶厚度", ("triceps", "triceps skinfold", "skinfold", "皮肤厚度", "三头肌皮褶厚度"), (R("mm", 1, 100),), missing=(0,), source=NHANES),
    # vital signs
    E("Systolic blood pressure", "收缩压", ("sbp", "systolic", "systolic bp", "ap_hi", "高压"), (R("mmHg", 30, 300),), missing=(0,), source=WHO),
    E("Diastolic blood pressure", "舒张压", ("dbp", "diastolic", "diastolic bp", "ap_lo", "blood pressure", "BloodPressure", "trestbps", "低压", "血压"), (R("mmHg", 10, 200),), missing=(0,), source=WHO),
    E("Heart rate", "心率", ("hr", "pulse", "pulse rate", "脉搏", "thalach"), (R("/min", 10, 300),), missing=(0,), source=ICU),
    E("Respiratory rate", "呼吸频率", ("rr", "resp rate", "respiration", "呼吸"), (R("/min", 1, 100),), missing=(0,), source=ICU),
    E("Body temperature", "体温", ("temperature", "temp"), (R("°F", 75, 115, 0.1), R("°C", 24, 46, 0.1)), missing=(0,), source=ICU),
    E("Oxygen saturation", "血氧饱和度", ("spo2", "sao2", "o2sat", "血氧"), (R("%", 0, 100),), source=ICU),
    # sugar
    E("Glucose", "血糖", ("fpg", "fbg", "fasting glucose", "fasting plasma glucose", "blood glucose", "plasma glucose", "glu", "空腹血糖", "葡萄糖"), (R("mg/dL", 5, 1500), R("mmol/L", 0.2, 85, 0.1)), missing=(0,), source=TIETZ),
    E("HbA1c", "糖化血红蛋白", ("a1c", "glycated haemoglobin", "glycated hemoglobin", "hemoglobin a1c", "ghb"), (R("%", 2, 25, 0.1), R("mmol/mol", 0, 250)), missing=(0,), source=TIETZ),
    E("Insulin", "胰岛素", ("serum insulin", "ins", "空腹胰岛素", "血清胰岛素"), (R("µU/mL", 0, 1000), R("pmol/L", 0, 7000)), missing=(0,), source=TIETZ),
    # fats
    E("Total cholesterol", "总胆固醇", ("cholesterol", "chol", "tc", "胆固醇"), (R("mg/dL", 10, 1500), R("mmol/L", 0.3, 40, 0.01)), missing=(0,), source=TIETZ),
    E("LDL cholesterol", "低密度脂蛋白胆固醇", ("ldl", "ldl-c", "低密度脂蛋白"), (R("mg/dL", 1, 1000), R("mmol/L", 0.02, 26, 0.01)), missing=(0,), source=TIETZ),
    E("HDL cholesterol", "高密度脂蛋白胆固醇", ("hdl", "hdl-c", "高密度脂蛋白"), (R("mg/dL", 1, 250), R("mmol/L", 0.02, 6.5, 0.01)), missing=(0,), source=TIETZ),
    E("Triglycerides", "甘油三酯", ("triglyceride", "tg", "trig", "三酰甘油"), (R("mg/dL", 5, 10000), R("mmol/L", 0.05, 115, 0.01)), missing=(0,), source=TIETZ),
    # kidney
    E("Creatinine", "肌酐", ("serum creatinine", "scr", "crea", "cr", "血肌酐"), (R("mg/dL", 0.05, 40, 0.01), R("µmol/L", 4, 3500)), missing=(0,), source=TIETZ),
    E("Urea nitrogen", "尿素氮", ("bun", "blood urea nitrogen", "urea", "尿素"), (R("mg/dL", 1, 300), R("mmol/L", 0.3, 110, 0.1)), missing=(0,), source=TIETZ),
    E("Uric acid", "尿酸", ("ua", "urate", "血尿酸"), (R("mg/dL", 0.1, 40, 0.1), R("µmol/L", 6, 2400)), missing=(0,), source=TIETZ),
    E("eGFR", "肾小球滤过率", ("gfr", "estimated gfr", "估算肾小球滤过率"), (R("mL/min/1.73 m²", 0, 250),), source=TIETZ),
    # liver
    E("ALT", "谷丙转氨酶", ("alanine aminotransferase", "sgpt", "gpt", "丙氨酸氨基转移酶"), (R("U/L", 0, 20000),), source=TIETZ),
    E("AST", "谷草转氨酶", ("aspartate aminotransferase", "sgot", "got", "天门冬氨酸氨基转移酶"), (R("U/L", 0, 20000),), source=TIETZ),
    E("Total bilirubin", "总胆红素", ("bilirubin", "tbil", "胆红素"), (R("mg/dL", 0, 80, 0.1), R("µmol/L", 0, 1400, 0.1)), source=TIETZ),
    E("Albumin", "白蛋白", ("alb", "serum albumin", "血清白蛋白"), (R("g/dL", 0.3, 8, 0.1), R("g/L", 3, 80, 0.1)), missing=(0,), source=TIETZ),
    # blood
    E("Haemoglobin", "血红蛋白", ("hemoglobin", "hgb", "hb"), (R("g/dL", 1, 28, 0.1), R("g/L", 10, 280)), missing=(0,), source=TIETZ),
    E("Haematocrit", "红细胞压积", ("hematocrit", "hct", "红细胞比容"), (R("%", 3, 85, 0.1),), missing=(0,), source=TIETZ),
    E("White blood cells", "白细胞", ("wbc", "leukocytes", "white cell count", "白细胞计数"), (R("10⁹/L", 0, 800, 0.01),), source=TIETZ),
    E("Platelets", "血小板", ("plt", "platelet count", "血小板计数"), (R("10⁹/L", 0, 4000),), source=TIETZ),
    E("C-reactive protein", "C反应蛋白", ("crp", "hs-crp", "超敏C反应蛋白"), (R("mg/dL", 0, 100, 0.01), R("mg/L", 0, 1000, 0.1)), source=TIETZ),
    # electrolytes and gases
    E("Sodium", "钠", ("na", "serum sodium", "血钠"), (R("mmol/L", 80, 220),), missing=(0,), source=TIETZ),
    E("Potassium", "钾", ("k", "serum potassium", "血钾"), (R("mmol/L", 0.5, 15, 0.1),), missing=(0,), source=TIETZ),
    E("Calcium", "钙", ("ca", "serum calcium", "血钙"), (R("mg/dL", 1, 30, 0.1), R("mmol/L", 0.2, 7.5, 0.01)), missing=(0,), source=TIETZ),
    E("Lactate", "乳酸", ("lac", "lactic acid", "血乳酸"), (R("mg/dL", 0, 450), R("mmol/L", 0, 50, 0.1)), source=ICU),
    E("pH", "酸碱度", ("blood ph", "arterial ph", "血pH"), (R("", 6.3, 8.2, 0.01),), missing=(0,), source=ICU),
)
# fmt: on

_BRACKET = re.compile(r"^(.*?)\s*[(\[（【]([^()\[\]（）【】]*)[)\]）】]\s*$", re.DOTALL)
_NATIVE = {"years": "岁", "days": "天"}  # of columns with Chinese names
_UNITS = {"ug": "µg", "umol/l": "µmol/l", "uu/ml": "µu/ml", "c": "°c", "f": "°f"}


def suggest(column: str) -> Suggestion | None:
    """Find what the catalogue says about a column of that name, or none.

    Case, blanks, underscores and hyphens do not matter. A unit in brackets chooses
    the range; without one a Chinese name gets the SI unit, which Chinese laboratories
    report, and any other name the first unit listed. So it is with keys: how a table
    spells them is private, the language of the column's name is not.

    Examples:
        >>> suggest("fasting_glucose").first
        Range(unit='mg/dL', lower=5, upper=1500, step=1)
        >>> suggest("空腹血糖").first.unit, suggest("GLUCOSE (mmol/L)").first.unit
        ('mmol/L', 'mmol/L')
        >>> suggest("Sex").keys, suggest("性别").keys
        (('F', 'M'), ('男', '女'))
        >>> suggest("Age").first.unit, suggest("年龄").first.unit
        ('years', '岁')
        >>> suggest("favourite colour")
    """
    name, unit = column, ""
    entry = _BY_NAME.get(_normal(name))
    if entry is None and (bracket := _BRACKET.match(column)):
        name, unit = bracket[1], bracket[2]
        entry = _BY_NAME.get(_normal(name))
    if entry is None:
        return None
    native = _is_chinese(name)
    first = _choose(entry.ranges, unit, is_chinese=native)
    keys = tuple(k for k in (*entry.keys, entry.native) if k)
    if native and entry.native:
        keys = (entry.native, *entry.keys)
    return Suggestion(
        entry,
        _spelt(first, is_chinese=native),
        tuple(r for r in entry.ranges if r is not first),
        keys[0] if keys else (),
        keys[1:],
    )


def _choose(ranges: tuple[Range, ...], unit: str, *, is_chinese: bool) -> Range | None:
    asked = _unit(unit)
    for found in ranges:
        if asked and _unit(found.unit) == asked:
            return found
    if not ranges:
        return None
    return ranges[-1] if is_chinese else ranges[0]


def _spelt(bounds: Range | None, *, is_chinese: bool) -> Range | None:
    if bounds is None or not is_chinese or bounds.unit not in _NATIVE:
        return bounds
    return replace(bounds, unit=_NATIVE[bounds.unit])


def _normal(name: str) -> str:
    return re.sub(r"[\s_-]+", "", unicodedata.normalize("NFKC", name).casefold())


def _unit(text: str) -> str:
    plain = re.sub(r"\s+", "", unicodedata.normalize("NFKC", text).casefold())
    plain = plain.replace("\u03bc", "\u00b5")  # NFKC turns the micro sign into mu
    return _UNITS.get(plain, plain).replace("\u03bc", "\u00b5")


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text)


_BY_NAME = {
    _normal(name): entry
    for entry in CATALOGUE
    for name in (entry.english, entry.chinese, *entry.aliases)
}
