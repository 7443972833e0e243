"""What a table has that no command looks at, so that nobody believes it counted."""

import sys
from pathlib import Path

from abstain.cli.letters import shown


def unused_note(place: Path, /, *, group: str | None = None) -> list[str]:
    """One note on the columns of a table that are not used; none of other outputs."""
    from abstain.outputs.column_names import unused_words
    from abstain.outputs.columns import SUFFIXES, names_of

    words = unused_words(names_of(place), group=group) if place.suffix.lower() in SUFFIXES and place.is_file() else None
    return [] if words is None else [words]


def tell_unused(place: Path, /, *, group: str | None = None) -> None:
    """The same on standard error, where a command has no notes."""
    for words in unused_note(place, group=group):
        print(shown(f"abstain: {words}"), file=sys.stderr)
