"""Outputs that other experiments collected in the same folder."""

import numpy as np

from abstain.outputs import Outputs
from abstain_reproduction.draws import generator
from abstain_reproduction.experiment import Setting

ROWS = 20_000  # of each, so that the largest take seconds


def other_outputs(setting: Setting, /, *, rows: int | None = ROWS, with_features: bool = True) -> dict[str, Outputs]:
    """Outputs with labels that other experiments saved, by experiment and model; none is computed.

    At most about ``rows`` rows of each, drawn at random by sample; None takes all. Those without features are left
    out unless ``with_features`` is False.
    """
    outputs_by_name = {}
    for folder in sorted(setting.folder.parent.glob("*/outputs*")):
        if folder.parent != setting.folder and (folder / "outputs.json").exists():
            outputs = Outputs.load(folder)
            if outputs.labels is not None and (outputs.features is not None or not with_features):
                outputs_by_name[folder.parent.name + folder.name.removeprefix("outputs")] = subsample(
                    outputs, rows, setting.seed
                )
    return outputs_by_name


def subsample(outputs: Outputs, rows: int | None, seed: int, /) -> Outputs:
    """About ``rows`` rows, drawn at random; the copies of a sample stay together."""
    if rows is None or len(outputs) <= rows:
        return outputs
    ids = np.arange(len(outputs)) if outputs.ids is None else outputs.ids
    distinct, number = np.unique(ids, return_inverse=True)
    kept = generator("thinned outputs", seed, distinct).random(len(distinct)) < rows / len(outputs)
    return outputs.select(kept[number])
