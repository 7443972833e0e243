"""A classifier exported by `scripts/export-*`: tensors in safetensors, what they are in its header, and a trial run."""

import json
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.files import reading

KEY = "abstain"
TRIAL = "trial."
"""Tensors of this prefix are an input and the logits that the original gave for it."""
TOLERANCE = 1e-3  # of the largest logit


def read_export(file: Path, kind: str, script: str, /) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors and header of an export of a kind."""
    safetensors = require("safetensors", extra="torch", feature="Reading an exported classifier")
    what = f"an export that {script} wrote"
    with (
        foreign(f"`{file}` must be {what}"),
        reading(file, what),
        safetensors.safe_open(file, framework="pt") as stream,
    ):
        header = json.loads((stream.metadata() or {}).get(KEY, "{}"))
        if not isinstance(header, dict) or header.get("kind") != kind:
            raise InvalidInputError(f"`{file}` must be {what}, got other tensors.")
        return {name: stream.get_tensor(name) for name in stream.keys()}, header  # noqa: SIM118


def check_trial(file: Path, logits: Any, expected: Any, /) -> None:
    """The classifier built here must give the logits that the original gave for the same input."""
    apart, scale = float((logits - expected).abs().max()), float(expected.abs().max())
    if not apart <= TOLERANCE * max(scale, 1.0):
        raise InvalidInputError(
            f"`{file}` must give the original's logits on its trial input, got a difference of {apart:.3g}. "
            "Its architecture differs; collect it with --model torch:MODULE:NAME."
        )
