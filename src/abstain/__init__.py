"""Generalized selective classification: make any trained classifier say "I don't know" when it should."""

import importlib
from typing import TYPE_CHECKING, Any

from abstain.pages import DRAWN_BY

if TYPE_CHECKING:
    from abstain import (
        collect,
        datasets,
        engines,
        evaluation,
        metrics,
        monitor,
        onnx,
        scores,
        shifts,
        sketch,
        sklearn,
        thresholds,
        torch,
    )
    from abstain.evaluation import Evaluation, Summary, evaluate, summarize
    from abstain.evaluation.runs import RunComparison, compare_runs
    from abstain.outputs import Outputs
    from abstain.selector import Certificate, Selector, calibrate, certify
    from abstain.sensitivity import ScaleSensitivity, scale_sensitivity
    from abstain.sketch import Sketch

__version__ = "0.1.0"
__all__ = [
    "Certificate",
    "Evaluation",
    "Outputs",
    "RunComparison",
    "ScaleSensitivity",
    "Selector",
    "Sketch",
    "Summary",
    "calibrate",
    "certify",
    "collect",
    "compare_runs",
    "datasets",
    "engines",
    "evaluate",
    "evaluation",
    "metrics",
    "monitor",
    "onnx",
    "scale_sensitivity",
    "scores",
    "shifts",
    "sketch",
    "sklearn",
    "summarize",
    "thresholds",
    "torch",
]

_HOME = {
    "Certificate": "abstain.selector",
    "Evaluation": "abstain.evaluation",
    "Outputs": "abstain.outputs",
    "RunComparison": "abstain.evaluation.runs",
    "ScaleSensitivity": "abstain.sensitivity",
    "Selector": "abstain.selector",
    "Sketch": "abstain.sketch",
    "Summary": "abstain.evaluation",
    "calibrate": "abstain.selector",
    "certify": "abstain.selector",
    "compare_runs": "abstain.evaluation.runs",
    "evaluate": "abstain.evaluation",
    "scale_sensitivity": "abstain.sensitivity",
    "summarize": "abstain.evaluation",
}

DRAWN_BY |= {
    "Certificate": "abstain.report.certificate_page",
    "Evaluation": "abstain.report.evaluation_page",
    "RunComparison": "abstain.report.comparison_page",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import abstain` costs nothing."""
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in __all__:
        value = importlib.import_module(f"abstain.{name}")
    else:
        raise AttributeError(f"module 'abstain' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
