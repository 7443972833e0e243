"""Outputs and findings of earlier runs, reused while nothing that they depend on has changed."""

import platform
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import abstain
import abstain_reproduction
from abstain._io.files import write_text
from abstain._io.fingerprint import digest
from abstain.collect.run import Progress
from abstain.outputs import Outputs

Make = Callable[[Path, int, Progress | None], Outputs]
MAKING = (
    *(f"abstain/{part}" for part in ("collect", "datasets", "outputs", "shifts", "_draws.py")),
    *(f"abstain_reproduction/{part}" for part in ("real_models", "corruptions.py", "draws.py", "text_shifts.py")),
)
"""The code that outputs depend on, which excludes scores and metrics."""
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "onnxruntime", "sentence-transformers", "transformers")


def cached_outputs(make: Make, folder: Path, /, *, seed: int, progress: Progress | None) -> Outputs:
    """The outputs that the same code made in ``folder`` with the same seed and libraries, or made now.

    Changed data files of this machine are not noticed: delete the folder after a change.
    """
    key = digest(source_digest(*MAKING), *_versions(), seed)
    note = folder.with_name(f"{folder.name}.key")
    if (folder / "outputs.json").exists() and note.exists() and note.read_text(encoding="utf-8") == key:
        return Outputs.load(folder)
    outputs = make(folder, seed, progress)
    write_text(note, key)
    return outputs


@cache
def source_digest(*parts: str) -> str:
    """A digest of the code of both packages, or of the folders and files that are named."""
    roots = {module.__name__: Path(module.__path__[0]) for module in (abstain, abstain_reproduction)}
    code = sha256()
    for part in parts or roots:
        package, _, name = part.partition("/")
        path = roots[package] / name
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            code.update(f"{package}/{file.relative_to(roots[package]).as_posix()}\0".encode() + file.read_bytes())
    return code.hexdigest()[:16]


def findings_key(folder: Path, /, *, seed: int) -> str:
    """A digest of what findings depend on: all code, the libraries, the seed, and the outputs in the folder."""
    outputs = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*/outputs*/outputs.json"))]
    return digest(source_digest(), *_versions(), seed, outputs)


def _versions() -> list[str]:
    return [platform.python_version(), platform.machine(), *map(_version, LIBRARIES)]


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""
