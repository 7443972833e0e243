import numpy as np
import pytest

from abstain_reproduction.training.image_tasks import cifar_task, fashion_task, known_classes_task

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("image_packages")


@pytest.mark.parametrize(("make", "shape"), [(fashion_task, (28, 28)), (cifar_task, (32, 32, 3))])
def test_all_kinds_of_images_have_one_shape_and_every_second_is_there(make, shape):
    task = make(limit=40)
    for images in (task.images, task.clean, task.corrupted, task.unknown):
        assert images.shape == (40, *shape)
        assert images.dtype == np.uint8
    assert (task.corrupted != task.clean).any(axis=tuple(range(1, task.clean.ndim))).mean() > 0.8
    assert len(set(task.corruptions)) > 5


def test_the_same_seed_draws_the_same_corruptions():
    first, same, other = (fashion_task(limit=30, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.corrupted, same.corrupted)
    assert (first.corruptions != other.corruptions).any()


def test_a_share_of_the_images_is_learned_from():
    task = fashion_task(train=50)
    assert (len(task.images), len(task.clean)) == (50, 120)


@pytest.mark.parametrize("source", ["fashion", "mnist", "cifar"])
def test_classes_that_are_not_known_are_those_of_the_same_data(source):
    task = known_classes_task(source, known=8, train=30, limit=40)
    assert len(task.images) == 30
    assert max(task.labels.max(), task.truth.max()) < 8
    assert 0 < len(task.unknown) <= 40
    assert len(task.clean) + len(task.unknown) <= 120
    assert "images of its classes from 8 on as unknown classes" in task.words


def test_a_corrupted_image_and_its_original_are_one_cluster():
    from abstain_reproduction.train.cross_entropy import CrossEntropy
    from abstain_reproduction.train.networks.small import small_cnn

    outputs = fashion_task(limit=20).outputs(CrossEntropy().network(small_cnn(), 10))
    ids = {kind: outputs.ids[outputs.shift == kind] for kind in ("none", "covariate", "label")}
    assert ids["none"].tolist() == ids["covariate"].tolist() == list(range(20))
    assert not set(ids["label"]) & set(ids["none"])
    assert outputs.errors[outputs.shift == "label"].all()
