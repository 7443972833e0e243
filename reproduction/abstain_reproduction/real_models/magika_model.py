"""Magika, a deep classifier of 214 file types whose graph comes inside its package."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np

from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain._io.fingerprint import files_digest
from abstain.collect.data import Data, SampleInputs
from abstain.collect.onnx_model import OnnxModel

# Labels by file ending, where the ending leaves little doubt.
ENDINGS = {
    "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp", "hpp": "cpp", "css": "css", "csv": "csv", "f90": "fortran",
    "gif": "gif", "go": "go", "gz": "gzip", "html": "html", "htm": "html", "ico": "ico", "ini": "ini", "java": "java",
    "jpg": "jpeg", "jpeg": "jpeg", "js": "javascript", "json": "json", "lua": "lua", "md": "markdown", "npy": "npy",
    "npz": "npz", "otf": "otf", "parquet": "parquet", "pdf": "pdf", "php": "php", "pl": "perl", "pm": "perl",
    "png": "png", "po": "po", "ps1": "powershell", "py": "python", "pyc": "pythonbytecode", "pyi": "python",
    "rb": "ruby", "rs": "rust", "rst": "rst", "scss": "scss", "sh": "shell", "sql": "sql", "svg": "svg", "tar": "tar",
    "toml": "toml", "ts": "typescript", "ttf": "ttf", "vue": "vue", "wav": "wav", "woff": "woff", "woff2": "woff2",
    "xml": "xml", "yaml": "yaml", "yml": "yaml", "zip": "zip", "whl": "zip",
}  # fmt: skip
UNKNOWN_ENDINGS = ("afm", "mo", "pxd", "pxi", "tzdata", "mod", "gir", "typelib", "al", "enc", "theme")
"""Endings that Magika's own table has under no type."""


@final
@dataclass(frozen=True)
class FileBytes(SampleInputs):
    """The contents of files, read on access."""

    files: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, row: int, /) -> bytes:
        return self.files[row].read_bytes()

    def fingerprint(self) -> str:
        """By name, size and time of change."""
        return files_digest(self.files)


def magika_model() -> OnnxModel:
    """The graph in the installed magika package; its input is made of a file's first and last bytes, as magika does."""
    magika = require("magika", extra="magika", feature="Collecting from Magika")
    (folder,) = (Path(magika.__file__).parent / "models").glob("*")
    config = json.loads((folder / "config.min.json").read_text())

    def prepare(contents: Sequence[Any]) -> Any:
        return np.stack([_tokens(content, config) for content in contents]).astype(np.int32)

    return OnnxModel(folder / "model.onnx", prepare=prepare, class_names=config["target_labels_space"])


def files_by_ending(
    folders: Iterable[str | PathLike[str]], /, *, per_ending: int = 60, smallest: int = 64
) -> tuple[Data, Data]:
    """Files whose ending gives their type, and files with an ending of no type that Magika knows.

    At most ``per_ending`` of each ending, the first by name, of at least ``smallest`` bytes. Of files with the same
    contents only the first is taken, so that a file under two names is one sample.
    """
    known: list[tuple[Path, str]] = []
    unknown: list[Path] = []
    taken: dict[str, int] = {}
    seen: set[bytes] = set()
    for folder in folders:
        for file in sorted(Path(folder).rglob("*")):
            ending = file.suffix[1:].lower()
            if ending not in ENDINGS and ending not in UNKNOWN_ENDINGS:
                continue
            if taken.get(ending, 0) >= per_ending or file.is_symlink() or not file.is_file():
                continue
            if not smallest <= file.stat().st_size < 4_000_000:
                continue
            contents = hashlib.sha256(file.read_bytes()).digest()
            if contents in seen:
                continue
            seen.add(contents)
            taken[ending] = taken.get(ending, 0) + 1
            if ending in ENDINGS:
                known.append((file, ENDINGS[ending]))
            else:
                unknown.append(file)
    if not known:
        raise InvalidInputError("`folders` must hold files with known endings, got none.")
    files = tuple(file for file, _ in known)
    ids = np.array([str(file) for file in files])
    first = Data(FileBytes(files), labels=np.array([label for _, label in known]), ids=ids)
    second = Data(
        FileBytes(tuple(unknown)), ids=np.array([str(f) for f in unknown], dtype=str), domain="unknown", shift="label"
    )
    return first, second


def _tokens(content: bytes, config: dict[str, Any]) -> np.ndarray:
    """The first and the last bytes, white space at the ends of the file left out, filled up with a padding token."""
    block, padding = config["block_size"], config["padding_token"]
    first = content[:block].lstrip()[: config["beg_size"]]
    last = content[-block:].rstrip()[-config["end_size"] :]
    tokens = np.full(config["beg_size"] + config["end_size"], padding, dtype=np.int64)
    tokens[: len(first)] = np.frombuffer(first, dtype=np.uint8)
    tokens[len(tokens) - len(last) :] = np.frombuffer(last, dtype=np.uint8)
    return tokens
