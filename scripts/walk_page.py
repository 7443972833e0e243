"""Type what a page of the documentation shows, line by line, in the Python and the environment that run this.

    python scripts/walk_page.py PAGE

Examples must print what the page shows, commands must succeed. `scripts/release` walks each page of docs/start so.
"""

import doctest
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def main(page: str) -> int:
    """An error or another output ends it."""
    names: dict[str, object] = {}
    for kind, block in BLOCK.findall(Path(page).read_text(encoding="utf-8")):
        if kind == "console":
            for command in re.findall(r"^\$ (.*)", block, re.MULTILINE):
                subprocess.run(command, shell=True, check=True)
        else:
            _examples(block, names, page)
    return 0


def _examples(block: str, names: dict[str, object], page: str) -> None:
    example = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    if runner.run(example, clear_globs=False).failed:
        raise SystemExit(1)
    names.update(example.globs)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
