"""``python -m sfumato.cli``: the program without an installed script."""

from sfumato.cli import main

main()
