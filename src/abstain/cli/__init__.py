"""The `abstain` command: one file a command, each parses, calls and prints."""

from abstain.cli.app import main

__all__ = ["main"]
