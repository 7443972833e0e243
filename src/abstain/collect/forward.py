"""The model over some rows: what it gives for each, and which could not be read or classified."""

from collections.abc import Callable, Iterator

import numpy as np

from abstain._errors import InvalidInputError
from abstain.collect.model import Model
from abstain.collect.reader import Batch, OnError, sample_error
from abstain.collect.samples import Samples
from abstain.collect.shards import Shard


def forward(
    model: Model, samples: Samples, batches: Iterator[Batch], /, *, on_error: OnError, tick: Callable[[int], None]
) -> Shard:
    """Logits and features of the rows that went well, the head, and the reasons of the rows that did not.

    ``tick`` is called with the number of rows of each batch that is done.
    """
    kept: list[int] = []
    failures: dict[int, str] = {}
    logits, features = [], []
    for batch in batches:
        failures |= batch.failures
        if batch.rows:
            z, x = model.run(batch.prepared)
            if z.ndim != 2 or len(z) != len(batch.rows):
                raise InvalidInputError(f"`model` must give logits of shape ({len(batch.rows)}, K), got {z.shape}.")
            good = np.asarray(np.isfinite(z).all(axis=1))
            if x is not None:
                good = good & np.isfinite(x).all(axis=1)
            for row in np.array(batch.rows)[~good].tolist():
                failures[row] = "has logits or features that are not finite"
                if on_error == "raise":
                    raise sample_error(samples, row, failures[row])
            kept += np.array(batch.rows)[good].tolist()
            logits.append(z[good])
            if x is not None:
                features.append(x[good])
        tick(len(batch.rows) + len(batch.failures))
    if len(features) not in (0, len(logits)):
        raise InvalidInputError("`model` must give features with all of its logits or with none, got some.")
    weight, bias = model.head()  # known after a batch
    return Shard(
        rows=np.array(kept, dtype=np.int64),
        logits=np.concatenate(logits) if kept else None,
        features=np.concatenate(features) if kept and features else None,
        weight=weight,
        bias=bias,
        failures=failures,
    )
