"""A digest of outputs, by which data are known again wherever they are kept."""

from hashlib import sha256
from typing import Any

import numpy as np

from abstain.kernels.blocks import row_blocks
from abstain.outputs.fields import FIELDS
from abstain.outputs.outputs import Outputs


def outputs_digest(outputs: Outputs, /) -> str:
    """SHA-256 of every array, row by row in their order: the same for the same outputs in whatever kind of file.

    >>> a, b = (Outputs(logits=[[2.0, 0.0]], labels=[0], ids=np.array(["x"], dtype=kind)) for kind in ("<U1", "<U9"))
    >>> outputs_digest(a) == outputs_digest(b)
    True
    """
    found = sha256()
    for name in FIELDS:
        array: Any = outputs.source(name) if name in ("logits", "features") else getattr(outputs, name)  # type: ignore[arg-type]
        if array is None:
            continue
        found.update(f"{name} {array.shape} ".encode())
        columns = array.shape[1] if len(array.shape) > 1 else 1
        for block in row_blocks(array.shape[0], max(1, columns)):
            found.update(_bytes(np.asarray(array[block])))
    for words in (outputs.given_names, outputs.class_names):
        found.update(repr(words).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _bytes(part: np.ndarray[Any, Any]) -> bytes:
    """Numbers as they are but in one byte order, names by their letters, however wide the array is."""
    if part.dtype.kind in "OUS":
        names = [str(name) for name in part.ravel().tolist()]
        return "".join(f"{len(name)} {name}" for name in names).encode("utf-8", "surrogatepass")
    kind = {"f": part.dtype.newbyteorder("<"), "b": np.dtype(bool)}.get(part.dtype.kind, np.dtype("<i8"))
    return part.dtype.kind.encode() + np.ascontiguousarray(part, dtype=kind).tobytes()
