"""Help that teaches, in the right language, at little cost."""

import subprocess
import sys
from pathlib import Path

import pytest

import sfumato
from sfumato.cli.width import columns, wrap
from sfumato.words import speaker

COMMANDS = ["demo", "init", "check", "plan", "run", "explain", "advise"]
LEDGER = ["show", "verify", "profile", "export", "reconcile"]


class Mirror:
    """A catalogue that marks what passes through it."""

    def gettext(self, text):
        """Return the text in brackets."""
        return f"⟦{text}⟧"


@pytest.fixture
def mirrored(monkeypatch):
    """Let Chinese be English in brackets, so that untranslated words stand out."""
    monkeypatch.setattr("sfumato.words._catalogue", lambda _: Mirror())


def test_the_first_page_names_every_command(run):
    """`sfumato` alone shows help and is no error."""
    bare, asked = run(), run("--help")

    assert bare.exit_code == asked.exit_code == 0
    assert bare.stdout == asked.stdout
    assert all(f"\n  {name} " in bare.stdout for name in COMMANDS)
    assert "_SFUMATO_COMPLETE=bash_source" in bare.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_teaches_by_example(run, command):
    """Every help page has a usage line, options and examples."""
    page = run(command, "--help")

    assert page.exit_code == 0
    assert page.stdout.startswith(f"Usage: sfumato {command}")
    assert f"\n  sfumato {command} " in page.stdout
    assert all(columns(line) <= 88 for line in page.stdout.splitlines())


@pytest.mark.parametrize("command", LEDGER)
def test_the_ledger_has_commands_of_its_own(run, command):
    """The group names each, and each has a page with examples."""
    group, page = run("ledger"), run("ledger", command, "--help")

    assert group.exit_code == page.exit_code == 0
    assert f"\n  {command} " in group.stdout
    assert page.stdout.startswith(f"Usage: sfumato ledger {command}")
    assert f"\n  sfumato ledger {command} " in page.stdout
    assert all(columns(line) <= 88 for line in page.stdout.splitlines())


@pytest.mark.usefixtures("mirrored")
@pytest.mark.parametrize("words", [["--lang", "zh"], ["--lang=zh-CN"], []])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_word_of_help_is_translated(run, command, words, monkeypatch):
    """--lang, its place aside, and the locale decide; no English is left over."""
    if not words:
        monkeypatch.setenv("SFUMATO_LANG", "zh_CN")
    for line in ([*words, command], [command, *words]):
        page = run(*[w for w in line if w], "--help").stdout

        assert ["⟦Usage: ", "words}⟧"][0] in page
        assert "⟦Show this help.⟧" in page
        assert "⟦[options]⟧" in page


@pytest.mark.usefixtures("mirrored")
def test_the_locale_decides_without_a_wish(run, monkeypatch):
    """A Chinese locale gets Chinese help; a wish for English wins over it."""
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")

    assert "⟦Options:⟧" in run("--help").stdout
    assert "⟦" not in run("--help", "--lang", "en").stdout


@pytest.mark.usefixtures("mirrored")
def test_errors_speak_too(run):
    """Refusals are translated, whatever the place of --lang."""
    assert (
        "⟦there is no command {name}⟧".format(name="'rn'")
        in run("rn", "--lang", "zh").stderr
    )
    assert (
        "⟦epsilon must be greater than 0, got 0⟧"
        in run("--lang", "zh", "explain", "0").stderr
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["rn"], "Error: there is no command 'rn'; did you mean 'run'?\n"),
        (["xyz"], "Error: there is no command 'xyz'; the commands are demo, init, "),
        (["--lng", "zh"], "Error: there is no option --lng; did you mean --lang?\n"),
        (["--lang", "fr"], "Error: unknown language 'fr'; write en or zh\n"),
        (["demo", "--lang", "fr"], "Error: unknown language 'fr'; write en or zh\n"),
        (
            ["explain"],
            "Error: name one loss: EPS or --rho; write, for example: sfumato",
        ),
        (["ledger", "shw"], "Error: there is no command 'shw'; did you mean 'show'?\n"),
        (["ledger", "show"], "LEDGER is missing; see sfumato ledger show --help"),
        (["ledger", "reconcile", "x"], "--operator is missing; name who takes"),
        (["explain", "1", "2"], "Error: one word too many: '2'; see sfumato explain"),
        (["plan", "x", "--rws", "3"], "there is no option --rws; did you mean --rows"),
        (["init", "x", "-o", "y"], "there is no option -o; did you mean --out?"),
        (["plan", "x", "-z"], "there is no option -z; did you mean --help?"),
        (["plan", "x", "--rows"], "option --rows needs a value"),
        (["plan", "x", "--json=3"], "option --json takes no value"),
        (["plan", "x", "--rows", "0"], "--rows must be a whole number of at least 1"),
        (["plan", "x", "--rows", "1e9"], "--rows must be a whole number of at least 1"),
        (["check"], "Error: PROJECT is missing; see sfumato check --help\n"),
    ],
)
def test_slips_on_the_command_line_are_one_line(refused, words, line):
    """A slip is told with its cure; exit code 2."""
    assert line in refused(*words)


def test_an_unknown_language_in_the_environment_is_refused(refused, monkeypatch):
    """SFUMATO_LANG is read like --lang."""
    monkeypatch.setenv("SFUMATO_LANG", "fr")

    assert "unknown language 'fr'" in refused("explain", "1")


def test_the_version(run):
    """The version is one line."""
    assert run("--version").stdout.startswith("sfumato 0.")


def test_help_imports_little():
    """Help needs click and words, not the libraries of the commands."""
    code = (
        "import sys; from sfumato.cli import cli; cli(['--help'], standalone_mode=False);"
        "print([m for m in ('numpy', 'duckdb', 'pydantic', 'sqlite3', 'matplotlib',"
        " 'jinja2', 'sfumato.session', 'sfumato.project') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={
            "PYTHONPATH": str(Path(sfumato.__file__).parent.parent),
            "LANG": "C.UTF-8",
        },
    )

    assert found.stdout.endswith("[]\n")


def test_completion_is_offered(program):
    """The shell's completion script is click's own."""
    found = program(_SFUMATO_COMPLETE="bash_source")

    assert "_sfumato_completion" in found.stdout


def test_lines_break_where_chinese_allows():
    """No line begins with a closing mark or exceeds the width."""
    text = "隐私预算用完之后，账本会拒绝任何新的查询；已经花掉的预算不会退还。" * 3

    lines = wrap(text, 30)

    assert "".join(lines) == text
    assert all(columns(line) <= 30 for line in lines)
    assert all(line[0] not in "，；。" for line in lines)
    assert speaker("en")("x") == "x"


def test_no_colour_when_not_wanted(program):
    """NO_COLOR is respected, and pipes get no escapes."""
    assert "\x1b" not in program("--help", NO_COLOR="1").stdout
    assert "\x1b" not in program("--help").stdout
