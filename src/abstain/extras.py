"""Optional dependencies: imported where they are used, with one line that says how to get a missing one."""

import importlib
from typing import Any


class MissingExtraError(ImportError):
    """A feature needs a package that is not installed."""


def require(module: str, /, *, extra: str | None, feature: str) -> Any:
    """Import ``module``, or say which feature needs it and the exact pip line."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        package = f"'abstain[{extra}]'" if extra else module
        raise MissingExtraError(f"{feature} needs {error.name}. Install it with: pip install {package}") from error
