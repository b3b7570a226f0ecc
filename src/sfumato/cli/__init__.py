"""The command line: words in, exit codes out."""

from __future__ import annotations

from sfumato.cli.root import cli

__all__ = ["cli", "main"]


def main() -> None:
    """Run the program `sfumato`."""
    cli()
