"""A digest of outputs, the same for the same data in any kind of file."""

from hashlib import sha256
from typing import Any

import numpy as np

from abstain._kernels.blocks import row_blocks
from abstain.outputs.header import FIELDS
from abstain.outputs.outputs import Outputs


def outputs_digest(outputs: Outputs, /) -> str:
    """SHA-256 of every array, row by row: the same for the same outputs in any kind of file.

    >>> a, b = (Outputs(logits=[[2.0, 0.0]], labels=[0], ids=np.array(["x"], dtype=kind)) for kind in ("<U1", "<U9"))
    >>> outputs_digest(a) == outputs_digest(b)
    True
    """
    sha = sha256()
    for name in FIELDS:
        array: Any = outputs.source(name) if name in ("logits", "features") else getattr(outputs, name)  # type: ignore[arg-type]
        if array is None:
            continue
        sha.update(f"{name} {array.shape} ".encode())
        columns = array.shape[1] if len(array.shape) > 1 else 1
        for block in row_blocks(array.shape[0], max(1, columns)):
            sha.update(_bytes(np.asarray(array[block])))
    for names in (outputs.confidence_names, outputs.class_names):
        sha.update(repr(names).encode("utf-8", "surrogatepass"))
    return sha.hexdigest()


def _bytes(part: np.ndarray[Any, Any]) -> bytes:
    """Numbers in one byte order, strings by their characters, whatever the width of the array."""
    if part.dtype.kind in "OUS":
        names = [str(name) for name in part.ravel().tolist()]
        return "".join(f"{len(name)} {name}" for name in names).encode("utf-8", "surrogatepass")
    kind = {"f": part.dtype.newbyteorder("<"), "b": np.dtype(bool)}.get(part.dtype.kind, np.dtype("<i8"))
    return part.dtype.kind.encode() + np.ascontiguousarray(part, dtype=kind).tobytes()
