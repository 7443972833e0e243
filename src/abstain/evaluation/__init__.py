"""Which score to trust on these outputs, under which mix of shifts."""

from abstain.evaluation.evaluate import evaluate
from abstain.evaluation.evaluation import Evaluation
from abstain.evaluation.fitting import FittingDraw
from abstain.evaluation.mixes import MIXES, Mix
from abstain.evaluation.score_table import AreaRow, MetricRow
from abstain.evaluation.sketch_evaluation import SketchedEvaluation, evaluate_sketch
from abstain.evaluation.sketch_outputs import sketch_outputs
from abstain.evaluation.summary import Summary, summarize
from abstain.evaluation.verdict import ScoreVerdict, verdict

__all__ = [
    "MIXES",
    "AreaRow",
    "Evaluation",
    "FittingDraw",
    "MetricRow",
    "Mix",
    "ScoreVerdict",
    "SketchedEvaluation",
    "Summary",
    "evaluate",
    "evaluate_sketch",
    "sketch_outputs",
    "summarize",
    "verdict",
]
