"""From a real model and real data to `Outputs`."""

from abstain.collect.data import Data, Inputs
from abstain.collect.model import CallableModel, Model
from abstain.collect.onnx_model import OnnxModel
from abstain.collect.run import SampleError, collect
from abstain.collect.sklearn_model import SklearnModel
from abstain.collect.torch_model import TorchModel

__all__ = [
    "CallableModel",
    "Data",
    "Inputs",
    "Model",
    "OnnxModel",
    "SampleError",
    "SklearnModel",
    "TorchModel",
    "collect",
]
