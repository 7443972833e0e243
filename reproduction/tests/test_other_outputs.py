import numpy as np

from abstain import Outputs
from abstain_reproduction.experiment import Setting
from abstain_reproduction.other_outputs import other_outputs


def saved(folder, *, features=True, n=100):
    outputs = Outputs(
        logits=np.random.default_rng(0).normal(size=(n, 2)),
        labels=np.zeros(n, dtype=int),
        features=np.ones((n, 3)) if features else None,
        ids=np.arange(n) // 4,
    )
    outputs.save(folder / "outputs")


def test_outputs_with_features_beside_the_folder_are_found(tmp_path):
    for name in ("a", "mine"):
        saved(tmp_path / name)
    saved(tmp_path / "b", features=False)
    (tmp_path / "c" / "outputs").mkdir(parents=True)
    loaded = other_outputs(Setting(folder=tmp_path / "mine"))
    assert list(loaded) == ["a"]
    assert len(loaded["a"]) == 100


def test_of_many_rows_a_part_is_taken_with_whole_samples(tmp_path):
    saved(tmp_path / "a", n=4000)
    loaded = other_outputs(Setting(folder=tmp_path / "mine"), rows=1000)["a"]
    assert 700 < len(loaded) < 1300
    assert (np.unique(loaded.ids, return_counts=True)[1] == 4).all()


def test_nothing_is_found_in_a_new_folder(tmp_path):
    assert other_outputs(Setting(folder=tmp_path / "none" / "mine")) == {}
