"""Two models, or two versions of one, on the same samples: which is better after rejection."""

from abstain.evaluation.runs.compare_runs import ComparisonPoints, compare_runs
from abstain.evaluation.runs.mix_comparison import MixComparison
from abstain.evaluation.runs.run_comparison import RunComparison
from abstain.metrics.two_models import ModelDifference

__all__ = ["ComparisonPoints", "MixComparison", "ModelDifference", "RunComparison", "compare_runs"]
