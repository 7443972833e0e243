"""Counts over Parquet files: the same in whatever parts, and a run that is stopped goes on."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain import Outputs
from abstain.scale import data
from abstain.scale import reader as reading
from abstain.scale.draw import HashedDraw
from abstain.scale.engines import Execution
from abstain.scale.sketch import SketchSettings, sketch
from abstain.scores import KNN, SCORES
from abstain.sketch import Bins, Plan, Sketch

SOME = ["max_softmax", "confidence_margin"]


def outputs_of(table):
    z = np.stack(table["logits"].to_numpy())
    ids = table["id"].to_numpy().astype(str) if "id" in table.column_names else None
    return Outputs(logits=z, labels=table["label"].to_numpy(), shift=table["shift"].to_numpy().astype(str), ids=ids)


@pytest.mark.parametrize("ids", [False, True])
def test_it_is_the_sketch_of_the_rows_in_memory(tmp_path, make_table, write_shards, cells_of, ids):
    whole = make_table(300, ids=ids)
    sketched = sketch(
        write_shards(tmp_path / "data", whole, (100, 150, 50)), scores=SOME, settings=SketchSettings(bits=32)
    )
    outputs = outputs_of(whole)
    plan = Plan.of({name: (SCORES[name], SCORES[name].fit()) for name in SOME}, outputs, bins=Bins(32))
    assert cells_of(sketched.sketch) == cells_of(Sketch.of_outputs(plan, outputs))
    assert sketched.sketch.n == 300
    assert sketched.sketch.n_errors == outputs.errors.sum()


def test_ids_may_repeat_unless_it_is_said_that_they_do_not(tmp_path, make_table, write_shards):
    table = make_table(40).append_column("id", pa.array([f"s{i}" for i in range(40)]))
    path = write_shards(tmp_path / "data", table, (20, 20))
    assert sketch(path, scores="energy").sketch.plan.has_ids
    assert not sketch(path, scores="energy", settings=SketchSettings(distinct=True)).sketch.plan.has_ids
    copies = write_shards(tmp_path / "copies", make_table(40, ids=True), (40,), group=40)
    with pytest.raises(ValueError, match="`outputs` must have distinct ids, got 21 in 40 rows"):
        sketch(copies, scores="energy", settings=SketchSettings(distinct=True))


@given(
    cuts=st.lists(st.integers(0, 60), max_size=4),
    group=st.integers(1, 60),
    elements=st.integers(1, 400),
    portion=st.sampled_from([1, 500, 1 << 27]),
    workers=st.integers(1, 3),
    ids=st.booleans(),
    fitted=st.booleans(),
)
@settings(max_examples=30)
def test_files_row_groups_batches_and_workers_do_not_matter(
    tmp_path_factory, make_table, write_shards, cells_of, cuts, group, elements, portion, workers, ids, fitted
):
    whole, folder = make_table(60, ids=ids), tmp_path_factory.mktemp("parts")
    scores = ["knn(space=logits)", "energy"] if fitted else SOME
    positions = sorted({0, 60, *cuts})
    single = sketch(write_shards(folder / "a", whole, [60], group=60), scores=scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "ELEMENTS", elements)
        patch.setattr(data, "PORTION", portion)
        shards = write_shards(folder / "b", whole, np.diff(positions).tolist(), group=group)
        other = sketch(shards, scores=scores, execution=Execution(workers=workers))
    assert cells_of(single.sketch) == cells_of(other.sketch)
    assert single.notes == other.notes


def test_rows_that_scores_were_fitted_on_leave_with_all_their_copies(tmp_path, make_table, write_shards):
    whole = make_table(400, ids=True)
    path = write_shards(tmp_path / "data", whole, (399, 1))
    sketched = sketch(path, scores=[KNN(space="logits"), "energy"])
    ids = whole["id"].to_numpy().astype(str)
    drawn = HashedDraw.of(400, 5, seed=0).has(ids)
    assert 40 < drawn.sum() < 140
    assert sketched.sketch.n == (~drawn).sum()
    assert not set(ids[drawn]) & set(ids[~drawn])
    assert "in-distribution ones, to fit scores on" in sketched.notes[0]
    given = sketch(
        path, scores=[KNN(space="logits")], settings=SketchSettings(fitting=outputs_of(make_table(50, seed=1)))
    )
    assert given.sketch.n == 400


def test_the_head_is_that_of_the_fitting_outputs(shards, make_table):
    outputs = outputs_of(make_table(50, seed=1))
    with_head = Outputs(logits=outputs.logits, labels=outputs.labels, weight=np.eye(5))
    assert "geometric_margin" in sketch(shards, settings=SketchSettings(fitting=with_head)).sketch.scores
    assert "geometric_margin" not in sketch(shards).sketch.scores


def test_rows_that_are_not_finite_are_counted_as_rejected_errors(shards):
    table = pq.read_table(shards / "000.parquet")
    z = np.stack(table["logits"].to_numpy()).copy()
    z[3] = np.nan
    pq.write_table(table.set_column(0, "logits", pa.array(list(z))), shards / "000.parquet")
    sketched = sketch(shards, scores=SOME, settings=SketchSettings(nonfinite="reject"))
    assert sketched.notes == ("1 non-finite rows count as rejected errors.",)
    assert sketched.sketch.n == 100


class StoppedError(Exception):
    pass


def test_a_run_that_is_stopped_goes_on_with_the_parts_that_are_missing(shards, tmp_path, cells_of):
    def stop(done, total):
        if done > total / 2:
            raise StoppedError

    kept = tmp_path / "kept"
    with pytest.raises(StoppedError):
        sketch(shards, scores=SOME, resume=kept, execution=Execution(workers=1), progress=stop)
    before = {file: file.stat().st_mtime_ns for file in kept.iterdir()}
    assert 0 < len(before) < 4
    sketched = sketch(shards, scores=SOME, resume=kept)
    assert all(file.stat().st_mtime_ns == changed for file, changed in before.items())
    assert len(list(kept.iterdir())) == 4
    assert cells_of(sketched.sketch) == cells_of(sketch(shards, scores=SOME).sketch)


def test_kept_parts_of_other_scores_settings_or_files_and_damaged_ones_are_not_used(shards, tmp_path, cells_of):
    kept = tmp_path / "kept"
    sketch(shards, scores=SOME, resume=kept)
    for scores, changed in ((["energy"], {}), (SOME, {"bits": 12}), (SOME, {"nonfinite": "reject"})):
        before = len(list(kept.iterdir()))
        sketch(shards, scores=scores, settings=SketchSettings(**changed), resume=kept)
        assert len(list(kept.iterdir())) == before + 4
    for file in kept.iterdir():
        file.write_bytes(file.read_bytes()[:-30])
    assert cells_of(sketch(shards, scores=SOME, resume=kept).sketch) == cells_of(sketch(shards, scores=SOME).sketch)


def test_progress_tells_rows_done_and_in_all(shards):
    message = []
    sketch(shards, scores=SOME, progress=lambda *counts: message.append(counts))
    assert message == [(30, 100), (31, 100), (71, 100), (100, 100)]


def test_a_function_of_the_users_is_counted_on_this_machine(shards):
    def own(outputs):
        return outputs.logits.max(axis=1)

    sketched = sketch(shards, scores=[own, "max_logit"]).sketch
    assert sketched.counts("own").aurc() == sketched.counts("max_logit").aurc()


def test_data_without_labels_are_refused(shards):
    for file in shards.iterdir():
        pq.write_table(pq.read_table(file).drop_columns(["label"]), file)
    with pytest.raises(ValueError, match=r"000.parquet` must have labels to be evaluated, got no column label"):
        sketch(shards)


def test_logits_that_look_like_probabilities_are_told_once(tmp_path, write_shards):
    p = np.full((20, 2), 0.5)
    table = pa.table({"logits": pa.array(list(p)), "label": [0] * 20})
    with pytest.warns(UserWarning, match="look like probabilities") as message:
        sketch(write_shards(tmp_path / "data", table, (10, 10)), scores=["max_logit"])
    assert len(message) == 1


def test_kept_parts_of_another_version_are_not_used(shards, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    sketch(shards, scores=SOME, resume=kept)
    monkeypatch.setattr("abstain.scale.sketch_task.version", lambda _: "0.0.0")
    sketch(shards, scores=SOME, resume=kept)
    assert len(list(kept.iterdir())) == 8
