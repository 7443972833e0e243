"""A log keeps what was synced, drops what was cut off, and has each decision once."""

import json
import os
import resource

import pytest

from abstain.decision_log import DecisionLog, is_log, log_parts, read_log
from abstain.decision_log.parts import closed_parts, open_part
from abstain.decision_log.table import part_records
from abstain.errors import FileConflictError, FileInUseError, InvalidInputError

FORMS = ("d.jsonl", "d.parquet")


def rows(*names, confidence=0.5):
    return {"id": list(names), "confidence": [confidence] * len(names), "accepted": [True] * len(names)}


def opened(path, **options):
    return DecisionLog(path, selector="1f3a", **options)


@pytest.mark.parametrize("form", FORMS)
def test_what_was_synced_is_read_in_order_over_all_parts(tmp_path, form):
    with opened(tmp_path / form, part_bytes=300) as log:
        for k in range(10):
            log.append(rows(f"a{k}", f"b{k}"))
            assert log.sync() == 2 * k + 2
            log.rotate()
        assert len(closed_parts(log.path)) > 3
    table = read_log(tmp_path / form)
    assert table["sequence"] == list(range(1, 21))
    assert table["id"] == [f"{c}{k}" for k in range(10) for c in "ab"]
    assert set(table["selector"]) == {"1f3a"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("torn", [b'{"sequence": 3, "ti', b"\0" * 50, b'{"sequence": 3}garbage\n', b"\n\n"])
def test_a_record_that_was_cut_off_is_removed_and_its_number_used_again(tmp_path, form, torn):
    path = tmp_path / form
    with opened(path) as log:
        log.append(rows("a", "b"))
        log.sync()
    with open(open_part(path), "ab") as file:
        whole = file.tell()
        file.write(torn)
    assert read_log(path)["id"] == ["a", "b"]  # before anything is repaired
    with opened(path) as log:
        assert open_part(path).stat().st_size == whole
        log.append(rows("c"))
        log.sync()
    assert read_log(path)["sequence"] == [1, 2, 3]


@pytest.mark.parametrize("form", FORMS)
def test_a_decision_sent_again_is_not_written_twice_even_after_a_restart(tmp_path, form):
    with opened(tmp_path / form, part_bytes=1) as log:
        assert log.append(rows("a", "a")) == [0, 1]  # two rows of one request are two decisions
        log.rotate()
    with opened(tmp_path / form) as log:
        assert log.append(rows("a", "b")) == [1]
        assert log.append(rows("a", confidence=0.7)) == [0]  # another decision of the same id
        log.sync()
    assert read_log(tmp_path / form)["id"] == ["a", "a", "b", "a"]


def test_a_closed_parquet_part_whose_lines_a_crash_left_behind_is_not_counted_twice(tmp_path):
    path = tmp_path / "d.parquet"
    with opened(path) as log:
        log.append(rows("a", "b"))
        log.sync()
        lines = open_part(path).read_bytes()
        log._full = 1
        log.rotate()
    open_part(path).write_bytes(lines)  # the crash came before they were removed
    with opened(path) as log:
        assert log.sequence == 2
    assert read_log(path)["sequence"] == [1, 2]


def test_labels_are_joined_to_their_decisions_by_id(tmp_path):
    with opened(tmp_path / "d.jsonl") as log:
        log.append(rows("a", "b"))
        log.append({"id": ["b"], "error": [True]})
        assert log.append({"id": ["b"], "error": [True]}) == []
        log.sync()
    assert read_log(tmp_path / "d.jsonl")["error"] == [None, True]


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path, monkeypatch):
    with opened(tmp_path / "d.jsonl") as log:
        log.append(rows("a"))
        write = os.write

        def half(file, contents):
            if len(contents) > 40:
                return write(file, contents[:40])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space"):
            log.append(rows("b"))
        monkeypatch.undo()
        log.append(rows("c"))
        log.sync()
    assert read_log(tmp_path / "d.jsonl")["id"] == ["a", "c"]
    assert read_log(tmp_path / "d.jsonl")["sequence"] == [1, 2]


def test_a_part_that_a_full_disk_does_not_let_be_closed_stays_open(tmp_path):
    path = tmp_path / "d.parquet"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(path, part_bytes=300) as log:
        log.append(rows(*"abcd"))
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
            log.rotate()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not closed_parts(path)
        log.append(rows("e"))
        log.rotate()  # it is tried again after as many bytes again
        assert not closed_parts(path)
        log.append(rows(*"fghi"))
        log.rotate()
        assert list(closed_parts(path)) == [1]
    assert read_log(path)["id"] == list("abcdefghi")


@pytest.mark.parametrize("change", ["moved", "cut", "extended"])
def test_a_log_that_another_program_changes_is_an_error_before_anything_is_acknowledged(tmp_path, change):
    with opened(tmp_path / "d.jsonl") as log:
        log.append(rows("a"))
        log.sync()
        if change == "moved":
            os.rename(log.path, tmp_path / "e.jsonl")
        else:
            os.truncate(log.path, 0 if change == "cut" else 10_000)
        log.append(rows("b"))
        with pytest.raises(FileConflictError, match="must be left to its writer"):
            log.sync()


def test_parts_before_a_sequence_number_are_not_read(tmp_path):
    with opened(tmp_path / "d.jsonl", part_bytes=1) as log:
        for name in "abc":  # each in a part of its own
            log.append(rows(name, name + name))
            log.rotate()
        log.append(rows("d"))
        log.sync()
        numbers = [
            [record["sequence"] for part in log_parts(log.path, after=after) for record in part_records(part)]
            for after in (0, 2, 3, 6, 7)
        ]
    assert numbers == [[1, 2, 3, 4, 5, 6, 7], [3, 4, 5, 6, 7], [3, 4, 5, 6, 7], [7], [7]]


def test_values_of_several_types_in_a_column_make_a_parquet_part(tmp_path):
    with opened(tmp_path / "d.parquet", part_bytes=1) as log:
        log.append(rows("a", "b", "c") | {"loss": [0, 0.5, float("nan")], "prediction": [1, "cat", 2]})
        log.append({"id": ["a"], "error": [True]})
        log.rotate()
        log.append({"id": ["b", "c"], "error": [0, True]})
        log.rotate()
    table = read_log(tmp_path / "d.parquet")
    assert (str(table["loss"]), table["prediction"]) == ("[0.0, 0.5, nan]", ["1", "cat", "2"])
    assert table["error"] == [True, False, True]


def test_a_log_has_one_selector_and_one_writer(tmp_path):
    with opened(tmp_path / "d.jsonl") as log:
        log.append(rows("a"))
        log.sync()
        with pytest.raises(FileInUseError, match="must not be in use"):
            opened(tmp_path / "d.jsonl")
    with pytest.raises(FileConflictError, match="must be the log of this selector"):
        DecisionLog(tmp_path / "d.jsonl", selector="other")


def test_other_files_are_refused_and_not_taken_for_logs(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "a"}) + "\n")
    assert not is_log(tmp_path / "x.jsonl")
    with pytest.raises(FileConflictError, match="must be a log of decisions or new"):
        opened(tmp_path / "x.jsonl")
    with pytest.raises(InvalidInputError, match=r"must end in \.jsonl or \.parquet"):
        opened(tmp_path / "x.csv")


def test_numbers_that_are_not_finite_come_back(tmp_path):
    for form in FORMS:
        with opened(tmp_path / form, part_bytes=1) as log:
            log.append(rows("a", confidence=float("nan")) | {"threshold": [float("inf")]})
            log.rotate()
        table = read_log(tmp_path / form)
        assert str(table["confidence"][0]) == "nan"
        assert float(table["threshold"][0]) == float("inf")


def test_a_label_corrected_back_is_written_and_the_last_one_counts(tmp_path):
    with opened(tmp_path / "d.jsonl") as log:
        log.append(rows("a"))
        for error in (True, False, True):
            assert log.append({"id": ["a"], "error": [error]}) == [0]
        log.sync()
    assert read_log(tmp_path / "d.jsonl")["error"] == [True]


def test_a_label_is_not_that_of_a_later_decision_with_its_id(tmp_path):
    with opened(tmp_path / "d.jsonl") as log:
        log.append(rows("a", confidence=0.9))
        log.append({"id": ["a"], "error": [True]})
        log.append(rows("a", confidence=0.8))
        log.sync()
    assert read_log(tmp_path / "d.jsonl")["error"] == [True, None]
