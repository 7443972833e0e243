"""The risk of a selector on rows without labels: estimates by several methods, none of them a guarantee."""

from abstain.monitor.estimates.case import RiskMethod
from abstain.monitor.estimates.confidence import ATC, CBPE, DOC
from abstain.monitor.estimates.weighting import MANO, PAPE, WEIGHTS

RISK_METHODS: dict[str, RiskMethod] = {method.name: method for method in (ATC, PAPE, WEIGHTS, CBPE, MANO, DOC)}
"""By name, in the order of their error on the models of the choice (`scripts/reproduce label-free`): the first is the
default, where the rows allow it."""

__all__ = ["RISK_METHODS", "RiskMethod"]
