"""Make the oracle and the strategies importable: `import oracle`, `import adversary`."""

import sys
from pathlib import Path

for folder in ("oracle", "engine"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
