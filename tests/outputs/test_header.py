import json
from contextlib import suppress

import numpy as np
import pytest

from abstain import Outputs
from abstain.outputs.header import header_digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h | {"version": 99}, "must be of format version 2, got 99"),
        (lambda h: h | {"version": 1}, "must be of format version 2, got 1"),
        (lambda h: h | {"format": "other"}, "must be a header written by Outputs.save"),
        (lambda _: {"version": 1}, "must be a header written by Outputs.save"),
        (lambda h: {k: v for k, v in h.items() if k != "class_names"}, "must be a header written by Outputs.save"),
        (lambda h: h | {"arrays": {"logits": {"file": "logits.npy"}}}, "must be a header written by Outputs.save"),
        (lambda h: h | {"arrays": {"logits": {"file": "../logits.npy"}}}, "must be a header written by Outputs.save"),
        (lambda h: h | {"arrays": {"logits": h["arrays"]["logits"] | {"shape": [1, 2]}}}, "as outputs.json says"),
        (lambda h: h | {"arrays": {"logits": h["arrays"]["logits"] | {"file": "gone.npy"}}}, "must exist"),
    ],
)
def test_altered_headers_are_refused(make, tmp_path, change, message):
    make().save(tmp_path)
    header = change(json.loads((tmp_path / "outputs.json").read_text()))
    (tmp_path / "outputs.json").write_text(json.dumps(header | {"sha256": header_digest(header)}))
    with pytest.raises(ValueError, match=message):
        Outputs.load(tmp_path)


def test_a_broken_header_is_refused(make, tmp_path):
    make().save(tmp_path)
    (tmp_path / "outputs.json").write_text("{")
    with pytest.raises(ValueError, match=r"must be a header written by Outputs.save"):
        Outputs.load(tmp_path)


def test_no_bit_of_a_name_can_change(tmp_path):
    Outputs(logits=2 * np.eye(3), class_names=("cat", "dog", "eel")).save(tmp_path)
    content = (tmp_path / "outputs.json").read_bytes()
    start = content.index(b"class_names")
    for bit in range(8 * start, 8 * len(content)):
        altered = bytearray(content)
        altered[bit // 8] ^= 1 << bit % 8
        (tmp_path / "outputs.json").write_bytes(altered)
        with suppress(ValueError):
            assert Outputs.load(tmp_path).class_names == ("cat", "dog", "eel")


def test_a_header_without_its_checksum_is_refused(make, tmp_path):
    make().save(tmp_path)
    header = json.loads((tmp_path / "outputs.json").read_text())
    del header["sha256"]
    (tmp_path / "outputs.json").write_text(json.dumps(header))
    with pytest.raises(ValueError, match=r"must be a header written by Outputs.save, got contents that were changed"):
        Outputs.load(tmp_path)
