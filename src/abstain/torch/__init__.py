"""PyTorch: a classifier that abstains by itself, and metrics that accumulate over batches and processes."""

from typing import TYPE_CHECKING, Any

from abstain.torch.selective_model import Selection, SelectiveModel

if TYPE_CHECKING:
    from abstain.torch.metrics import AUGRC, AURC, RiskAtCoverage

__all__ = ["AUGRC", "AURC", "RiskAtCoverage", "Selection", "SelectiveModel"]


def __getattr__(name: str) -> Any:
    """The metrics, which need torchmetrics, are imported on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'abstain.torch' has no attribute {name!r}")
    from abstain.torch import metrics

    return getattr(metrics, name)
