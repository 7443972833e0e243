"""The network of a training run, from its checkpoint alone."""

from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError, foreign
from abstain._io.records import built
from abstain_reproduction.train.additive_margin import AdditiveMargin
from abstain_reproduction.train.checkpoint import load, part
from abstain_reproduction.train.cross_entropy import CrossEntropy
from abstain_reproduction.train.deep_gamblers import DeepGamblers
from abstain_reproduction.train.hinge import Hinge
from abstain_reproduction.train.logit_norm import LogitNorm
from abstain_reproduction.train.network import Network
from abstain_reproduction.train.recipe import BODIES, Recipe
from abstain_reproduction.train.selective_net import Selective
from abstain_reproduction.train.self_adaptive import SelfAdaptive

KINDS = (CrossEntropy, Hinge, AdditiveMargin, LogitNorm, DeepGamblers, SelfAdaptive, Selective)
OBJECTIVES: dict[str, type[Any]] = {kind.__name__: kind for kind in KINDS}


def network_description(recipe: Recipe, /) -> dict[str, Any]:
    """A JSON description of a network: body, objective, classes."""
    kind = type(recipe.objective)
    objective = {"name": kind.__name__, **(asdict(recipe.objective) if kind in KINDS else {})}  # type: ignore[call-overload]
    return {"body": recipe.body, "options": recipe.options, "objective": objective, "classes": recipe.classes}


def trained_network(file: str | PathLike[str], /) -> Network:
    """The network that `train` wrote to a file, in evaluation mode; an unfinished run is refused.

    Raises
    ------
    ValueError
        If the file is no checkpoint, is of an unfinished run, or has a custom objective.
    """
    path = Path(file)
    tensors, record = load(path)
    with foreign(f"`{path}` must be a checkpoint of a training run"):
        if record["done"] < record.get("total", record["done"]):
            raise InvalidInputError(
                f"`{path}` must be a finished run, got {record['done']} of {record['total']} steps. "
                "Call train again to finish it."
            )
        if "network" not in record:
            raise InvalidInputError(
                f"`{path}` must describe its network, got a run of an earlier version. Train it again."
            )
        network = _build(path, record["network"])
        network.load_state_dict(part("network.", tensors))
    return network.eval()


def _build(path: Path, description: dict[str, Any]) -> Network:
    objective = dict(description["objective"])
    name = objective.pop("name")
    if name not in OBJECTIVES or description["body"] not in BODIES:
        known = ", ".join(OBJECTIVES)
        raise InvalidInputError(
            f"`{path}` must have a known objective ({known}) and body, got {name!r} on {description['body']!r}."
        )
    body = BODIES[description["body"]](**description["options"])
    made: Network = built(objective, OBJECTIVES[name], where="objective").network(body, description["classes"])
    return made
