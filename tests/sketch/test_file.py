"""One file: whole and unaltered, or refused."""

import json
import struct
import zlib

import numpy as np
import pytest

from abstain._io.sealed import load_sealed, save_sealed
from abstain.evaluation import sketch_outputs
from abstain.sketch import Bins, Sketch

SCORES = ["confidence_margin", "energy"]


@pytest.fixture
def saved(outputs, tmp_path):
    sketch = sketch_outputs(outputs, scores=SCORES, by=("shift", "domain"))
    sketch.save(tmp_path / "a.sketch")
    return sketch, tmp_path / "a.sketch"


def test_what_is_saved_is_loaded_and_saved_again_alike(saved, tmp_path):
    sketch, file = saved
    again = Sketch.load(file)
    assert again.plan.differs(sketch.plan) is None
    assert again.counts("energy", domain=["fog"]).aurc() == sketch.counts("energy", domain=["fog"]).aurc()
    again.save(tmp_path / "b.sketch")
    assert (tmp_path / "b.sketch").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("score", ["ts_max_softmax", "max_logit_pnorm", "gen(gamma=1)"])
def test_a_fitted_score_and_edges_travel_with_it(outputs, tmp_path, score):
    sketch = sketch_outputs(outputs, scores=[score], bins=64)
    sketch.save(tmp_path / "a.sketch")
    again = Sketch.load(tmp_path / "a.sketch")
    assert again.plan.differs(sketch.plan) is None
    assert again.fitted_bins == set(sketch.scores)


def test_a_file_is_small(saved):
    sketch, file = saved
    assert file.stat().st_size < 3 * sketch.n_cells


@pytest.mark.parametrize("position", [3, 60, 400, -2])
def test_an_altered_byte_is_found(saved, position):
    file = saved[1]
    contents = bytearray(file.read_bytes())
    contents[position] ^= 1
    file.write_bytes(contents)
    with pytest.raises(ValueError, match=r"a\.sketch` must be"):
        Sketch.load(file)


@pytest.mark.parametrize("size", [0, 7, 100, 2000])
def test_a_cut_file_is_refused(saved, size):
    file = saved[1]
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"a\.sketch` must be"):
        Sketch.load(file)


def test_another_kind_of_file_is_refused(tmp_path):
    save_sealed(tmp_path / "s", "abstain.selector", 4, {}, {"none": np.zeros(0)})
    with pytest.raises(ValueError, match="must be a sketch, got another kind of file"):
        Sketch.load(tmp_path / "s")
    with pytest.raises(FileNotFoundError, match="must exist and be a sketch"):
        Sketch.load(tmp_path / "none.sketch")


def reseal(file, change):
    """The file with a changed header and arrays, under a valid digest."""
    header, arrays = load_sealed(file, "abstain.sketch", 2, writer="", again="")
    arrays = dict(arrays)
    change(header, arrays)
    save_sealed(file, "abstain.sketch", header.pop("version", 2), header, arrays)


def one_row(header, arrays):
    """Leave the first score a single row."""
    single = np.frombuffer(zlib.compress(np.ones(1, np.uint8).tobytes()), np.uint8)
    header["scores"][0]["cells"] = 1
    arrays.update({f"0.{name}": single for name in ("slots", "counts", "errors")})


CHANGES = {
    "version": (lambda h, _: h.update(version=3), "must be of version 2, got 3. Use the abstain that wrote it"),
    "field": (lambda h, _: h.update(more=1), "instead of the fields"),
    "score field": (lambda h, _: h["scores"][0].update(more=1), "scores with other fields"),
    "twice": (lambda h, _: h["scores"][1].update(name=h["scores"][0]["name"]), "or two of one name"),
    "cells": (lambda h, _: h["scores"][0].update(cells=3), "truncated or surplus"),
    "bomb": (lambda h, _: h["scores"][0].update(cells=1 << 40), "cells"),
    "bits": (lambda h, _: h["scores"][0].update(bits=12), "bins out of order"),
    "strata": (lambda h, _: h.update(strata=h["strata"][::-1]), "populations out of order"),
    "few": (lambda h, _: h.update(strata=h["strata"][:1]), "unknown populations"),
    "score": (lambda h, _: h["scores"][0]["score"].update(kind="Nothing"), "a score that is known"),
    "array": (lambda _, a: a.pop("0.counts"), "KeyError"),
    "errors": (lambda _, a: a.update({"0.errors": a["0.counts"], "0.counts": a["0.errors"]}), "must be a sketch"),
    "parts": (lambda h, _: h.update(parts=1 << 20), "must be"),
    "more": (lambda _, a: a.update(more=np.zeros(3)), "other arrays than its scores have"),
    "rows": (lambda h, a: one_row(h, a), "scores that count different rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_is_sealed_but_makes_no_sense_is_refused(saved, name):
    change, words = CHANGES[name]
    reseal(saved[1], change)
    with pytest.raises(ValueError, match=words):
        Sketch.load(saved[1])


def test_an_empty_sketch_can_be_saved(tmp_path):
    empty = Sketch.empty(Sketch.of([0.5], [1], bins=Bins(12)).plan)
    empty.save(tmp_path / "a.sketch")
    assert Sketch.load(tmp_path / "a.sketch").n == 0


def test_the_header_is_plain_json(saved):
    contents = saved[1].read_bytes()
    (length,) = struct.unpack_from("<Q", contents)
    header = json.loads(json.loads(contents[8 : 8 + length])["__metadata__"]["abstain"])
    assert [each["name"] for each in header["scores"]] == SCORES
