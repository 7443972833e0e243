"""Outputs that other experiments collected in the same folder."""

import numpy as np

from abstain.draws import generator
from abstain.experiments.experiment import Setting
from abstain.outputs import Outputs

ROWS = 20_000  # of each, so that the largest take seconds


def collected(setting: Setting, /, *, rows: int | None = ROWS) -> dict[str, Outputs]:
    """By experiment and model, the outputs kept beside this one's folder with features and labels; none is made anew.

    Of more than ``rows`` a random part is taken, all copies of a sample or none; of None all.
    """
    found = {}
    for place in sorted(setting.folder.parent.glob("*/outputs*")):
        if place.parent != setting.folder and (place / "outputs.json").exists():
            outputs = Outputs.load(place)
            if outputs.features is not None and outputs.labels is not None:
                found[place.parent.name + place.name.removeprefix("outputs")] = thinned(outputs, rows, setting.seed)
    return found


def thinned(outputs: Outputs, rows: int | None, seed: int, /) -> Outputs:
    """About so many of the rows, all copies of a sample or none."""
    if rows is None or len(outputs) <= rows:
        return outputs
    ids = np.arange(len(outputs)) if outputs.ids is None else outputs.ids
    distinct, number = np.unique(ids, return_inverse=True)
    kept = generator("thinned outputs", seed, distinct).random(len(distinct)) < rows / len(outputs)
    return outputs.select(kept[number])
