"""Matplotlib figures as small inline SVG: real text, no font, no date, no address.

The reader's browser sets the text in its own fonts, so Chinese needs no font where the
page is made. Widths are estimated from characters instead of being measured.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unicodedata import east_asian_width
from xml.etree import ElementTree as ET

from sfumato.release.libraries import need
from sfumato.report.palette import INK, LIGHT

__all__ = ["ems", "fit", "settings", "to_svg", "wrap"]

_LOCK = threading.RLock()  # matplotlib's settings are shared by all threads
_CHINESE = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "PingFang SC",
    "Hiragino Sans GB", "Microsoft YaHei", "WenQuanYi Micro Hei", "SimHei",
)  # fmt: skip
_SETTINGS = {
    "axes.unicode_minus": True,
    "font.size": 12.0,
    "lines.linewidth": 1.5,
    "path.simplify": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "sfumato",
    "text.color": INK,
    "text.parse_math": False,  # a category may be called "$5"
    "text.usetex": False,
}
_ANCHORS = {
    "left": ("", 0.0),
    "center": (";text-anchor:middle", 0.5),
    "right": (";text-anchor:end", 1.0),
}
_NUMBER = re.compile(r"-?\d+\.\d+")
_COLOUR = re.compile("#[0-9a-f]{6}")
_ROLES = {colour: f"var(--{role})" for role, colour in LIGHT.items()}

_WIDE, _CAPITAL, _NARROW, _OTHER = 1.0, 0.68, 0.32, 0.56
_SIGNS = frozenset(" _-/·,;")
_THIN = frozenset("ijltfrI.,;:'|!()[] ")


def ems(text: str) -> float:
    """Estimate the width of `text` in units of its font size.

    Examples:
        >>> ems("年龄"), round(ems("Age"), 2)
        (2.0, 1.8)
    """
    return sum(map(_em, text))


def _em(char: str) -> float:
    if east_asian_width(char) in "WF":
        return _WIDE
    if char in _THIN:
        return _NARROW
    return _CAPITAL if char.isupper() or char in "mwMW%" else _OTHER


def fit(text: str, most: float) -> str:
    """Shorten `text` to at most `most` ems, with an ellipsis.

    Examples:
        >>> fit("Glucose", 20), fit("血糖浓度", 3)
        ('Glucose', '血糖…')
    """
    if ems(text) <= most:
        return text
    while text and ems(text) + _WIDE > most:
        text = text[:-1]
    return f"{text}…"


def wrap(text: str, most: float, lines: int) -> list[str]:
    """Break `text` into at most so many lines of at most `most` ems; `fit` cuts the rest.

    A line ends after a blank or a sign, or beside a Chinese letter, where it can.

    Examples:
        >>> wrap("Mean of Glucose", 6, 2), wrap("感染性疾病与发热门诊", 6, 3)
        (['Mean of', 'Glucose'], ['感染性疾病与', '发热门诊'])
        >>> wrap("Glucose", 20, 3), wrap("one two three four", 4, 2)
        (['Glucose'], ['one two', 'three f…'])
    """
    found: list[str] = []
    while len(found) < lines - 1 and ems(text) > most:
        longest = min(len(text) - 1, int(most / _NARROW) + 1)
        fits = (i for i in range(longest, 1, -1) if ems(text[:i]) <= most)
        room = next(fits, 1)
        ends = (i for i in range(room, 0, -1) if _parts(text[i - 1], text[i]))
        end = next(ends, room)
        found.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*found, fit(text, most)]


def _parts(before: str, after: str) -> bool:
    """Tell whether a line may end between two letters."""
    if before in _SIGNS or after == " ":
        return not after.isdigit()  # within a day or a number
    wide = east_asian_width(before) in "WF" or east_asian_width(after) in "WF"
    return wide and before not in "（［【《“" and after not in "，。；：、）］】》”"


@contextmanager
def settings() -> Iterator[None]:
    """Draw under our settings alone, whatever style the user has set."""
    matplotlib = need("matplotlib")
    with _LOCK, warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")  # deprecated settings, glyphs of other fonts
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        matplotlib.rcParams["font.family"] = _families()
        yield


def _families() -> list[str]:
    manager = need("matplotlib.font_manager").fontManager
    known = {entry.name for entry in manager.ttflist}
    return ["DejaVu Sans", *(name for name in _CHINESE if name in known)]


def to_svg(figure: Any, *, label: str) -> str:
    """Return a figure as an ``<svg>`` element to be put into an HTML page.

    Colours become CSS variables, so the picture follows the page into the dark.

    Args:
        figure: A matplotlib figure that holds no raster image.
        label: What the picture shows, for those who do not see it.
    """
    with settings():
        text = _render(figure)
    root = ET.fromstring(text)  # noqa: S314  our own renderer wrote it
    clean = _clean(root)
    clean.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": label,
        "class": "picture",
    }
    return ET.tostring(clean, encoding="unicode")


def _render(figure: Any) -> str:
    renderers = need("matplotlib.backends.backend_svg")

    to_hex = need("matplotlib.colors").to_hex

    class Renderer(renderers.RendererSVG):  # type: ignore[misc, name-defined]
        """Matplotlib's SVG writer with estimated text in the reader's fonts."""

        def get_text_width_height_descent(
            self, s: str, prop: Any, ismath: Any
        ) -> tuple[float, float, float]:
            del ismath
            size = prop.get_size_in_points()
            # such that centred text has its capitals in the middle
            return ems(s) * size, 0.94 * size, 0.11 * size

        def draw_text(  # noqa: PLR0913, PLR0917  the signature is matplotlib's
            self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float,
            ismath: Any = False, mtext: Any = None,  # noqa: FBT002
        ) -> None:  # fmt: skip
            del angle, ismath  # all our texts are level and plain
            size = prop.get_size_in_points()
            anchor, share = _ANCHORS[mtext.get_ha()]
            weight = ";font-weight:bold" if prop.get_weight() == "bold" else ""
            style = f"fill:{to_hex(gc.get_rgb())};font-size:{size:g}px{weight}{anchor}"
            place = {"x": f"{x + share * ems(s) * size:.6f}", "y": f"{y:.6f}"}
            self.writer.element("text", s, attrib={**place, "style": style})

    out = io.StringIO()
    width, height = (72 * inches for inches in figure.get_size_inches())
    none = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.dpi = 72
    renderer = Renderer(width, height, out, image_dpi=72, metadata=none)
    figure.draw(renderer)
    renderer.finalize()
    return out.getvalue()


def _clean(element: ET.Element) -> ET.Element:
    """Copy an element without namespaces, names and groups."""
    copy = ET.Element(_local(element.tag), _attributes(element))
    copy.text = element.text if copy.tag == "text" else None
    for child in element:
        if _local(child.tag) in {"metadata", "defs"}:
            continue
        kept = _clean(child)
        if kept.tag == "g":
            copy.extend(kept)
        elif kept.attrib.get("style") != "fill:none":
            copy.append(kept)
    return copy


def _attributes(element: ET.Element) -> dict[str, str]:
    style = _style(element.attrib.get("style", ""))
    kept = {k: _short(v) for k in ("d", "x", "y") if (v := element.attrib.get(k))}
    return {**kept, "style": style} if style else kept


def _style(style: str) -> str:
    coloured = _COLOUR.sub(lambda m: _ROLES.get(m[0], m[0]), style)
    return coloured.replace(": ", ":").replace("; ", ";").strip(" ;")


def _short(numbers: str) -> str:
    """Round coordinates to a tenth of a pixel and drop needless spaces."""
    tenth = _NUMBER.sub(lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), numbers)
    return re.sub(r"\s*([CLMz])\s*", r"\1", tenth)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
