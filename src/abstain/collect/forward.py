"""The model over some rows: what it says of each, and which could not be read or classified."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abstain.collect.data import OtherInputsError
from abstain.collect.model import Model
from abstain.collect.samples import Samples

OnError = Literal["raise", "skip"]


class SampleError(ValueError):
    """One sample could not be read or classified; the message names it."""


def forward(
    model: Model, samples: Samples, rows: range, /, *, batch_size: int, on_error: OnError
) -> dict[str, NDArray[Any]]:
    """Logits and features of the rows that went well, and the reasons of those that did not."""
    kept: list[int] = []
    failures: dict[int, str] = {}
    logits, features = [], []
    for first in range(rows.start, rows.stop, batch_size):
        inputs = _read(samples, rows[first - rows.start :][:batch_size], failures, on_error)
        if not inputs:
            continue
        z, x = model(list(inputs.values()))
        if z.ndim != 2 or len(z) != len(inputs):
            raise ValueError(f"`model` must give logits of shape ({len(inputs)}, K), got {z.shape}.")
        good = np.asarray(np.isfinite(z).all(axis=1))
        if x is not None:
            good = good & np.isfinite(x).all(axis=1)
        for row, fine in zip(inputs, good, strict=True):
            if fine:
                kept.append(row)
            else:
                _fail(failures, samples, row, "has logits or features that are not finite", on_error)
        logits.append(z[good])
        if x is not None:
            features.append(x[good])
    arrays: dict[str, NDArray[Any]] = {
        "rows": np.array(kept, dtype=np.int64),
        "failed_rows": np.array(list(failures), dtype=np.int64),
        "failed_reasons": np.array(list(failures.values()), dtype=str),
    }
    if kept:
        arrays["logits"] = np.concatenate(logits)
        if features:
            arrays["features"] = np.concatenate(features)
    return arrays


def _read(samples: Samples, rows: range, failures: dict[int, str], on_error: OnError) -> dict[int, Any]:
    """The inputs that can be read, by row."""
    inputs = {}
    for row in rows:
        try:
            inputs[row] = samples[row]
        except OtherInputsError:  # not this sample's failure: the data are not what they were
            raise
        except Exception as error:
            _fail(failures, samples, row, f"cannot be read: {type(error).__name__}: {error}", on_error, error)
    return inputs


def _fail(
    failures: dict[int, str],
    samples: Samples,
    row: int,
    reason: str,
    on_error: OnError,
    cause: BaseException | None = None,
) -> None:
    if on_error == "raise":
        raise SampleError(
            f"Sample {samples.name(row)} {reason}. Mend or remove it, or pass on_error='skip' to go on without it."
        ) from cause
    failures[row] = reason
