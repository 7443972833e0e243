"""The learned score and every other on every model at hand: cells, and coverage at a certified risk."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from abstain.experiments.collected import collected
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings
from abstain.experiments.learned.cells import Cell
from abstain.experiments.learned.certified import Certified
from abstain.experiments.learned.judging import judging
from abstain.experiments.learned.learned_tables import tables, unlabelled_table, words
from abstain.experiments.learned.trained import TRAINED
from abstain.experiments.learned.unlabelled import NAME
from abstain.experiments.training.image_tasks import PACKAGES
from abstain.fingerprint import digest
from abstain.outputs import Outputs
from abstain.outputs.digest import outputs_digest

SEEDS = (1, 2, 3)
FEWEST = 1000  # samples of a model that is worth a look
DESIGN = ("digits", "fashion", "cifar10-nets-resnet8")
"""What the learned score was designed on; all others are for judging."""


def run(setting: Setting) -> Findings:
    """Judge all scores on outputs of other experiments in the same folder, and on classifiers trained here.

    What a model gave is kept in a file of its own as soon as it is there, and taken from it while nothing changes.
    """
    folder = setting.folder / "models"
    folder.mkdir(parents=True, exist_ok=True)
    models, found = _models(setting), []
    for name, (of, outputs) in models.items():
        found.append(judging(name, outputs, folder / f"{name}.json", of=of, seed=setting.seed))
        if setting.progress is not None:
            setting.progress(len(found), len(models))
    return findings(
        [cell for each in found for cell in each.cells],
        [cell for each in found for cell in each.unlabelled],
        [one for each in found for one in each.certified],
    )


def findings(found: list[Cell], ratios: list[Cell], kept: list[Certified], /) -> Findings:
    """What the cells and the coverages say together."""
    return Findings(
        words=words(found, kept, design=DESIGN),
        tables=(*tables(found, kept, design=DESIGN), unlabelled_table(ratios, design=DESIGN)),
        numbers={
            "cells": [asdict(cell) for cell in found if cell.score == "learned"],
            "certified": [asdict(one) for one in kept],
            "unlabelled": [asdict(cell) for cell in ratios if cell.score in ("learned", NAME)],
        },
    )


def _models(setting: Setting) -> dict[str, tuple[str, Callable[[], Outputs]]]:
    """By name, what a model's outputs depend on, and a function that has or makes them."""
    found: dict[str, tuple[str, Callable[[], Outputs]]] = {
        name: (outputs_digest(outputs), partial(_as_it_is, outputs))
        for name, outputs in collected(setting).items()
        if outputs.samples[1] >= FEWEST
    }
    networks = setting.folder / "networks"
    networks.mkdir(parents=True, exist_ok=True)
    for name, model in TRAINED.items():
        for seed in SEEDS[: setting.seeds]:
            make = partial(model.outputs, networks, seed=seed, limit=setting.limit, progress=None)
            found[f"{name}-{seed}"] = (digest(model, seed, setting.limit), make)
    return found


def _as_it_is(outputs: Outputs) -> Outputs:
    return outputs


TITLE = "A score that learns from labelled rows of deployment, beside every other"
LEARNED_SCORE = Experiment(
    "learned",
    TITLE,
    run,
    takes=frozenset({"limit", "seeds"}),
    reads_others=True,
    has_verdicts=False,
    needs=PACKAGES,
    about=(
        "Outputs of other experiments in the same folder, and classifiers trained here: over-confident ones (few "
        "images, logits times 4), under-confident ones (label smoothing, LogitNorm), one with dropout, an MLP, trees."
    ),
)
