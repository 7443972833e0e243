"""A classifier with a selector as a service: the Open Inference Protocol over HTTP."""

from abstain.serve.application import application
from abstain.serve.limits import Limits
from abstain.serve.predictor import Predictor
from abstain.serve.server import run_server
from abstain.serve.service import Service

__all__ = ["Limits", "Predictor", "Service", "application", "run_server"]
