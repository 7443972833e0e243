import json

import numpy as np
import pytest

from abstain import Outputs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h | {"version": 99}, "must be of format version 1, got 99"),
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
    header = json.loads((tmp_path / "outputs.json").read_text())
    (tmp_path / "outputs.json").write_text(json.dumps(change(header)))
    with pytest.raises(ValueError, match=message):
        Outputs.load(tmp_path)


def test_a_broken_header_is_refused(make, tmp_path):
    make().save(tmp_path)
    (tmp_path / "outputs.json").write_text("{")
    with pytest.raises(ValueError, match=r"must be a header written by Outputs.save"):
        Outputs.load(tmp_path)


def test_a_folder_without_checksums_still_loads(tmp_path):
    Outputs(logits=2 * np.eye(3)).save(tmp_path / "run")
    header = json.loads((tmp_path / "run" / "outputs.json").read_text())
    for entry in header["arrays"].values():
        del entry["sha256"]
    (tmp_path / "run" / "outputs.json").write_text(json.dumps(header))
    assert len(Outputs.load(tmp_path / "run")) == 3
