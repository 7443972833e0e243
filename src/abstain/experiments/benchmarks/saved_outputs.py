"""Outputs collected before: a folder of ours, or one for each kind of shift, as the paper's code writes them."""

from pathlib import Path

import numpy as np

from abstain.outputs import Outputs
from abstain.outputs.header import HEADER
from abstain.outputs.load import PAPER_FILES

KINDS = {"in": "none", "covariate": "covariate", "label": "label"}


def saved_outputs(place: Path, /) -> Outputs:
    """The outputs at a place; of folders in/, covariate/ and label/ each has the shift its name says."""
    if place.is_file() or (place / HEADER).exists():
        return Outputs.load(place)
    folders = {kind: place / kind for kind in KINDS if (place / kind).is_dir()}
    if not folders and (place / PAPER_FILES["logits"]).exists():
        folders = {"in": place}
    if "in" not in folders:
        raise FileNotFoundError(
            f"`--model` must be a model or outputs: {HEADER}, {PAPER_FILES['logits']}, or folders "
            f"{', '.join(KINDS)} with either, got {place}."
        )
    first = Outputs.load(folders["in"])
    return Outputs.concat([_of_kind(Outputs.load(folder), kind, first) for kind, folder in folders.items()])


def _of_kind(found: Outputs, kind: str, first: Outputs) -> Outputs:
    """The rows of one folder; the head may be beside the in-distribution ones alone, as in the paper's code."""
    shift = KINDS[kind]
    return Outputs(
        logits=found.logits,
        labels=np.full(len(found), -1) if shift == "label" else found.labels,
        features=found.features,
        weight=first.weight,
        bias=first.bias,
        shift=shift,
        domain=kind if found.domain is None else found.domain,
        ids=found.ids,
        class_names=first.class_names,
    )
