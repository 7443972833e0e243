"""What an experiment made before, taken again while nothing that it depends on has changed."""

import platform
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from abstain.collect.run import Progress
from abstain.files import write_text
from abstain.fingerprint import digest
from abstain.outputs import Outputs

Make = Callable[[Path, int, Progress | None], Outputs]
MAKING = ("collect", "datasets", "experiments/packaged", "experiments/corrupted.py", "outputs", "shifts", "draws.py")
"""The code that outputs depend on; scores and metrics are not of it."""
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "onnxruntime", "sentence-transformers", "transformers")


def cached_outputs(make: Make, place: Path, /, *, seed: int, progress: Progress | None) -> Outputs:
    """The outputs that the same code made in ``place`` with the same seed and libraries, or made now.

    Files of this machine that an experiment reads are not looked at again: delete the folder where they changed.
    """
    key = digest(source_digest(*MAKING), *_versions(), seed)
    note = place.with_name(f"{place.name}.key")
    if (place / "outputs.json").exists() and note.exists() and note.read_text(encoding="utf-8") == key:
        return Outputs.load(place)
    outputs = make(place, seed, progress)
    write_text(note, key)
    return outputs


@cache
def source_digest(*parts: str) -> str:
    """A digest of the package's code, or of the folders and files of it that are named."""
    root = Path(__file__).parents[1]
    found = sha256()
    for part in parts or (".",):
        place = root / part
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            found.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:16]


def findings_key(folder: Path, /, *, seed: int) -> str:
    """What findings in a folder of experiments depend on: all code, libraries, seed, and the outputs there are."""
    outputs = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*/outputs*/outputs.json"))]
    return digest(source_digest(), *_versions(), seed, outputs)


def _versions() -> list[str]:
    return [platform.python_version(), platform.machine(), *map(_version, LIBRARIES)]


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""
