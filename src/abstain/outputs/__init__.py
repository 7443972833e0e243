"""What a classifier returned for n samples."""

from abstain.outputs.head import HeadCheck
from abstain.outputs.outputs import Outputs

__all__ = ["HeadCheck", "Outputs"]
