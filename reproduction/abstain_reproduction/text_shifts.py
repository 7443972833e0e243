"""Shifts of text and bytes: each takes a value and a seed, and the same seed gives the same value."""

from collections.abc import Callable, Mapping

import numpy as np

from abstain_reproduction.draws import generator

NEIGHBOURS = {
    character: "".join(row[max(0, column - 1) : column] + row[column + 1 : column + 2])
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for column, character in enumerate(row)
}


def truncate(content: bytes, /, *, share: float = 0.1, seed: int = 0) -> bytes:  # noqa: ARG001
    """The first part of a file, at least one byte."""
    return content[: max(1, int(len(content) * share))]


def byte_noise(content: bytes, /, *, share: float = 0.05, seed: int = 0) -> bytes:
    """A share of the bytes replaced by random ones."""
    rng = generator("byte noise", seed)
    values = np.frombuffer(content, dtype=np.uint8).copy()
    hit = rng.random(len(values)) < share
    values[hit] = rng.integers(256, size=int(hit.sum()), dtype=np.uint8)
    return values.tobytes()


def fold_case(content: bytes, /, *, seed: int = 0) -> bytes:  # noqa: ARG001
    """ASCII letters in upper case."""
    return content.upper()


def reencode(content: bytes, /, *, seed: int = 0) -> bytes:  # noqa: ARG001
    """UTF-16 with a mark of its byte order, read as Latin-1 where it is not UTF-8."""
    try:
        return content.decode("utf-8").encode("utf-16")
    except UnicodeDecodeError:
        return content.decode("latin-1").encode("utf-16")


def typos(text: str, /, *, share: float = 0.05, seed: int = 0) -> str:
    """A share of the letters swapped with the next one, doubled, omitted, or replaced by a neighbouring key."""
    rng = generator("typos", seed)
    characters, out, index = list(text), [], 0
    while index < len(characters):
        character = characters[index]
        if character.isalpha() and rng.random() < share:
            kind = rng.integers(4)
            if kind == 0 and index + 1 < len(characters):
                out += [characters[index + 1], character]
                index += 1
            elif kind == 1:
                out += [character, character]
            elif kind == 2 and character.lower() in NEIGHBOURS:
                out.append(str(rng.choice(list(NEIGHBOURS[character.lower()]))))
        else:
            out.append(character)
        index += 1
    return "".join(out)


BYTE_SHIFTS: Mapping[str, Callable[..., bytes]] = {
    "truncate": truncate,
    "byte_noise": byte_noise,
    "fold_case": fold_case,
    "reencode": reencode,
}
"""Shifts of the bytes of a file, by name."""
