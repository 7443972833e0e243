"""Generalized selective classification: make any trained classifier say "I don't know" when it should."""

import importlib
from os import PathLike
from typing import TYPE_CHECKING, Any

from abstain.pages import WithPage

if TYPE_CHECKING:
    from abstain import collect as collect
    from abstain import datasets as datasets
    from abstain import errors as errors
    from abstain import evaluation as evaluation
    from abstain import metrics as metrics
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
    from abstain.outputs import Outputs as Outputs
    from abstain.selector import Certificate as Certificate
    from abstain.selector import Cost as Cost
    from abstain.selector import Coverage as Coverage
    from abstain.selector import JointRisk as JointRisk
    from abstain.selector import Risk as Risk
    from abstain.selector import RiskAndCoverage as RiskAndCoverage
    from abstain.selector import Selector as Selector
    from abstain.selector import calibrate as calibrate
    from abstain.selector import certify as certify
    from abstain.sketch import Sketch as Sketch

__version__ = "0.1.0"

_PUBLIC = {
    "": [
        *(
            "collect",
            "datasets",
            "errors",
            "evaluation",
            "metrics",
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
    "outputs": ["Outputs"],
    "selector": [
        *(
            "Certificate",
            "Cost",
            "Coverage",
            "JointRisk",
            "Risk",
            "RiskAndCoverage",
            "Selector",
            "calibrate",
            "certify",
        ),
    ],
    "sketch": ["Sketch"],
}
"""By module, the public names; under "" the modules themselves."""
_HOME = {name: module for module, names in _PUBLIC.items() for name in names}
__all__ = sorted(_HOME)


def _to_html(result: Any, file: str | PathLike[str], /, **options: Any) -> None:
    from abstain.report.pages import write_page

    write_page(result, file, **options)


_to_html.__doc__ = WithPage.to_html.__doc__
WithPage.to_html = _to_html  # type: ignore[method-assign]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import abstain` costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'abstain' has no attribute {name!r}")
    if module := _HOME[name]:
        value = getattr(importlib.import_module(f"abstain.{module}"), name)
    else:
        value = importlib.import_module(f"abstain.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
