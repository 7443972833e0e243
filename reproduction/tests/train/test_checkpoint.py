import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.checkpoint import check_same, load, save  # noqa: E402

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([1, 2])}
RECORD = {"done": 3, "sum": 0.1 + 0.2, "losses": [1 / 3]}


def test_what_is_saved_is_loaded_to_the_bit(tmp_path):
    save(tmp_path / "run", TENSORS, RECORD)
    tensors, record = load(tmp_path / "run")
    assert record == RECORD
    assert set(tensors) == set(TENSORS)
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_the_same_contents_are_the_same_bytes_whatever_their_layout(tmp_path):
    save(tmp_path / "one", TENSORS, RECORD)
    save(tmp_path / "two", {"b": TENSORS["b"], "a": TENSORS["a"].T.contiguous().T}, RECORD)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    save(tmp_path / "run", TENSORS, RECORD)
    whole = (tmp_path / "run").read_bytes()
    (tmp_path / "run").write_bytes(whole[:-5])
    with pytest.raises(ValueError, match="run` must be a checkpoint of a training run, got SafetensorError"):
        load(tmp_path / "run")


@pytest.mark.parametrize("index", [-1, -20])
def test_a_bit_that_was_flipped_is_noticed(tmp_path, index):
    save(tmp_path / "run", TENSORS, RECORD)
    contents = bytearray((tmp_path / "run").read_bytes())
    contents[index] ^= 1
    (tmp_path / "run").write_bytes(contents)
    with pytest.raises(ValueError, match=r"run` must be .* as it was saved, got altered contents. Remove it"):
        load(tmp_path / "run")


def test_a_record_that_was_altered_is_refused(tmp_path):
    save(tmp_path / "run", TENSORS, RECORD)
    contents = (tmp_path / "run").read_bytes()
    (tmp_path / "run").write_bytes(contents.replace(b'done\\": 3', b'done\\": 9'))
    with pytest.raises(ValueError, match="got altered contents"):
        load(tmp_path / "run")


def test_a_record_nested_without_end_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file(TENSORS, tmp_path / "run", metadata={"abstain": "[" * 100_000})
    with pytest.raises(ValueError, match="must be a checkpoint of a training run, got contents that are none"):
        load(tmp_path / "run")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="none` must exist and be a checkpoint of a training run"):
        load(tmp_path / "none")


def test_all_that_changed_is_named(tmp_path):
    check_same(tmp_path, {"a": 1, "b": 2}, {"a": 1, "b": 2})
    with pytest.raises(ValueError, match=r"begun with other b, c\. Choose another name, or remove it to begin again"):
        check_same(tmp_path, {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})
