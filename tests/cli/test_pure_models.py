"""Under an (ε, δ) budget a model of pure ε costs far more than with a δ, and is told so."""

import pytest

from sfumato.models.price import read_price

pytest.importorskip("sklearn")
MODEL = '[[models]]\nname = "m"\ntarget = "Outcome"\nepsilon = "0.5"\n'
BUDGET = 'epsilon = "8"\ndelta = "1e-6"'
RELEASE = '[[releases]]\nname = "r"\n{}\nstatistics = [{{ count = true }}]\n'
SAYS = "Model m asks for pure ε, which costs ρ "


@pytest.fixture
def project(desk, good):
    """Write a project of one release and one model under a budget."""

    def write(budget, model=MODEL):
        amount = 'rho = "0.1"' if "rho" in budget else 'epsilon = "0.1"'
        asked = RELEASE.format(amount) + model
        start, end = good.index("[budget]"), good.index("[output]")
        desk.project(good[:start] + f"[budget]\n{budget}\n{asked}" + good[end:])

    return write


@pytest.mark.parametrize("command", ["check", "plan", "advise"])
def test_what_a_delta_would_save_is_told(run, project, command):
    """With both amounts, exactly as they would be charged."""
    project(BUDGET)
    pure, gaussian = (
        read_price("0.5", delta, "add_remove").loss("zcdp") for delta in (0, "1e-6")
    )

    page = run(command, "project.toml", "--lang", "en").stdout

    assert f"{SAYS}{pure} of this budget" in page
    assert (
        f'With delta = "0.000001" in its entry the same ε costs ρ {gaussian} (' in page
    )
    project(BUDGET, MODEL + 'delta = "1e-6"\n')
    assert SAYS not in run(command, "project.toml", "--lang", "en").stdout


@pytest.mark.parametrize("budget", ['epsilon = "8"', 'rho = "2"'])
def test_nothing_is_told_where_no_delta_helps(run, project, budget):
    """Pure ε pays for itself, and a budget in ρ alone names no δ."""
    project(budget)

    page = run("check", "project.toml", "--lang", "en")

    assert "sfumato train" in page.stdout and "pure ε" not in page.stdout, page.stderr


def test_a_model_that_is_too_dear_is_told_what_helps(refused, project):
    """It is refused for want of a δ, and a lower ε is not the only way."""
    project('epsilon = "1"\ndelta = "1e-6"')

    line = refused("check", "project.toml", "--lang", "en")

    assert "give 'm' a delta" in line and "the same epsilon costs 0.0077" in line
