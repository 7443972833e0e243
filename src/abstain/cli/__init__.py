"""The `abstain` command: one file per command, each parses, calls and prints."""

from abstain.cli.app import main

__all__ = ["main"]
