"""Saved outputs: a folder that abstain wrote, or one per kind of shift, as the paper's code writes them."""

from pathlib import Path

import numpy as np

from abstain._errors import MissingFileError
from abstain.outputs import Outputs
from abstain.outputs.header import HEADER
from abstain.outputs.load import PAPER_FILES

KINDS = {"in": "none", "covariate": "covariate", "label": "label"}


def saved_outputs(path: Path, /) -> Outputs:
    """The outputs at a path; folders in/, covariate/ and label/ give the shift by their names."""
    if path.is_file() or (path / HEADER).exists():
        return Outputs.load(path)
    folders = {kind: path / kind for kind in KINDS if (path / kind).is_dir()}
    if not folders and (path / PAPER_FILES["logits"]).exists():
        folders = {"in": path}
    if "in" not in folders:
        raise MissingFileError(
            f"`--model` must be a model or outputs: {HEADER}, {PAPER_FILES['logits']}, or folders "
            f"{', '.join(KINDS)} with either, got {path}."
        )
    first = Outputs.load(folders["in"])
    return Outputs.concat([_of_kind(Outputs.load(folder), kind, first) for kind, folder in folders.items()])


def _of_kind(outputs: Outputs, kind: str, first: Outputs) -> Outputs:
    """The rows of one folder; the head may be in the folder in/ alone, as in the paper's code."""
    shift = KINDS[kind]
    return Outputs(
        logits=outputs.logits,
        labels=np.full(len(outputs), -1) if shift == "label" else outputs.labels,
        features=outputs.features,
        weight=first.weight,
        bias=first.bias,
        shift=shift,
        domain=kind if outputs.domain is None else outputs.domain,
        ids=outputs.ids,
        class_names=first.class_names,
    )
