"""Optional dependencies: imported where they are used; an error about a missing one has the pip line."""

import importlib
import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import unquote, urlsplit

from abstain._errors import MissingExtraError
from abstain._text import listed

WITH_TORCH = {"all", "hf", "timm", "torch", "torchmetrics"}
"""The extras that install PyTorch, of which constraints.txt names the version that was tested."""
_LIBRARIES: list[Any] = []  # an operator of torch is declared for as long as its library object lives


def require(module: str, /, *, extra: str | None, feature: str) -> Any:
    """Import ``module``; if that fails, an error names the feature that needs it and the exact pip line."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
            line = pip_line(extra) if extra else f"{_pip()} install {module}"
            raise MissingExtraError(f"{feature} needs {error.name}. Install it with: {line}") from error
        reason = " ".join(str(error).split()).rstrip(".")
        raise MissingExtraError(f"{feature} needs {module}, which is installed but fails: {reason}.") from error


def require_all(modules: dict[str, str], /, *, feature: str) -> None:
    """Refuse to start where a module is missing; ``modules`` maps each to the extra that installs it."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        line = pip_line(*dict.fromkeys(modules[module] for module in missing))
        raise MissingExtraError(f"{feature} needs {listed(missing)}. Install with: {line}")


def repair_torchvision() -> None:
    """Declare the compiled operators that torchvision lacks with a torch that it was not built for.

    It can then be imported; classifying needs none of them.
    """
    if _LIBRARIES or find_spec("torchvision") is None:
        return
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]  # what the failed import left behind
        library = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)


def pip_line(*extras: str) -> str:
    """The command that adds extras to abstain the way it is installed: from a checkout or an index."""
    names = ",".join(extras)
    checkout, editable = _checkout()
    if checkout is None:
        return f"{_pip()} install 'abstain[{names}]'"
    constraints = checkout / "constraints.txt"
    tested = f"-c {quote(str(constraints))} " if WITH_TORCH & set(extras) and constraints.exists() else ""
    return f"{_pip()} install {tested}{'-e ' if editable else ''}{quote(f'{checkout}[{names}]')}"


def _pip() -> str:
    """The pip of this interpreter; just its name if that is what a shell would run."""
    command = shutil.which("pip")
    if command and Path(command).parent.resolve() == Path(sys.executable).parent.resolve():
        return "pip"
    return f"{quote(sys.executable)} -m pip"


def _checkout() -> tuple[Path | None, bool]:
    """The source folder in use, and whether it is installed as editable; None for an installed copy."""
    from importlib.metadata import PackageNotFoundError, distribution  # which takes a tenth of a short command

    try:
        origin = json.loads(distribution("abstain").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # neither installed nor linked: on the path
        root = Path(__file__).resolve().parents[2]
        return (root, False) if (root / "pyproject.toml").exists() else (None, False)
    if not origin.get("dir_info", {}).get("editable"):
        return None, False
    return Path(unquote(urlsplit(origin["url"]).path)), True
