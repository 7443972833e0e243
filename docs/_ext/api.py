"""The directive `api`: all public names of a module, a table first, then each with its docstring."""

import importlib
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from docutils import nodes
from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import stringify_annotation

from abstain import errors

WITHOUT_ALL = {
    "abstain.evaluation.sensitivity": ["ScaleSensitivity", "scale_sensitivity"],
    "abstain.mlflow": ["LoggedModel", "log_certificate", "log_evaluation", "log_model"],
    "abstain.onnx": ["attach"],
}
FUNCTION, CLASS, CONSTANT = range(3)
ARRAY_LIKE = stringify_annotation(ArrayLike, "smart")


def public_names(module: ModuleType) -> list[str]:
    """Functions, then classes, then constants, each from A to Z."""
    names = WITHOUT_ALL.get(module.__name__) or module.__all__
    return sorted(names, key=lambda name: (_kind(getattr(module, name)), name.lower()))


def _kind(found: Any) -> int:
    return CLASS if inspect.isclass(found) else FUNCTION if inspect.isroutine(found) else CONSTANT


class Api(SphinxDirective):
    """`.. api:: abstain.scores`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The reST of the whole page, parsed."""
        module = importlib.import_module(self.arguments[0])
        lines = [f".. automodule:: {module.__name__}", "", ".. list-table::", "   :class: names", ""]
        names = public_names(module)
        for name in names:
            home = errors if name in errors.__all__ else module
            lines += [f"   * - :py:obj:`~{home.__name__}.{name}`", f"     - {_summary(module, name)}"]
        for name in names:
            lines += ["", *_entry(module, name)]
        return self.parse_text_to_nodes("\n".join(lines))


def _entry(module: ModuleType, name: str) -> Iterator[str]:
    found = getattr(module, name)
    kind = _kind(found)
    if kind == CLASS and issubclass(found, Exception) and module is not errors:
        return  # the table leads to the page of errors
    if kind == CONSTANT:
        yield from (f".. py:data:: {name}", "", *(f"   {line}" for line in _words(module, name)))
    else:
        yield from (f".. autofunction:: {name}",) if kind == FUNCTION else (f".. autoclass:: {name}", "   :members:")


def _summary(module: ModuleType, name: str) -> str:
    """The first paragraph."""
    return " ".join(" ".join(_words(module, name)).split("  ")[0].split())


def _words(module: ModuleType, name: str) -> list[str]:
    found = getattr(module, name)
    if _kind(found) != CONSTANT:
        return (inspect.getdoc(found) or "").splitlines()
    homes = [each for key, each in sys.modules.items() if key.startswith("abstain.") and vars(each).get(name) is found]
    documented = (ModuleAnalyzer.for_module(home.__name__) for home in homes)
    return next((words for each in documented if (words := each.find_attr_docs().get(("", name)))), [])


def _skip(_app: Sphinx, _what: str, _name: str, member: Any, skip: bool, _options: Any) -> bool:
    """What other packages add to our classes is theirs to document."""
    return skip or not (getattr(member, "__module__", None) or "abstain").startswith("abstain")


def _signature(_app: Sphinx, _what: str, _name: str, _found: Any, _options: Any, *parts: str | None) -> Any:
    """Arguments and result, with the name of NumPy's union in place of its parts."""
    return tuple(part and part.replace(ARRAY_LIKE, "ArrayLike") for part in parts)


def setup(app: Sphinx) -> dict[str, Any]:
    """Name the directive."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-signature", _signature)
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
