"""Alterations: of bytes, and of what JSON holds."""

import copy
import math
from typing import Any

import numpy as np

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 255, 2**31, 2**53 + 1, 2**63, 10**30, -(2**63), 0.5, 1.5, -0.0, 1e308, 5e-324,
    math.nan, math.inf, -math.inf, "inf", "-inf", "nan", "", "x", "..", "a\0b", "é\u2028", "x" * 300, "logits.npy",
    [], {}, [1], [[]], {"a": 1}, [None], [0.5, "x"],
)  # fmt: skip
BYTES = (b"\0", b"\xff", b"\x80", b"\n", b'"', b",", b"{", b"[", b"9", b"-", b"NaN", b"\xef\xbb\xbf", b"1e999")


def altered_bytes(rng: np.random.Generator, content: bytes, /, *, start: int = 0, end: int | None = None) -> bytes:
    """A few bits, bytes or stretches of the content changed, cut or put in, between two places."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        last = len(data) if end is None else min(end, len(data))
        position = int(rng.integers(start, max(start + 1, last + 1)))
        stretch = int(rng.integers(1, 40))
        match int(rng.integers(7)):
            case 0 | 1:
                if position < len(data):
                    data[position] ^= 1 << int(rng.integers(8))
            case 2:
                some = BYTES[int(rng.integers(len(BYTES)))]
                data[position : position + len(some)] = some
            case 3:
                data[position:position] = rng.bytes(stretch)
            case 4:
                del data[position : position + stretch]
            case 5:
                data[position:position] = data[position : position + stretch]
            case 6:
                if rng.random() < 0.3:
                    del data[position:]
                else:
                    data[position : position + stretch] = bytes(len(data[position : position + stretch]))
    return bytes(data)


def altered_json(rng: np.random.Generator, value: Any, /) -> Any:
    """One to three nodes replaced, changed a little, removed, renamed or doubled."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        positions = _places([value])[1:]
        holder, key = positions[int(rng.integers(len(positions)))] if positions else ([value], 0)
        match int(rng.integers(6)):
            case 0 | 1:
                holder[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
            case 2 | 3:
                holder[key] = _near(rng, holder[key])
            case 4:
                del holder[key]
            case 5:
                if isinstance(holder, dict):
                    holder[f"{key}x"] = holder.pop(key) if rng.random() < 0.5 else copy.deepcopy(holder[key])
                else:
                    holder.insert(key, copy.deepcopy(holder[key]))
    return value


def _places(holder: Any) -> list[tuple[Any, Any]]:
    """All nodes as (holder, key), those within others after them."""
    result: list[tuple[Any, Any]] = []
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        result.append((holder, key))
        if isinstance(holder[key], dict | list):
            result += _places(holder[key])
    return result


def _near(rng: np.random.Generator, value: Any) -> Any:
    """A value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.integers(-3, 4))
    if isinstance(value, float):
        return value * float(rng.choice([-1, 0, 0.5, 2, 1e-12, 1e12])) + float(rng.choice([0, 0, 1, -1]))
    if isinstance(value, str):
        return altered_bytes(rng, value.encode()).decode("utf-8", "replace")
    if isinstance(value, list):
        return value[::-1] if rng.random() < 0.5 else value[: int(rng.integers(len(value) + 1))]
    return value
