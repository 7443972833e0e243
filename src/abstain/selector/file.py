"""A selector or a cascade in one file: arrays and a header, nothing executable, every bit and every field checked."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, is_dataclass
from os import PathLike
from typing import Any, TypeVar, final, get_type_hints

import numpy as np

from abstain._arguments import as_path
from abstain._errors import InvalidInputError
from abstain._io.files import reading, write_whole
from abstain._io.records import built
from abstain._io.sealed import Arrays, as_read, making, sealed_bytes, unsealed
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import check_decides, from_state, to_state

T = TypeVar("T")
Own = Iterable[Any]
"""Functions of the user's, which no file can hold."""
PLAIN = ("threshold", "groups", "n_classes", "distribution", "class_names", "calibration", "seen", "class_sets")
"""The fields of a selector besides its score, in the order of the file."""


@final
@dataclass(frozen=True)
class SealedFile:
    """How values of a class are written to a file, whole or not at all, and read again."""

    kind: str
    """Such as ``abstain.selector``."""
    version: int
    writer: str
    """What writes such files, for messages."""
    take_apart: Callable[[Any], tuple[dict[str, Any], Arrays]]
    """The header and the arrays of a value."""
    put_together: Callable[[type[Any], dict[str, Any], Arrays, Own], Any]
    """The value of a class from these."""

    @property
    def word(self) -> str:
        """What such a file holds."""
        return self.kind.rpartition(".")[2]

    def dumped(self, value: object, /) -> bytes:
        """What the file of a value holds."""
        header, arrays = self._stored(value)
        with making(f"`{self.word}` must have a score that a file can hold"):
            self._made(type(value), as_read(header), arrays, ())
        return sealed_bytes(self.kind, self.version, header, arrays)

    def save(self, value: object, file: str | PathLike[str], /) -> None:
        """Write one file, whole or not at all."""
        path, contents = as_path("file", file), self.dumped(value)
        write_whole(path, lambda partial: partial.write_bytes(contents))

    def load(self, kind: type[T], file: str | PathLike[str], /, *, own: Own = ()) -> T:
        """The value of this class in a file; a truncated, altered, newer or foreign file is refused with the reason."""
        path = as_path("file", file)
        with reading(path, f"a {self.word} written by {self.writer}"):
            contents = path.read_bytes()
        return self.read(kind, contents, str(file), own=own)

    def read(self, kind: type[T], contents: bytes, file: str, /, *, own: Own = ()) -> T:
        """The same of the contents of a file of this name."""
        header, arrays = unsealed(contents, file, self.kind, self.version, writer=self.writer, again="calibrate again")
        with making(f"`{file}` must be a {self.word}"):
            return self._made(kind, header, arrays, own)

    def _made(self, kind: type[T], header: dict[str, Any], arrays: Arrays, own: Own) -> T:
        value: T = self.put_together(kind, header, arrays, [own] if callable(own) else list(own))
        _check_all_is_read(*self._stored(value), header, arrays)
        return value

    def _stored(self, value: object) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays as they are in a file, which cannot hold no array."""
        header, arrays = self.take_apart(value)
        stored = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return header, stored or {"none": np.zeros(0)}


def _check_all_is_read(again: dict[str, Any], stored: Arrays, header: dict[str, Any], arrays: Arrays) -> None:
    """Refuse a file that holds anything else than what would be saved again."""
    if as_read(again) != header:
        raise InvalidInputError("a header with more or other fields")
    forms = [{name: (array.dtype, array.shape) for name, array in each.items()} for each in (stored, arrays)]
    if forms[0] != forms[1]:
        raise InvalidInputError("more or other arrays than its score has")


def selector_parts(selector: Any, /, *, prefix: str = "") -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a selector, the names of these with a prefix."""
    score, arrays = to_state(selector.entry, name=f"{prefix}score")
    fitted, more = to_state(selector.fitted, name=f"{prefix}fitted")
    plain = {name: _plain(getattr(selector, name)) for name in PLAIN}
    return {"score": score, "fitted": fitted, **plain}, arrays | more


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def selector_of(kind: type[Any], header: dict[str, Any], arrays: Arrays, own: Own, /) -> Any:
    """The selector of these parts."""
    entry = from_state(header["score"], arrays, kind=Score, own=own)
    fitted = from_state(header["fitted"], arrays, kind=FittedScore, own=own)
    types = get_type_hints(kind)
    plain = {name: built(header[name], types[name], where=name) for name in PLAIN}
    if plain["class_names"] is not None and len(plain["class_names"]) != plain["n_classes"]:
        raise InvalidInputError(f"{len(plain['class_names'])} names for {plain['n_classes']} classes")
    check_decides(fitted, plain["n_classes"])
    return kind(entry=entry, fitted=fitted, **plain)


SELECTOR_FILE = SealedFile("abstain.selector", 12, "Selector.save", selector_parts, selector_of)
