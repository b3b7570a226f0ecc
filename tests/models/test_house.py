"""Who may look at cells, and when scikit-learn is loaded: rules of the source tree."""

import subprocess
import sys
from pathlib import Path

import sfumato

SOURCE = Path(sfumato.__file__).parent


def test_only_training_asks_for_cells():
    """Raw cells as arrays go to one room of the models, which pays before it looks."""
    users = {
        p.relative_to(SOURCE).as_posix()
        for p in SOURCE.rglob("*.py")
        if "models.cells" in p.read_text(encoding="utf-8")
    }

    assert users == {"models/training.py"}


def test_scikit_learn_is_loaded_on_first_use():
    """Importing the package of models loads no library; the budget needs none either."""
    code = (
        "import sys, sfumato.models; loaded = {'sklearn', 'scipy', 'numpy'} & set(sys.modules);"
        " sys.exit(str(loaded) if loaded else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_concrete_scikit_learn_models_are_never_inherited():
    """Only base classes and mixins of sklearn.base stand among the parents."""
    from sfumato import models

    for name in models.__all__:
        kind = getattr(models, name)
        if isinstance(kind, type) and hasattr(kind, "fit"):
            parents = {
                k.__module__ for k in kind.__mro__ if k.__module__.startswith("sklearn")
            }
            allowed = ("sklearn.base", "sklearn.utils")
            assert all(p.startswith(allowed) for p in parents), (name, parents)


def test_every_estimator_has_a_page_that_says_all():
    """Guarantee, algorithm, source and when not to use it; and the overview links to it."""
    from sfumato import models

    folder = Path(__file__).parents[2] / "docs" / "models"
    pages = {p.name: p.read_text(encoding="utf-8") for p in folder.glob("*.md")}
    overview = pages.pop("README.md")
    kinds = [n for n in models.__all__ if hasattr(getattr(models, n), "fit")]
    for name in (*kinds, "evaluate", "evaluate_regression"):
        titled = [f for f, text in pages.items() if name in text.partition("\n")[0]]
        assert len(titled) == 1, name
        assert f"({titled[0]})" in overview
    for text in pages.values():
        for word in ("Guarantee", "Algorithm", "Source", "When not to use it"):
            assert f"**{word}.**" in text
