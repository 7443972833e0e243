import json
from dataclasses import dataclass
from typing import Literal

import pytest

from abstain._io.records import from_json, to_json


@dataclass(frozen=True)
class Inner:
    n: int
    kind: Literal["a", "b"]


@dataclass(frozen=True)
class Outer:
    parts: tuple[Inner, ...]
    share: float


GOOD = Outer((Inner(1, "a"), Inner(2, "b")), 0.5)


def test_a_record_comes_back():
    assert from_json(to_json(GOOD), Outer) == GOOD


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 200_000, "brackets nested too deeply"),
        ("{", "text that is not JSON"),
        ("{}", "'' instead of the fields parts, share"),
        (to_json(GOOD).replace("0.5", '"x"'), "'x' where share must be a number"),
        (to_json(GOOD).replace('"n": 2', '"n": 2.5'), r"'2.5' where parts\[1\].n must be an integer"),
        (to_json(GOOD).replace('"b"', "3"), r"'3' where parts\[1\].kind must be one of a, b"),
        (json.dumps({"parts": 3, "share": 1}), "'3' where parts must be a list"),
    ],
)
def test_an_error_names_the_file_and_the_field(text, reason):
    with pytest.raises(ValueError, match=rf"^`state.json` must be the state of an Outer, got {reason}"):
        from_json(text, Outer, where="state.json")
