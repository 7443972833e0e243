"""The directive `tree`: the modules of the package as a picture, layer above layer, from the contract on imports."""

import ast
import tomllib
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "abstain"


def layers() -> list[list[str]]:
    """The modules of each layer, users first; what has an underscore is left to the last lines of the contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [line.split(" | ") for line in contract["layers"]]


def summary(module: str) -> str:
    """The first sentence of its docstring."""
    file = PACKAGE / module / "__init__.py" if (PACKAGE / module).is_dir() else PACKAGE / f"{module}.py"
    words = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return words.split("\n\n")[0].replace("\n", " ")


class Tree(SphinxDirective):
    """`.. tree::`."""

    def run(self) -> list[nodes.Node]:
        """Boxes in rows, coloured by the theme."""
        rows = "".join(f"<div>{''.join(map(_box, layer))}</div>" for layer in layers())
        return [nodes.raw("", f'<div class="tree">{rows}</div>', format="html")]


def _box(module: str) -> str:
    return f"<div><code>{escape(module)}</code>{escape(summary(module).replace('`', ''))}</div>"


def setup(app: Sphinx) -> dict[str, Any]:
    """Name the directive."""
    app.add_directive("tree", Tree)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
