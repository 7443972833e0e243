"""Two models, or two versions of one, on the same samples: which is better after rejection."""

from abstain.evaluation.runs.compare_runs import ComparisonPoints, compare_runs
from abstain.evaluation.runs.mix_comparison import MixComparison, RunDifference
from abstain.evaluation.runs.run_comparison import RunComparison

__all__ = ["ComparisonPoints", "MixComparison", "RunComparison", "RunDifference", "compare_runs"]
