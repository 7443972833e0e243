"""Generalized selective classification: make any trained classifier say "I don't know" when it should."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain import answers as answers
    from abstain import collect as collect
    from abstain import datasets as datasets
    from abstain import errors as errors
    from abstain import evaluation as evaluation
    from abstain import metrics as metrics
    from abstain import mlflow as mlflow
    from abstain import monitor as monitor
    from abstain import onnx as onnx
    from abstain import report as report
    from abstain import scale as scale
    from abstain import scores as scores
    from abstain import shifts as shifts
    from abstain import sketch as sketch
    from abstain import sklearn as sklearn
    from abstain import thresholds as thresholds
    from abstain import torch as torch
    from abstain.evaluation import Evaluation as Evaluation
    from abstain.evaluation import FittingDraw as FittingDraw
    from abstain.evaluation import Summary as Summary
    from abstain.evaluation import evaluate as evaluate
    from abstain.evaluation import summarize as summarize
    from abstain.evaluation.runs import RunComparison as RunComparison
    from abstain.evaluation.runs import compare_runs as compare_runs
    from abstain.evaluation.sensitivity import ScaleSensitivity as ScaleSensitivity
    from abstain.evaluation.sensitivity import scale_sensitivity as scale_sensitivity
    from abstain.monitor import RiskEstimate as RiskEstimate
    from abstain.monitor import estimate_risk as estimate_risk
    from abstain.outputs import Outputs as Outputs
    from abstain.selector import Cascade as Cascade
    from abstain.selector import Certificate as Certificate
    from abstain.selector import Selector as Selector
    from abstain.selector import calibrate as calibrate
    from abstain.selector import calibrate_sets as calibrate_sets
    from abstain.selector import cascade as cascade
    from abstain.selector import certify as certify
    from abstain.selector.targets import *  # noqa: F403
    from abstain.sketch import Sketch as Sketch

__version__ = "0.1.0"

_PUBLIC = {
    "": [
        *(
            "answers",
            "collect",
            "datasets",
            "errors",
            "evaluation",
            "metrics",
            "mlflow",
            "monitor",
            "onnx",
            "report",
            "scale",
            "scores",
            "shifts",
        ),
        *("sketch", "sklearn", "thresholds", "torch"),
    ],
    "evaluation": ["Evaluation", "FittingDraw", "Summary", "evaluate", "summarize"],
    "evaluation.runs": ["RunComparison", "compare_runs"],
    "evaluation.sensitivity": ["ScaleSensitivity", "scale_sensitivity"],
    "monitor": ["RiskEstimate", "estimate_risk"],
    "outputs": ["Outputs"],
    "selector": ["Cascade", "Certificate", "Selector", "calibrate", "calibrate_sets", "cascade", "certify"],
    "sketch": ["Sketch"],
}
"""By module, the public names; under "" the modules themselves. The targets come from their registry."""
_HOME = {name: module for module, names in _PUBLIC.items() for name in names}


def _targets() -> Any:
    return importlib.import_module("abstain.selector.targets")


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import abstain` costs nothing."""
    value: Any
    if name == "__all__":
        value = sorted([*_HOME, *_targets().__all__])
    elif module := _HOME.get(name):
        value = getattr(importlib.import_module(f"abstain.{module}"), name)
    elif name in _HOME:
        value = importlib.import_module(f"abstain.{name}")
    elif name[:1].isupper() and name in _targets().__all__:
        value = getattr(_targets(), name)
    else:
        raise AttributeError(f"module 'abstain' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
