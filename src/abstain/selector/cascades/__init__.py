"""Several models in turn, a person last, under one guarantee: `cascade` makes a `Cascade`."""

from abstain.selector.cascades.calibration import cascade
from abstain.selector.cascades.cascade import Cascade
from abstain.selector.cascades.loading import load_selector

__all__ = ["Cascade", "cascade", "load_selector"]
