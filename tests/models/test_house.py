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
