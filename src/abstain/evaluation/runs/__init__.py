"""Two models, or two versions of one, on the same samples: which is better after rejection."""

from abstain.evaluation.runs.compare_runs import compare_runs
from abstain.evaluation.runs.mix_comparison import Difference, MixComparison
from abstain.evaluation.runs.run_comparison import RunComparison

__all__ = ["Difference", "MixComparison", "RunComparison", "compare_runs"]
