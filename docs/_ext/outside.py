"""Files of the repository as pages: a line `<!-- FILE -->` becomes the file, and its links those of the site."""

import re
from pathlib import Path
from posixpath import join, normpath
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "reproduction/README.md": "reproduction.md",
}


def _read(_app: Sphinx, _page: str, text: list[str]) -> None:
    text[0] = re.sub(r"^<!-- (\S+\.md) -->$", lambda match: _file(match[1]), text[0], flags=re.MULTILINE)


def _file(name: str) -> str:
    def link(match: re.Match[str]) -> str:
        target = normpath(join(Path(name).parent.as_posix(), match[1]))
        return f"]({PAGES.get(target) or target.removeprefix('docs/')}{match[2] or ''})"

    words = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)", link, words)


def setup(app: Sphinx) -> dict[str, Any]:
    """Before a page is parsed."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
