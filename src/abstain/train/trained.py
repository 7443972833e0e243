"""The network of a training run, from its checkpoint alone."""

from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from abstain.foreign import foreign
from abstain.records import built
from abstain.train.additive_margin import AdditiveMargin
from abstain.train.checkpoint import load, part
from abstain.train.cross_entropy import CrossEntropy
from abstain.train.deep_gamblers import DeepGamblers
from abstain.train.hinge import Hinge
from abstain.train.logit_norm import LogitNorm
from abstain.train.network import Network
from abstain.train.recipe import BODIES, Recipe
from abstain.train.selective_net import Selective
from abstain.train.self_adaptive import SelfAdaptive

KINDS = (CrossEntropy, Hinge, AdditiveMargin, LogitNorm, DeepGamblers, SelfAdaptive, Selective)
OBJECTIVES: dict[str, type[Any]] = {kind.__name__: kind for kind in KINDS}


def described(recipe: Recipe, /) -> dict[str, Any]:
    """What a network is made of, as JSON holds it: body, objective, classes."""
    kind = type(recipe.objective)
    objective = {"name": kind.__name__, **(asdict(recipe.objective) if kind in KINDS else {})}  # type: ignore[call-overload]
    return {"body": recipe.body, "options": recipe.options, "objective": objective, "classes": recipe.classes}


def trained_network(file: str | PathLike[str], /) -> Network:
    """The network that `train` left in a file, in evaluation mode; a run that is not over is refused.

    Raises
    ------
    ValueError
        If the file is no checkpoint, one of a run that is not over, or of an objective of one's own.
    """
    place = Path(file)
    tensors, record = load(place)
    with foreign(f"`{place}` must be a checkpoint of a training run"):
        if record["done"] < record.get("total", record["done"]):
            raise ValueError(
                f"`{place}` must be a run that is over, got {record['done']} of {record['total']} steps. "
                "Call train again to finish it."
            )
        if "network" not in record:
            raise ValueError(f"`{place}` must describe its network, got a run of an earlier version. Train it again.")
        network = _made(place, record["network"])
        network.load_state_dict(part("network.", tensors))
    return network.eval()


def _made(place: Path, found: dict[str, Any]) -> Network:
    objective = dict(found["objective"])
    name = objective.pop("name")
    if name not in OBJECTIVES or found["body"] not in BODIES:
        known = ", ".join(OBJECTIVES)
        raise ValueError(f"`{place}` must be of an objective of ours ({known}), got {name!r} on {found['body']!r}.")
    body = BODIES[found["body"]](**found["options"])
    made: Network = built(objective, OBJECTIVES[name], place="objective").network(body, found["classes"])
    return made
