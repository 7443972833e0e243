"""Array files: .npy in folders and .npz archives, with other bytes and other headers."""

import ast
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes
from kind import Kind, expect, taken
from samples import outputs

from abstain import Outputs

PAPER = {
    "logits": "pred_logits.npy",
    "labels": "labels.npy",
    "features": "features.npy",
    "weight": "last_layer_weights.npy",
}
SHAPES = ((), (0,), (40,), (40, 3), (3, 40), (120,), (40, 0), (-1, 3), (10**12,), (2**62, 4), (40, 3, 1), (True, 3), 5)
TYPES = ("<f8", ">f8", "<f4", "<f2", "<i8", "<i4", "|u1", "|b1", "<U3", "|S8", "<c16", "|O", "<M8[s]", "x", "<f16", "")
LENGTHS = (0, 1, 40, 10_000, 2**16 - 1, 2**32 - 1)


class Arrays(Kind):
    """Wrong: an array that is not what the bytes of its file say; in a folder with checksums, any that is altered."""

    name = "npy"

    def __init__(self, folder: Path) -> None:
        self.paper, self.saved = folder / "paper", folder / "saved"
        original = outputs()
        self.paper.mkdir()
        for field, file in PAPER.items():
            np.save(self.paper / file, getattr(original, field))
        original.save(self.saved)

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter one file for the time of a try."""
        has_sums = rng.random() < 0.3
        field = str(rng.choice(list(PAPER)))
        file = self.saved / f"{field}.npy" if has_sums else self.paper / PAPER[field]
        before = file.read_bytes()
        content = altered_npy(rng, before)
        file.write_bytes(content)
        try:
            result = taken(lambda: Outputs.load(file.parent, nonfinite="reject"))
            if result is None:
                return "refused"
            expect(not has_sums or content == before, "an altered array in spite of its checksum")
            check_same(getattr(result, field), content)
            return "taken"
        finally:
            file.write_bytes(before)


class Archives(Kind):
    """Wrong: an array that is left out, or neither what was saved under its name nor what its member's bytes say."""

    name = "npz"

    def __init__(self, folder: Path) -> None:
        original = outputs()
        self.file = folder / "run.npz"
        self.members = {}
        for field in PAPER:
            stream = io.BytesIO()
            np.save(stream, getattr(original, field))
            self.members[field] = stream.getvalue()

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter a member before it is put into the archive, or the archive."""
        members = dict(self.members)
        inside = rng.random() < 0.6
        if inside:
            field = str(rng.choice(list(members)))
            members[field] = altered_npy(rng, members[field])
        content = _zipped(rng, members)
        self.file.write_bytes(content if inside else altered_bytes(rng, content))
        result = taken(lambda: Outputs.load(self.file, nonfinite="reject"))
        if result is None:
            return "refused"
        for field, member in members.items():
            expect(getattr(result, field) is not None, f"no {field}, which the archive holds")
            check_same(getattr(result, field), member)
        return "taken"


def _zipped(rng: np.random.Generator, members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    way = int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    with zipfile.ZipFile(stream, "w", way) as archive:
        for field, content in members.items():
            archive.writestr(f"{field}.npy", content)
    return stream.getvalue()


def altered_npy(rng: np.random.Generator, content: bytes) -> bytes:
    """Other bytes in the header, in the data, or a header of another shape or type in good form."""
    match int(rng.integers(4)):
        case 0:
            return altered_bytes(rng, content, end=128)
        case 1:
            return altered_bytes(rng, content, start=128)
        case 2:
            length = LENGTHS[int(rng.integers(len(LENGTHS)))]
            return content[:6] + b"\2\0" + length.to_bytes(4, "little") + content[10:]
    header: dict[str, Any] = ast.literal_eval(content[10:128].decode())
    if rng.random() < 0.7:
        header["shape"] = SHAPES[int(rng.integers(len(SHAPES)))]
    if rng.random() < 0.5:
        header["descr"] = TYPES[int(rng.integers(len(TYPES)))]
    if rng.random() < 0.3:
        header["fortran_order"] = not header["fortran_order"]
    text = repr(header).encode().ljust(117) + b"\n"
    return content[:8] + len(text).to_bytes(2, "little") + text + content[128:]


def check_same(result: Any, content: bytes) -> None:
    """The array must be what the bytes say, read here in another way."""
    wide = content[6] != 1
    start = 12 if wide else 10
    end = start + int.from_bytes(content[8:start], "little")
    header = ast.literal_eval(content[start:end].decode("latin-1").strip())
    dtype = np.dtype(header["descr"])
    said = np.frombuffer(content[end:], dtype).reshape(header["shape"], order="F" if header["fortran_order"] else "C")
    expect(result.shape == said.shape, f"the shape {result.shape} of an array of shape {said.shape}")
    expect(said.astype(result.dtype).tobytes() == result.tobytes(), "other numbers than the file holds")
