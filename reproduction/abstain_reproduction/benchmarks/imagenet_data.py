"""ImageNet's validation images, ImageNet-C, OpenImage-O and ImageNet-O, in the folders their authors publish."""

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from abstain._errors import InvalidInputError, MissingFileError, foreign
from abstain._extras import repair_torchvision, require
from abstain._io.files import read_text, reading
from abstain.collect import Data
from abstain.collect.image_folder import ENDINGS, ImageFiles
from abstain_reproduction.benchmarks.local_folders import first_existing, limited, needed
from abstain_reproduction.corruptions import SEVERITY, corrupted, published_name
from abstain_reproduction.square import square

VALIDATION = ("val", "imagenet/val", "ILSVRC2012/val", "ILSVRC/Data/CLS-LOC/val", "ILSVRC2012_img_val")
CORRUPTED = ("imagenet-c", "ImageNet-C", "imagenet_c")
OPEN_IMAGES = ("openimage_o", "openimage-o", "OpenImage-O", "images_largescale/openimage_o")
OPEN_LISTS = ("openimage_o.txt", "test_openimage_o.txt", "benchmark_imglist/imagenet/test_openimage_o.txt")
STRANGERS = ("imagenet-o", "imagenet_o", "ImageNet-O")
SYNSETS = ("LOC_synset_mapping.txt", "synset_words.txt", "synsets.txt", "ILSVRC/LOC_synset_mapping.txt")
DEVKIT = ("ILSVRC2012_devkit_t12/data", "ILSVRC2012/ILSVRC2012_devkit_t12/data", "devkit/data")
SOLUTION = ("LOC_val_solution.csv", "ILSVRC/LOC_val_solution.csv")
LISTED = ("val.txt", "imagenet2012_val_list.txt", "ILSVRC2012/val.txt")
CLASSES = 1000


def parts(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """In-distribution, corrupted and unknown images; a limit takes the same images of every corruption."""
    images_folder = needed(root, VALIDATION, what="ILSVRC-2012 validation images")
    strangers = needed(root, (*OPEN_IMAGES, *STRANGERS), what="images of unknown classes (OpenImage-O, or ImageNet-O)")
    clean = limited(validation(root, images_folder), limit, seed)
    folder = first_existing(root, CORRUPTED)
    cut = partial(square, resize=256, crop=224)  # as ImageNet-C was made
    shifted = corrupted(clean, seed, cut=cut) if folder is None else _on_disk(folder, clean)
    return [clean, *shifted, limited(_unknown(root, strangers), limit, seed)]


def with_imagenet_o(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """Validation images and ImageNet-O, as in App. C."""
    images_folder = needed(root, VALIDATION, what="ILSVRC-2012 validation images")
    strangers = needed(root, STRANGERS, what="ImageNet-O")
    return [limited(validation(root, images_folder), limit, seed), limited(_unknown(root, strangers), limit, seed)]


def validation(root: Path, images_folder: Path, /) -> Data:
    """The validation images: one folder per synset, or one folder and a file of labels."""
    files = _images(images_folder)
    numbers = {name: number for number, name in enumerate(synsets(root, images_folder))}
    known = {} if any(file.parent != images_folder for file in files) else _labels(root, numbers)
    labels = [known.get(file.stem, numbers.get(file.parent.name, -1)) for file in files]
    if -1 in labels:
        lost = files[labels.index(-1)]
        raise InvalidInputError(f"`--data` must have a label for every validation image, got none for {lost}.")
    return Data(ImageFiles(tuple(files)), labels=np.array(labels), ids=_stems(files), domain="imagenet")


def synsets(root: Path, images_folder: Path, /) -> list[str]:
    """The names of the classes in the order of their numbers, which is alphabetical."""
    listed = first_existing(root, SYNSETS)
    if listed is not None:
        lines = read_text(listed, "a list of synsets").splitlines()
        return sorted(line.split()[0] for line in lines if line.strip())
    folders = sorted(child.name for child in images_folder.iterdir() if child.is_dir())
    if len(folders) == CLASSES:
        return folders
    repair_torchvision()
    data = require("timm.data", extra="timm", feature=f"Naming the classes without {SYNSETS[0]}")
    return list(data.ImageNetInfo("imagenet-1k").label_names())


def _labels(root: Path, numbers: Mapping[str, int]) -> dict[str, int]:
    """The class of each validation image by its name, from whichever list is there."""
    if (devkit := first_existing(root, DEVKIT)) is not None:
        return _from_devkit(devkit, numbers)
    if (solution := first_existing(root, SOLUTION)) is not None:
        with reading(solution, "labels of validation images"), open(solution, encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        with foreign(f"`{solution}` must have an ImageId and the synset of each image"):
            return {row["ImageId"]: numbers[row["PredictionString"].split()[0]] for row in rows}
    listed = needed(
        root, (*LISTED, *DEVKIT, *SOLUTION), what="folders named by synset, or labels of the validation images"
    )
    lines = [line.split() for line in read_text(listed, "names and class numbers").splitlines() if line.strip()]
    with foreign(f"`{listed}` must have a name and a class number in every line"):
        return {Path(name).stem: int(number) for name, number in lines}


def _from_devkit(devkit: Path, numbers: Mapping[str, int]) -> dict[str, int]:
    """The development kit numbers classes in an order of its own, which meta.mat explains."""
    truth = read_text(devkit / "ILSVRC2012_validation_ground_truth.txt", "numbers of the development kit").split()
    with reading(devkit / "meta.mat", "the synsets of the development kit"):
        open(devkit / "meta.mat", "rb").close()
    with foreign(f"`{devkit / 'meta.mat'}` must have synsets as the development kit has them"):
        from scipy.io import loadmat

        entries = np.atleast_1d(loadmat(devkit / "meta.mat", squeeze_me=True)["synsets"])
        names = {int(entry["ILSVRC2012_ID"]): str(entry["WNID"]) for entry in entries}
        return {f"ILSVRC2012_val_{row:08d}": numbers[names[int(k)]] for row, k in enumerate(truth, start=1)}


def _on_disk(folder: Path, clean: Data) -> list[Data]:
    """ImageNet-C: CORRUPTION/3/SYNSET/NAME.JPEG, with or without the folder of the archive above."""
    from abstain.shifts import CORRUPTIONS

    assert clean.ids is not None
    assert clean.labels is not None
    label = dict(zip(clean.ids.tolist(), clean.labels.tolist(), strict=True))
    corrupted_parts = []
    for corruption in CORRUPTIONS:
        name = f"{published_name(corruption)}/{SEVERITY}"
        directory = next(
            (directory for directory in (folder / name, *folder.glob(f"*/{name}")) if directory.is_dir()), None
        )
        files = [] if directory is None else [file for file in _images(directory) if file.stem in label]
        if not files:
            raise MissingFileError(f"`--data` must hold the images of {name} in {folder}, got none.")
        ids = _stems(files)
        labels = np.array([label[name] for name in ids.tolist()])
        domain = f"{corruption}-{SEVERITY}"
        corrupted_parts.append(Data(ImageFiles(tuple(files)), labels=labels, ids=ids, domain=domain, shift="covariate"))
    return corrupted_parts


def _unknown(root: Path, images_folder: Path) -> Data:
    """The images of unknown classes; of OpenImage-O those in its list, where there is one."""
    files = _images(images_folder)
    listed = first_existing(root, OPEN_LISTS) or first_existing(images_folder, OPEN_LISTS)
    if listed is not None and images_folder.name not in STRANGERS:
        names = {
            Path(line.split()[0]).name for line in read_text(listed, "a list of images").splitlines() if line.strip()
        }
        files = [file for file in files if file.name in names]
        if not files:
            raise InvalidInputError(f"`{listed}` must list images in {images_folder}, got none of their names.")
    ids = np.array([f"{images_folder.name}/{file.stem}" for file in files])
    return Data(ImageFiles(tuple(files)), ids=ids, domain=images_folder.name, shift="label")


def _images(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ENDINGS)
    if not files:
        raise MissingFileError(f"`--data` must hold images ({', '.join(ENDINGS)}) in {folder}, got none.")
    return files


def _stems(files: Sequence[Path]) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.array([file.stem for file in files])
