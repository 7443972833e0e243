"""The risk of a selector on rows without labels: estimates by several methods, none of them a guarantee."""

from abstain.monitor.estimates.atc import ATC
from abstain.monitor.estimates.cbpe import CBPE
from abstain.monitor.estimates.doc import DOC
from abstain.monitor.estimates.mano import MANO
from abstain.monitor.estimates.method import RiskMethod
from abstain.monitor.estimates.pape import PAPE
from abstain.monitor.estimates.weights import WEIGHTS

RISK_METHODS: dict[str, RiskMethod] = {method.name: method for method in (ATC, PAPE, WEIGHTS, CBPE, MANO, DOC)}
"""By name, in the order of their error on the models of the choice (`scripts/reproduce label-free`): the first is the
default, where the rows allow it."""

__all__ = ["RISK_METHODS", "RiskMethod"]
