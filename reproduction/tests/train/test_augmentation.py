import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.augmentation import Augmentation  # noqa: E402

IMAGES = torch.arange(1.0, 1 + 200 * 2 * 6 * 6).reshape(200, 2, 6, 6)


def drawn(augmentation, seed=0):
    return augmentation(IMAGES, torch.Generator().manual_seed(seed))


def test_nothing_is_changed_unless_asked_for():
    assert torch.equal(drawn(Augmentation()), IMAGES)


def test_half_of_the_images_are_mirrored():
    images = drawn(Augmentation(flip=True))
    same = (images == IMAGES).flatten(1).all(dim=1)
    mirrored = (images == IMAGES.flip(-1)).flatten(1).all(dim=1)
    assert (same ^ mirrored).all()
    assert 70 < same.sum() < 130


def test_every_image_is_cut_at_a_place_of_its_own_and_all_places_occur():
    padded = torch.nn.functional.pad(IMAGES, (2, 2, 2, 2))
    images = drawn(Augmentation(pad=2))
    offsets = set()
    for image, window in zip(padded, images, strict=True):
        fits = [(i, j) for i in range(5) for j in range(5) if torch.equal(image[:, i : i + 6, j : j + 6], window)]
        assert len(fits) == 1
        offsets.update(fits)
    assert len(offsets) == 25


def test_a_window_is_smaller_than_the_image():
    assert drawn(Augmentation(window=4)).shape == (200, 2, 4, 4)


def test_a_window_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"`window` must fit into images of \(6, 6\), got 8"):
        drawn(Augmentation(window=8))


def test_the_same_generator_gives_the_same_images():
    augmentation = Augmentation(pad=2, flip=True)
    assert torch.equal(drawn(augmentation), drawn(augmentation))
    assert not torch.equal(drawn(augmentation), drawn(augmentation, seed=1))
