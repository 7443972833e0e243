"""Example outputs that ship with the package, the same bytes on every machine."""

from abstain.datasets.digits import digits

__all__ = ["digits"]
