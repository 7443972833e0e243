import numpy as np
import pytest

from abstain_reproduction.benchmarks.saved_outputs import saved_outputs


def paper_folder(folder, outputs, rows, *, head):
    """What the authors' script writes."""
    folder.mkdir(parents=True)
    chosen = outputs.select(rows)
    arrays = {"pred_logits": chosen.logits, "labels": chosen.labels, "features": chosen.features}
    if head:
        arrays |= {"last_layer_weights": outputs.weight, "last_layer_bias": outputs.bias}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def test_folders_of_the_papers_code_become_one_with_their_shifts(digits, tmp_path):
    for name, kind in (("in", "none"), ("covariate", "covariate"), ("label", "label")):
        paper_folder(tmp_path / name, digits, digits.shift == kind, head=name == "in")
    outputs = saved_outputs(tmp_path)
    assert len(outputs) == len(digits)
    assert outputs.errors.mean() == digits.errors.mean()
    assert sorted(outputs.shift) == sorted(digits.shift)
    assert outputs.check_head().agrees


def test_one_folder_of_the_papers_code_is_in_distribution(digits, tmp_path):
    paper_folder(tmp_path / "collected_data", digits, digits.shift == "none", head=True)
    assert set(saved_outputs(tmp_path / "collected_data").shift) == {"none"}


def test_a_folder_of_ours_is_taken_as_it_is(digits, tmp_path):
    digits.save(tmp_path / "run")
    assert (saved_outputs(tmp_path / "run").logits == digits.logits).all()


def test_another_folder_says_what_is_expected(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"must be a model or outputs: outputs.json, pred_logits.npy, or folders in"
    ):
        saved_outputs(tmp_path)
