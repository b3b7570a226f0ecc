"""Pages in a real browser: silent, offline, in both languages, on screens and on paper.

Needs Chromium, spoken to over a pipe (Chrome DevTools Protocol; no package is needed), and
is skipped where there is none. Pictures of every page are kept for people to look at: the
environment variable SFUMATO_PICTURES names the folder.
"""

from __future__ import annotations

import base64
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

from sfumato.release import Release
from sfumato.report import to_html

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--force-color-profile=srgb", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 300.0  # seconds for one answer, on a busy machine


def find_browser() -> str:
    """Return the path of a Chromium, or an empty text."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


@dataclass
class Page:
    """One page in a browser, with all that it said and asked for."""

    call: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        told = self.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True}
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def size(self, width: int, height: int) -> None:
        """Set the size of the window in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": width,
                "height": height,
                "deviceScaleFactor": 1,
                "mobile": False,
            },
        )

    def media(self, *, kind: str = "screen", theme: str = "light") -> None:
        """Show the page on a screen or on paper, by day or by night."""
        scheme = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", {"media": kind, "features": [scheme]})

    def press(self, key: str, code: int) -> None:
        """Press a key."""
        facts = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind, more in (("keyDown", text), ("keyUp", {})):
            self.call("Input.dispatchKeyEvent", {"type": kind, **facts, **more})

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        whole = {"format": "png", "captureBeyondViewport": True}
        return base64.b64decode(self.call("Page.captureScreenshot", whole)["data"])

    def paper(self) -> bytes:
        """Return the page printed to A4, by its own rules, as PDF."""
        self.media(kind="print")
        rules = {"preferCSSPageSize": True, "printBackground": False}
        return base64.b64decode(self.call("Page.printToPDF", rules)["data"])

    def accessible(self) -> list[dict[str, Any]]:
        """Return what a screen reader is told."""
        nodes = self.call("Accessibility.getFullAXTree", {})["nodes"]
        return [node for node in nodes if not node["ignored"]]


class _Pipe:
    """Calls and events over two file descriptors; messages end with a zero byte."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._rest = read, write, b""
        self._count, self.session = 0, ""
        self.heard: list[dict[str, Any]] = []

    def _next(self) -> dict[str, Any]:
        until = monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], until - monotonic())
            assert ready, "the browser does not answer"
            more = os.read(self._read, 1 << 20)
            assert more, "the browser ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told

    def call(self, method: str, facts: dict[str, Any]) -> dict[str, Any]:
        """Call a method and wait for its answer; events before it are kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": facts}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (told := self._next()).get("id") != self._count:
            self.heard.append(told)
        assert "error" not in told, (method, told)
        answer: dict[str, Any] = told["result"]
        return answer

    def wait_for(self, method: str) -> None:
        """Wait for an event."""
        while not any(told.get("method") == method for told in self.heard):
            self.heard.append(self._next())


@contextmanager
def started(browser: str) -> Iterator[_Pipe]:
    """Start a fresh browser, with an empty profile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()

        def connect() -> None:  # Chromium reads from 3 and writes to 4
            first, second = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        process = subprocess.Popen(
            [browser, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False,  # noqa: PLW1509  there is one thread
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield _Pipe(ours_in, ours_out)
        finally:
            process.terminate()
            process.wait(PATIENCE)
            os.close(ours_in)
            os.close(ours_out)


@contextmanager
def opened(pipe: _Pipe, path: Path) -> Iterator[Page]:
    """Open a file on a page of its own; it has loaded and said what it had to say."""
    pipe.session, pipe.heard = "", []
    target = pipe.call("Target.createTarget", {"url": "about:blank"})["targetId"]
    joined = {"targetId": target, "flatten": True}
    pipe.session = pipe.call("Target.attachToTarget", joined)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
        pipe.call(f"{domain}.enable", {})
    page = Page(pipe.call)
    page.size(1200, 900)
    pipe.call("Page.navigate", {"url": path.absolute().as_uri()})
    pipe.wait_for("Page.loadEventFired")
    page.ask("document.readyState")  # one more turn: late messages arrive before it
    for told in pipe.heard:
        match told:
            case {"method": "Runtime.exceptionThrown" | "Runtime.consoleAPICalled"}:
                page.complaints.append(json.dumps(told["params"]))
            case {"method": "Log.entryAdded"}:
                page.complaints.append(told["params"]["entry"]["text"])
            case {"method": "Network.requestWillBeSent"}:
                page.requests.append(told["params"]["request"]["url"])
    yield page
    pipe.session = ""
    pipe.call("Target.closeTarget", {"targetId": target})


BROWSER = find_browser()
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine")
A4 = (595, 842)  # points
WIDTHS = (360, 768, 1200)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures are kept."""
    named = os.environ.get("SFUMATO_PICTURES")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(params=["en", "zh"])
def lang(request: pytest.FixtureRequest) -> str:
    """Both languages."""
    return str(request.param)


@pytest.fixture(scope="module")
def browser() -> Iterator[_Pipe]:
    """One browser for all tests; every page is its own."""
    with started(BROWSER) as pipe:
        yield pipe


@contextmanager
def shown(pipe: _Pipe, text: str, folder: Path) -> Iterator[Page]:
    """Open a page, and see that it is silent, offline and fits its window."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    with opened(pipe, file) as page:
        assert page.complaints == []
        assert page.requests == [file.absolute().as_uri()]
        for width in WIDTHS:
            page.size(width, 900)
            assert page.ask("document.documentElement.scrollWidth") <= width
        page.size(1200, 900)
        yield page


def keep(page: Page, folder: Path, name: str) -> None:
    """Keep pictures by day, by night and on a telephone, and a print."""
    for theme in ("light", "dark"):
        page.media(theme=theme)
        (folder / f"{name}-{theme}.png").write_bytes(page.picture())
    page.media()
    page.size(390, 844)
    (folder / f"{name}-telephone.png").write_bytes(page.picture())
    page.size(1200, 900)
    (folder / f"{name}.pdf").write_bytes(page.paper())


def test_a_release(
    browser: _Pipe, release: Release, lang: str, tmp_path: Path, pictures: Path
) -> None:
    """Silent, offline, no wider than its window; it prints to A4; pictures are kept."""
    figures = tuple(
        replace(
            f,
            sampling=(f.low - 9, f.high + 9),
            dots=tuple(np.linspace(f.low, f.high, 20)),
        )
        for f in release.figures
    )
    release = replace(release, figures=figures)
    with shown(browser, to_html([release, release], lang=lang), tmp_path) as page:
        keep(page, pictures, f"release-{lang}")

    printed = (pictures / f"release-{lang}.pdf").read_bytes()
    sheets = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", printed)
    assert sheets
    assert {(round(float(w)), round(float(h))) for w, h in sheets} == {A4}


def test_what_a_screen_reader_is_told(
    browser: _Pipe, release: Release, lang: str, tmp_path: Path
) -> None:
    """Each picture, table and region has a name; there is one main heading."""
    with shown(browser, to_html([release], lang=lang), tmp_path) as page:
        nodes = page.accessible()

    def named(*roles: str) -> list[str]:
        return [
            node.get("name", {}).get("value", "")
            for node in nodes
            if node["role"]["value"] in roles
        ]

    for roles in (("image", "img", "graphics-document"), ("table",), ("region",)):
        assert named(*roles)
        assert all(named(*roles))
    tops = [
        node
        for node in nodes
        if node["role"]["value"] == "heading"
        and {"name": "level", "value": {"type": "integer", "value": 1}}
        in node["properties"]
    ]
    assert len(tops) == 1


def test_by_keyboard(browser: _Pipe, release: Release, tmp_path: Path) -> None:
    """Tab reaches what can be opened, Enter opens it, and one sees where one is."""
    with shown(browser, to_html([release], lang="en"), tmp_path) as page:
        for _ in range(40):
            page.press("Tab", 9)
            if page.ask("document.activeElement.tagName") == "SUMMARY":
                break
        outline = page.ask("getComputedStyle(document.activeElement).outlineStyle")
        before = page.ask("document.activeElement.parentElement.open")
        page.press("Enter", 13)
        after = page.ask("document.activeElement.parentElement.open")

    assert outline == "solid"
    assert (before, after) == (False, True)


def test_the_test_can_fail(browser: _Pipe, release: Release, tmp_path: Path) -> None:
    """A page that asks for a picture, logs or is too wide is found out."""
    text = to_html([release], lang="en")
    for fault in (
        '<img src="https://example.org/x.png" alt="">',
        "<script>console.log(1)</script>",
        '<div style="width:3000px">wide</div>',
    ):
        broken = text.replace("</main>", f"{fault}</main>")
        with pytest.raises(AssertionError), shown(browser, broken, tmp_path):
            pass
