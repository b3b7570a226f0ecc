"""The picture of a reconstruction: a secret column, and what three releases give away."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sfumato.release.audited import Rebuilt
from sfumato.release.wording import Say
from sfumato.report.palette import LIGHT
from sfumato.words import N_

__all__ = ["rebuilt_svg", "standalone"]

_SIDE, _GAP, _ACROSS = 14, 3, 30
_HEAD, _SPACE = 22, 14

_NAMES = {
    "secret": N_("the secret column: who has the disease"),
    "exact": N_("rebuilt from {answers} exact sums: {right} of {people} right"),
    "rounded": N_(
        "rebuilt from the same sums, rounded to 3: {right} of {people} right"
    ),
    "private": N_(
        "rebuilt from the same sums with ε = {epsilon} in all: {right} of {people} right"
    ),
}


def rebuilt_svg(found: Sequence[Rebuilt], say: Say) -> str:
    """Return one row of squares for the truth and one for each reconstruction.

    A filled square is a person with the disease; one with a cross is guessed wrong.

    Args:
        found: The reconstructions of one column.
        say: Says texts in a language.
    """
    if not found:
        return ""
    secret = found[0].secret
    rows: list[tuple[str, tuple[int, ...], dict[str, object]]] = [
        ("secret", secret, {})
    ]
    for one in found:
        facts: dict[str, object] = {
            "answers": one.answers,
            "people": len(secret),
            "right": sum(a == b for a, b in zip(secret, one.guesses, strict=True)),
            "epsilon": one.epsilon,
        }
        rows.append((one.kind, one.guesses, facts))
    lines = -(-len(secret) // _ACROSS)
    height = _HEAD + lines * (_SIDE + _GAP) + _SPACE
    parts, texts = [], []
    for place, (kind, values, facts) in enumerate(rows):
        text = say(_NAMES[kind], **facts)
        texts.append(text)
        top = place * height
        parts.append(
            f'<text x="0" y="{top + 15}" style="fill:var(--ink);font-size:13px">'
            f"{escape(text)}</text>"
        )
        for i, value in enumerate(values):
            x = (i % _ACROSS) * (_SIDE + _GAP)
            y = top + _HEAD + (i // _ACROSS) * (_SIDE + _GAP)
            parts.append(_square(x, y, full=bool(value), wrong=value != secret[i]))
    width = _ACROSS * (_SIDE + _GAP)
    label = escape(say(N_("; ")).join(texts), quote=True)
    return (
        f'<svg viewBox="0 0 {width} {height * len(rows)}" role="img" '
        f'aria-label="{label}" class="picture">{"".join(parts)}</svg>'
    )


def _square(x: int, y: int, *, full: bool, wrong: bool) -> str:
    fill = "var(--fill-1)" if full else "none"
    found = (
        f'<rect x="{x + 0.5}" y="{y + 0.5}" width="{_SIDE - 1}" height="{_SIDE - 1}" '
        f'style="fill:{fill};stroke:var(--edge-1)"/>'
    )
    if wrong:
        a, b, c, d = x + 3, y + 3, x + _SIDE - 3, y + _SIDE - 3
        found += (
            f'<path d="M{a} {b}L{c} {d}M{a} {d}L{c} {b}" '
            'style="stroke:var(--truth);stroke-width:2"/>'
        )
    return found


def standalone(svg: str) -> str:
    """Return a picture as a file of its own, in the colours of a light page."""
    for role, colour in LIGHT.items():
        svg = svg.replace(f"var(--{role})", colour)
    head = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"'
    return svg.replace("<svg", head, 1)
