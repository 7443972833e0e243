"""The public names and where they are: read by type checkers, and by `__init__.py`, which imports each on first use."""

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

__version__: str
