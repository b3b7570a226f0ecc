"""Colours by role, for light and dark pages; safe for colour-blind readers and for print.

Fills and edges are the two halves of Paul Tol's medium-contrast scheme: the hues stay
apart in every common colour blindness, and light against dark survives grey printing.
"""

from __future__ import annotations

__all__ = ["DARK", "EDGES", "FILLS", "GRID", "INK", "LIGHT", "MUTED", "PAPER", "POINT",
           "TRUTH", "variables"]  # fmt: skip

PAPER, INK, MUTED, GRID = "#fdfdfc", "#1c2630", "#5a6672", "#dde2e7"
POINT, TRUTH = "#1f4e86", "#b3261e"
FILLS = ("#7fa8d1", "#e8c667", "#e3a0ab")
EDGES = ("#14487f", "#8f6f00", "#8f3a4c")

LIGHT = {
    "paper": PAPER,
    "card": "#f3f6f9",
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "point": POINT,
    "truth": TRUTH,
    "fill-1": FILLS[0],
    "fill-2": FILLS[1],
    "fill-3": FILLS[2],
    "edge-1": EDGES[0],
    "edge-2": EDGES[1],
    "edge-3": EDGES[2],
}
DARK = {
    "paper": "#14191f",
    "card": "#1b232c",
    "ink": "#e6eaee",
    "muted": "#9aa7b4",
    "grid": "#323c47",
    "point": "#8fbcec",
    "truth": "#ff8a80",
    "fill-1": "#2f5f93",
    "fill-2": "#8a6f1d",
    "fill-3": "#8a4353",
    "edge-1": "#9cc4ee",
    "edge-2": "#ecd07a",
    "edge-3": "#f0b3be",
}


def variables(theme: dict[str, str]) -> str:
    """Return a theme as CSS custom properties."""
    return "".join(f"--{role}:{colour};" for role, colour in theme.items())
