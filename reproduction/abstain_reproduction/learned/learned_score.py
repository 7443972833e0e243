"""The learned score and every other on all available models: cells, and coverage at a certified risk."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from abstain._io.fingerprint import digest
from abstain.outputs import Outputs
from abstain.outputs.hashes import outputs_digest
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings
from abstain_reproduction.learned.cells import ScoreCell
from abstain_reproduction.learned.certified_coverage import CertifiedCoverage
from abstain_reproduction.learned.classifiers import CLASSIFIERS
from abstain_reproduction.learned.density_ratio import NAME
from abstain_reproduction.learned.learned_tables import tables, unlabelled_table, words
from abstain_reproduction.learned.model_result import model_result
from abstain_reproduction.other_outputs import other_outputs
from abstain_reproduction.training.image_tasks import PACKAGES

SEEDS = (1, 2, 3)
FEWEST = 1000  # samples of a model that is worth a look
DESIGN = ("digits", "fashion", "cifar10-nets-resnet8")
"""What the learned score was designed on; all others are for judging."""


def run(setting: Setting) -> Findings:
    """Judge all scores on outputs of other experiments in the same folder, and on classifiers trained here.

    The result of each model is cached in its own file and reused while nothing changes.
    """
    folder = setting.folder / "models"
    folder.mkdir(parents=True, exist_ok=True)
    models, results = _models(setting), []
    for name, (of, outputs) in models.items():
        results.append(model_result(name, outputs, folder / f"{name}.json", of=of, seed=setting.seed))
        if setting.progress is not None:
            setting.progress(len(results), len(models))
    return findings(
        [cell for result in results for cell in result.cells],
        [cell for result in results for cell in result.unlabelled],
        [certificate for result in results for certificate in result.certified],
    )


def findings(cells: list[ScoreCell], ratios: list[ScoreCell], kept: list[CertifiedCoverage], /) -> Findings:
    """Findings from all cells and coverages."""
    return Findings(
        words=words(cells, kept, design=DESIGN),
        tables=(*tables(cells, kept, design=DESIGN), unlabelled_table(ratios, design=DESIGN)),
        numbers={
            "cells": [asdict(cell) for cell in cells if cell.score == "learned"],
            "certified": [asdict(certificate) for certificate in kept],
            "unlabelled": [asdict(cell) for cell in ratios if cell.score in ("learned", NAME)],
        },
    )


def _models(setting: Setting) -> dict[str, tuple[str, Callable[[], Outputs]]]:
    """By name, a digest of what a model's outputs depend on, and a function that returns them."""
    models: dict[str, tuple[str, Callable[[], Outputs]]] = {
        name: (outputs_digest(outputs), partial(_as_it_is, outputs))
        for name, outputs in other_outputs(setting).items()
        if outputs.samples[1] >= FEWEST
    }
    networks = setting.folder / "networks"
    networks.mkdir(parents=True, exist_ok=True)
    for name, model in CLASSIFIERS.items():
        for seed in SEEDS[: setting.seeds]:
            make = partial(model.outputs, networks, seed=seed, limit=setting.limit, progress=None)
            models[f"{name}-{seed}"] = (digest(model, seed, setting.limit), make)
    return models


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
