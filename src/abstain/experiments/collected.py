"""Outputs that other experiments collected in the same folder."""

from abstain.experiments.experiment import Setting
from abstain.outputs import Outputs


def collected(setting: Setting, /) -> dict[str, Outputs]:
    """By experiment, the outputs kept beside this one's folder that have features; none is made anew."""
    found = {}
    for place in sorted(setting.folder.parent.glob("*/outputs")):
        if place.parent != setting.folder and (place / "outputs.json").exists():
            outputs = Outputs.load(place)
            if outputs.features is not None and outputs.labels is not None:
                found[place.parent.name] = outputs
    return found
