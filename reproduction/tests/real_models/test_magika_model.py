"""Magika's graph through `collect`, and with a selector attached."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.collect import Data, collect
from abstain_reproduction.real_models.magika_model import FileBytes, _tokens, files_by_ending, magika_model

magika = pytest.importorskip("magika")


def test_magika_says_of_files_what_magika_says(tmp_path):
    contents = {
        "a.py": b"import os\n\ndef main():\n    return os.getcwd()\n" * 20,
        "b.html": b"<!doctype html><html><head><title>x</title></head><body><p>hi</p></body></html>" * 10,
        "c.json": b'{"a": [1, 2, 3], "b": {"c": null}}' * 1,
        "d.c": b'#include <stdio.h>\nint main(void) { printf("hi"); return 0; }\n' * 300,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(b"  \n" + content + b"\n\n")
    files = tuple(tmp_path / name for name in contents)
    outputs = collect(magika_model(), Data(FileBytes(files)), tmp_path / "run")
    reference = magika.Magika()
    for row, file in enumerate(files):
        result = reference.identify_path(file)
        assert outputs.class_names[outputs.predictions[row]] == str(result.dl.label)
    assert outputs.check_head().agrees


def test_magikas_real_graph_abstains_by_itself(tmp_path):
    """From real files to a guarantee, to one file, to ONNX Runtime, to the same decisions."""
    import onnxruntime

    from abstain.onnx import attach

    known, _ = files_by_ending([Path(sysconfig.get_path("stdlib"))], per_ending=60)
    outputs = collect(magika_model(), known, tmp_path / "run", batch_size=32)
    first, second = outputs.split(0.6, seed=0)
    selector = abstain.calibrate(first, risk=0.1, delta=0.1)
    (graph,) = Path(magika.__file__).parent.glob("models/*/model.onnx")
    attach(graph, selector, tmp_path / "selective.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "selective.onnx", providers=["CPUExecutionProvider"])
    config = {"block_size": 4096, "padding_token": 256, "beg_size": 1024, "end_size": 1024}
    rows = [int(np.flatnonzero(known.ids == name)[0]) for name in second.ids[:100]]
    tokens = np.stack([_tokens(known[row], config) for row in rows]).astype(np.int32)
    label, accepted = session.run(["prediction", "accepted"], {"bytes": tokens})
    np.testing.assert_array_equal(label, second.predictions[:100])
    np.testing.assert_array_equal(accepted, selector.accepts(second)[:100])
    accepted_rows = selector.accepts(second)
    assert second.errors[accepted_rows].mean() <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / accepted_rows.sum())
