import numpy as np
import pytest
from scipy.io import savemat

from abstain_reproduction.benchmarks.imagenet_data import parts, validation


def flat(root):
    """The same validation images, all in one folder."""
    for file in sorted((root / "val").rglob("*.JPEG")):
        file.rename(root / "val" / file.name)
    for folder in [child for child in (root / "val").iterdir() if child.is_dir()]:
        folder.rmdir()


def test_images_are_labelled_by_their_synset(imagenet):
    clean, *corrupted, unknown = parts(imagenet, None, 0)
    assert clean.labels.tolist() == [0] * 8 + [1] * 8 + [2] * 8
    assert [part.domain for part in corrupted][:2] == ["gaussian_noise-3", "shot_noise-3"]
    assert len(corrupted) == 19
    assert unknown.shift == "label"
    assert len(unknown) == 8  # of nine images, those in the list


def test_corruptions_are_made_of_the_cut_image_where_none_are_on_disk(imagenet):
    clean, corrupted = parts(imagenet, None, 0)[:2]
    assert corrupted[0].size == (224, 224)
    assert corrupted.ids.tolist() == clean.ids.tolist()


def test_imagenet_c_is_taken_from_disk_with_the_labels_of_its_originals(imagenet_c):
    clean, *corrupted, _ = parts(imagenet_c, None, 0)
    assert {part.domain for part in corrupted} >= {"elastic-3", "jpeg-3", "contrast-3"}
    for part in corrupted:
        assert dict(zip(part.ids, part.labels, strict=True)) == dict(zip(clean.ids, clean.labels, strict=True))
        assert part[0].size == (32, 24)


def test_a_limit_takes_the_same_images_of_every_corruption(imagenet_c):
    clean, *corrupted, unknown = parts(imagenet_c, 5, 0)
    assert len(clean) == len(unknown) == 5
    assert all(set(part.ids) == set(clean.ids) for part in corrupted)
    assert len(set(clean.labels)) > 1  # a draw, not the first ones


def test_a_corruption_that_is_not_on_disk_is_named(imagenet_c):
    (imagenet_c / "imagenet-c" / "fog").rename(imagenet_c / "imagenet-c" / "mist")
    with pytest.raises(FileNotFoundError, match=r"must hold the images of fog/3 in .*imagenet-c, got none"):
        parts(imagenet_c, None, 0)


def test_labels_of_a_flat_folder_come_from_the_development_kit(imagenet):
    expected = validation(imagenet, imagenet / "val")
    flat(imagenet)
    devkit = imagenet / "ILSVRC2012_devkit_t12" / "data"
    devkit.mkdir(parents=True)
    (devkit / "ILSVRC2012_validation_ground_truth.txt").write_text("".join(f"{(2, 3, 1)[k % 3]}\n" for k in range(24)))
    entries = np.array(
        [(1, "n01484850", "shark"), (2, "n01440764", "tench"), (3, "n01443537", "goldfish"), (1001, "n0", "fish")],
        dtype=[("ILSVRC2012_ID", object), ("WNID", object), ("words", object)],
    )
    savemat(devkit / "meta.mat", {"synsets": entries})
    data = validation(imagenet, imagenet / "val")
    assert dict(zip(data.ids, data.labels, strict=True)) == dict(zip(expected.ids, expected.labels, strict=True))


@pytest.mark.parametrize("kind", ["val.txt", "LOC_val_solution.csv"])
def test_labels_of_a_flat_folder_come_from_a_list(imagenet, kind):
    expected = validation(imagenet, imagenet / "val")
    flat(imagenet)
    names = dict(enumerate(("n01440764", "n01443537", "n01484850")))
    lines = {
        "val.txt": [f"{name}.JPEG {label}" for name, label in zip(expected.ids, expected.labels, strict=True)],
        "LOC_val_solution.csv": ["ImageId,PredictionString"]
        + [f"{name},{names[label]} 1 2 3 4" for name, label in zip(expected.ids, expected.labels, strict=True)],
    }
    (imagenet / kind).write_text("\n".join(lines[kind]) + "\n")
    data = validation(imagenet, imagenet / "val")
    assert dict(zip(data.ids, data.labels, strict=True)) == dict(zip(expected.ids, expected.labels, strict=True))


def test_flat_images_without_labels_are_refused_with_what_is_expected(imagenet):
    flat(imagenet)
    with pytest.raises(FileNotFoundError, match=r"must hold folders named by synset, or labels .* in val.txt or"):
        parts(imagenet, None, 0)


def test_a_folder_that_is_no_class_is_named(imagenet):
    (imagenet / "val" / "n01484850").rename(imagenet / "val" / "n09999999")
    with pytest.raises(ValueError, match=r"must have a label for every validation image, got none for .*n09999999"):
        parts(imagenet, None, 0)


def test_imagenet_o_stands_in_where_there_is_no_openimage_o(imagenet):
    (imagenet / "openimage_o").rename(imagenet / "imagenet-o")
    unknown = parts(imagenet, None, 0)[-1]
    assert unknown.domain == "imagenet-o"
    assert len(unknown) == 9  # the list is of other images


def test_missing_folders_say_what_is_expected_where(imagenet):
    (imagenet / "openimage_o").rename(imagenet / "strangers")
    with pytest.raises(FileNotFoundError, match=r"OpenImage-O, or ImageNet-O\) in openimage_o or .*, got .*strangers"):
        parts(imagenet, None, 0)
    (imagenet / "val").rename(imagenet / "validation")
    with pytest.raises(FileNotFoundError, match="must hold ILSVRC-2012 validation images in val or imagenet/val"):
        parts(imagenet, None, 0)


def test_the_classes_are_those_of_timm_where_nothing_lists_them(imagenet):
    (imagenet / "LOC_synset_mapping.txt").unlink()
    assert set(validation(imagenet, imagenet / "val").labels) == {0, 1, 2}  # n01440764 … are its first three
