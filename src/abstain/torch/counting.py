"""Counts of right and wrong rows by bin of confidence, on the device where they are."""

from typing import Any

from abstain.extras import require
from abstain.kernels.histogram import FIRST, LARGEST, LAST

torch = require("torch", extra="torch", feature="abstain.torch")


def bin_counts(confidence: Any, errors: Any, bits: int, /) -> Any:
    """(2^bits, 2) how many right and wrong rows there are in each bin, as `abstain.sketch` counts them."""
    values = confidence.detach()
    if values.dtype != torch.float64:
        values = values.to(torch.float32)
    clipped = torch.where(values.isinf(), values, values.clamp(-LARGEST, LARGEST)).to(torch.float32)
    word = clipped.contiguous().view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    key = torch.where(word >= 1 << 31, 0xFFFFFFFF - word, word + (1 << 31))
    key = torch.where(clipped == 0, 1 << 31, key)
    key = torch.where(clipped.isnan() | (key < FIRST) | (key > LAST), 0, key)
    place = (key >> (32 - bits)) * 2 + errors.to(torch.int64)
    return torch.bincount(place, minlength=2 << bits).view(-1, 2)
