"""Which score to trust on these outputs, under which mix of shifts."""

from abstain.evaluation.evaluate import evaluate
from abstain.evaluation.evaluation import Evaluation
from abstain.evaluation.mixes import MIXES, Mix
from abstain.evaluation.sketched import SketchedEvaluation, evaluate_sketch
from abstain.evaluation.sketching import sketch_outputs
from abstain.evaluation.summarize import summarize
from abstain.evaluation.summary import Summary
from abstain.evaluation.verdict import Verdict, verdict

__all__ = [
    "MIXES",
    "Evaluation",
    "Mix",
    "SketchedEvaluation",
    "Summary",
    "Verdict",
    "evaluate",
    "evaluate_sketch",
    "sketch_outputs",
    "summarize",
    "verdict",
]
