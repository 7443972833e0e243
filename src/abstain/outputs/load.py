"""Outputs from disk: a folder of .npy files with outputs.json, the paper authors' folder, an .npz file, a table."""

from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError, MissingFileError
from abstain._io.locks import locked_folder
from abstain.outputs.arrays import read_npy, read_npz
from abstain.outputs.columns import SUFFIXES
from abstain.outputs.header import FIELDS, HEADER, checksum, read_header
from abstain.outputs.table import read_table
from abstain.outputs.validation import Unlabelled

SKETCH = ".sketch"
PROBABILITIES = "probabilities"
ALWAYS_VERIFIED = 1 << 26  # bytes of an array
PAPER_FILES = {
    "logits": "pred_logits.npy",
    "labels": "labels.npy",
    "features": "features.npy",
    "weight": "last_layer_weights.npy",
    "bias": "last_layer_bias.npy",
}


def load(
    path: Path, /, *, verify: bool | None = None, group: str | None = None, unlabelled: Unlabelled = "error"
) -> dict[str, Any]:
    """The keyword arguments of `Outputs` stored at ``path``; see `Outputs.load`."""
    if is_table(path):
        return read_table(path, group=group, unlabelled=unlabelled)
    if group is not None:
        raise InvalidInputError(
            f"`group` must be a column of a .csv, .parquet or .jsonl table, got {group!r} for `{path}`."
        )
    return _arguments(_stored(path, verify))


def is_table(path: Path, /) -> bool:
    """Whether a path is read as a table, whose rows count from 1."""
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def _stored(path: Path, verify: bool | None) -> dict[str, Any]:
    """The stored fields of `Outputs` by name."""
    if not path.exists():
        raise MissingFileError(f"`{path}` must exist, got no such file or folder.")
    if not path.is_dir():
        return _load_npz(path)
    if (path / HEADER).exists():
        with locked_folder(path, exclusive=False):
            return _load_folder(path, verify)
    if (path / PAPER_FILES["logits"]).exists():
        return {name: read_npy(path / file) for name, file in PAPER_FILES.items() if (path / file).exists()}
    if any(path.rglob("*.parquet")):
        raise InvalidInputError(
            f"`{path}` must be a folder of outputs here, got a folder of Parquet files. Count them first: `abstain "
            f"sketch {path} -o a.sketch`; evaluate and calibrate take a.sketch."
        )
    raise InvalidInputError(f"`{path}` must hold {HEADER} or {PAPER_FILES['logits']}, got a folder with neither.")


def _load_folder(folder: Path, verify: bool | None) -> dict[str, Any]:
    header = read_header(folder)
    fields: dict[str, Any] = {"class_names": header.class_names, "confidence_names": header.confidence_names}
    for name, entry in header.arrays.items():
        file = folder / entry.file
        if not file.exists():
            raise InvalidInputError(f"`{file}` must exist as {HEADER} says, got no such file.")
        array = read_npy(file)
        if array.shape != entry.shape or array.dtype.str != entry.dtype:
            raise InvalidInputError(
                f"`{file}` must be {entry.dtype} of shape {list(entry.shape)} as {HEADER} says, "
                f"got {array.dtype.str} of shape {list(array.shape)}."
            )
        is_verified = array.nbytes <= ALWAYS_VERIFIED if verify is None else verify
        if is_verified and checksum(file) != entry.sha256:
            raise InvalidInputError(f"`{file}` must be as it was saved, got another checksum. Collect it again.")
        fields[name] = array
    return fields


def _load_npz(file: Path) -> dict[str, Any]:
    if file.suffix == SKETCH:
        raise InvalidInputError(
            f"`{file}` must hold rows, got a sketch, which holds counts only. It is for evaluate, calibrate, merge and "
            "sketch --edges; name the outputs here."
        )
    known = (*FIELDS, "class_names", "confidence_names", PROBABILITIES)
    fields = read_npz(file, known)
    if ("logits" in fields) == (PROBABILITIES in fields) or any(name not in known for name in fields):
        raise InvalidInputError(
            f"`{file}` must hold arrays named logits or {PROBABILITIES}, and any of {', '.join(known[1:-1])}, "
            f"got {', '.join(sorted(fields))}."
        )
    return fields


def _arguments(stored: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `Outputs` from its fields."""
    arguments = dict(stored)
    names = arguments.pop("confidence_names", ())
    confidences, wrong, graded = (arguments.pop(name, None) for name in ("confidences", "wrong", "graded"))
    if confidences is not None:
        arguments["confidences"] = {str(name): confidences[:, column] for column, name in enumerate(names)}
    if wrong is not None:
        arguments["errors"] = wrong
    if graded is not None:
        arguments["losses"] = graded
    if "logits" in arguments and arguments["logits"].shape[1:] == (0,):
        del arguments["logits"]
    return arguments
