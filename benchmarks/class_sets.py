"""Sets of classes for rejected rows beside those of MAPIE and TorchCP: coverage among rejected rows, and size.

Clean and corrupted digits of the demo are the population. A selector is calibrated on rows drawn from it, 1,000 other
rows calibrate the sets, and what it rejects of the population judges them. The sets of MAPIE and TorchCP are calibrated
on all of the 1,000 rows, as is usual, and on those alone that the selector rejects.

TorchCP is left out unless it is installed, by `pip install --no-deps torchcp==1.2.1`: what it requires besides PyTorch
is another PyTorch, PyTorch Geometric and torchsort, which must be compiled, and none of it is used here.
"""

import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from peers import Given
from scipy.special import softmax

from abstain import Outputs, calibrate
from abstain.datasets import digits
from abstain.selector import calibrate_sets

RUNS, COVERAGE, HELD_OUT = 40, 0.9, 1000
Sets = Callable[[Any, Outputs, Outputs], Any]  # selector, held-out rows, rejected rows -> (n, K) sets


def class_sets() -> bool:
    """Coverage among rejected rows, how many of 40 calibrations fall short of it, and the mean size of a set."""
    outputs = digits()
    outputs = outputs[outputs.shift != "label"]
    population = Outputs(logits=outputs.logits, labels=outputs.labels)
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in RULES}
    for run in range(RUNS):
        order = np.random.default_rng([run, 21]).permutation(len(population))
        parts = (population.select(order[:1500]), population.select(order[1500 : 1500 + HELD_OUT]))
        selector = calibrate(parts[0], review=0.35)
        rest = population.select(order[1500 + HELD_OUT :])
        rejected = rest.select(np.flatnonzero(~selector.accepts(rest)))
        for name, rule in RULES.items():
            sets = rule(selector, parts[1], rejected)
            inside = sets[np.arange(len(rejected)), rejected.labels]
            results[name].append((float(inside.mean()), float(sets.sum(axis=1).mean())))
    for name, values in results.items():
        coverage, size = np.mean(values, axis=0)
        short = np.mean([covered < COVERAGE for covered, _ in values])
        print(f"{name:52} coverage {coverage:.3f}  below 0.9 in {short:.2f}  classes {size:.2f}", flush=True)
    return abs(np.mean([covered for covered, _ in results[OURS]]) - COVERAGE) < 0.02


def _ours(delta: float | None) -> Sets:
    def rule(selector: Any, held_out: Outputs, rejected: Outputs) -> Any:
        return calibrate_sets(selector, held_out, coverage=COVERAGE, delta=delta).sets(rejected)

    return rule


def _mapie(score: str, *, on_rejected: bool) -> Sets:
    def rule(selector: Any, held_out: Outputs, rejected: Outputs) -> Any:
        from mapie.classification import SplitConformalClassifier

        rows = held_out.select(np.flatnonzero(~selector.accepts(held_out))) if on_rejected else held_out
        sets = SplitConformalClassifier(
            Given(rows.n_classes), confidence_level=COVERAGE, conformity_score=score, prefit=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sets.conformalize(softmax(rows.logits, axis=1), rows.labels)
            return sets.predict_set(softmax(rejected.logits, axis=1))[1][:, :, 0]

    return rule


def _torchcp(score: str, *, on_rejected: bool) -> Sets:
    def rule(selector: Any, held_out: Outputs, rejected: Outputs) -> Any:
        import torch

        scores, predictor = _torchcp_modules()
        torch.manual_seed(0)
        rows = held_out.select(np.flatnonzero(~selector.accepts(held_out))) if on_rejected else held_out
        sets = predictor.SplitPredictor(getattr(scores, score)(), alpha=1 - COVERAGE, device="cpu")
        sets.calculate_threshold(torch.tensor(rows.logits), torch.tensor(rows.labels), 1 - COVERAGE)
        return sets.predict_with_logits(torch.tensor(rejected.logits)).numpy().astype(bool)

    return rule


def _torchcp_modules() -> tuple[Any, Any]:
    """Its scores and predictors, without its losses, which alone need torchsort."""
    from importlib import import_module

    for name in ("torchcp", "torchcp.classification"):
        if name not in sys.modules:
            spec = find_spec(name)  # of the parent it finds the package that was put there before
            assert spec is not None
            module = ModuleType(name)
            module.__path__ = list(spec.submodule_search_locations or ())
            sys.modules[name] = module
    return import_module("torchcp.classification.score"), import_module("torchcp.classification.predictor")


OURS = "calibrate_sets, in expectation"
RULES: dict[str, Sets] = {
    OURS: _ours(None),
    "calibrate_sets, with probability 0.95": _ours(0.05),
    "MAPIE lac, calibrated on all rows": _mapie("lac", on_rejected=False),
    "MAPIE aps, calibrated on all rows": _mapie("aps", on_rejected=False),
    "MAPIE lac, calibrated on rejected rows": _mapie("lac", on_rejected=True),
    "MAPIE aps, calibrated on rejected rows": _mapie("aps", on_rejected=True),
}
if find_spec("torchcp") is not None:
    for _score in ("LAC", "APS"):
        for _words, _rejected in (("all rows", False), ("rejected rows", True)):
            RULES[f"TorchCP {_score}, calibrated on {_words}"] = _torchcp(_score, on_rejected=_rejected)
