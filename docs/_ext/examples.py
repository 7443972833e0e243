"""Every block of code on a page is run by a test, or says why not; a warning names one that does neither.

Tests run what begins with `>>>` and blocks of `console`. A block that cannot be run begins with `# not run here:`.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ELSEWHERE = ("notebooks/", "contributing", "changelog", "reproduction")
"""Pages that are files of the repository, or have tests of their own."""


def idle_blocks(text: str) -> list[int]:
    """The lines at which blocks begin that are neither run nor say why."""
    return [
        text.count("\n", 0, match.start()) + 1
        for match in BLOCK.finditer(text)
        if not match[1].startswith(("{", "console"))
        and not match[2].startswith("# not run here:")
        and ">>> " not in match[2]
    ]


def _read(_app: Sphinx, page: str, text: list[str]) -> None:
    if page.startswith(ELSEWHERE):
        return
    for line in idle_blocks(text[0]):
        getLogger(__name__).warning(
            "this block must be run (>>> or console) or begin with '# not run here:'.",
            location=(page, line),
            type="examples",
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Before a page is parsed."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
