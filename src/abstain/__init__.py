"""Generalized selective classification: make any trained classifier say "I don't know" when it should."""

from functools import cache
from importlib import import_module
from typing import Any

__version__ = "0.1.0"


@cache
def _homes() -> dict[str, str]:
    """The module of each public name, from `__init__.pyi`; under "*" that of the targets, which has a registry."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import abstain` costs nothing."""
    homes = _homes()
    if name == "__all__":
        value: Any = sorted([*homes.keys() - {"*"}, *import_module(homes["*"]).__all__])
    elif homes.get(name) == "abstain":
        value = _module(name)
    elif name in homes or (name[:1].isupper() and name in import_module(homes["*"]).__all__):
        value = getattr(import_module(homes.get(name, homes["*"])), name)
    else:
        raise AttributeError(f"module 'abstain' has no attribute {name!r}")
    globals()[name] = value
    return value


def _module(name: str) -> Any:
    """A module; one whose extra is missing is a missing attribute, so that ``hasattr`` and ``help`` work."""
    from abstain._errors import MissingExtraError, MissingModuleError

    try:
        return import_module(f"abstain.{name}")
    except MissingExtraError as error:
        raise MissingModuleError(str(error)) from error


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
