"""The state of a training run in one file without pickle: tensors in safetensors, the rest as JSON in its header."""

import json
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.files import reading, write_whole
from abstain._io.fingerprint import digest

KEY = "abstain"  # one key: the order of several is not the same in every process
DIGEST = "digest"


def save(file: Path, tensors: dict[str, Any], record: dict[str, Any], /) -> None:
    """Write the file atomically; the same run gives the same bytes."""
    safetensors = require("safetensors.torch", extra="torch", feature="Training")
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    header = {KEY: json.dumps(record | {DIGEST: _digest(plain, record)}, allow_nan=False)}
    contents = safetensors.save(plain, metadata=header)  # to a file it would write for its owner alone
    write_whole(file, lambda partial: partial.write_bytes(contents))


def load(file: Path, /) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors and record as they were saved; a file that was altered is refused."""
    safetensors = require("safetensors", extra="torch", feature="Training")
    what = "a checkpoint of a training run"
    with (
        foreign(f"`{file}` must be {what}"),
        reading(file, what),
        safetensors.safe_open(file, framework="pt") as stream,
    ):
        record = _record(file, (stream.metadata() or {})[KEY])
        tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        if record.pop(DIGEST, None) != _digest(tensors, record):
            raise InvalidInputError(
                f"`{file}` must be {what} as it was saved, got altered contents. Remove it to begin again."
            )
        return tensors, record


def _record(file: Path, text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except RecursionError:
        record = None
    if not isinstance(record, dict):
        raise InvalidInputError(f"`{file}` must be a checkpoint of a training run, got contents that are none.")
    return record


def _digest(tensors: dict[str, Any], record: dict[str, Any]) -> str:
    return digest(json.dumps(record, sort_keys=True), [(name, tensors[name]) for name in sorted(tensors)])


def part(prefix: str, tensors: dict[str, Any], /) -> dict[str, Any]:
    """The tensors whose names begin with a prefix, without the prefix."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def check_same(file: Path, before: dict[str, Any], now: dict[str, Any], /) -> None:
    """Refuse to resume a run whose recipe, data or environment changed; the error names what changed."""
    if changed := [name for name in now if before.get(name) != now[name]]:
        raise InvalidInputError(
            f"`file` must be new for another run, got {file}, begun with other {', '.join(changed)}. "
            "Choose another name, or remove it to begin again."
        )
