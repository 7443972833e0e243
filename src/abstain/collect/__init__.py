"""From a real model and real data to `Outputs`."""

from abstain._errors import SampleError
from abstain.collect.batches import batches
from abstain.collect.data import Data, SampleInputs
from abstain.collect.hf_dataset import hf_dataset
from abstain.collect.hf_model import hf_model
from abstain.collect.image_folder import image_folder
from abstain.collect.model import CallableModel, Model
from abstain.collect.onnx_model import OnnxModel
from abstain.collect.run import CollectOptions, collect, collect_part
from abstain.collect.sklearn_model import SklearnModel
from abstain.collect.table import table
from abstain.collect.timm_model import timm_model
from abstain.collect.torch_model import TorchModel

__all__ = [
    "CallableModel",
    "CollectOptions",
    "Data",
    "Model",
    "OnnxModel",
    "SampleError",
    "SampleInputs",
    "SklearnModel",
    "TorchModel",
    "batches",
    "collect",
    "collect_part",
    "hf_dataset",
    "hf_model",
    "image_folder",
    "table",
    "timm_model",
]
