"""How many images a second `collect` reads, decodes and prepares with 0, 1, 2, … worker processes, and no model.

Run it as ``python benchmarks/decoding.py [FOLDER] [WORKERS …]`` on a folder of images; without a folder it makes some.
``python benchmarks/decoding.py --asleep 20 [WORKERS …]`` sleeps 20 ms per image in place of decoding, so that cores do
not matter: what workers lose then, the way from them to the model costs.
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from abstain._extras import repair_torchvision
from abstain.collect import image_folder
from abstain.collect.reader import Batch, Reader, in_workers
from abstain.collect.samples import Samples

BATCH, IMAGES, ROUNDS, SIZE = 32, 256, 5, (500, 375)  # ImageNet's images are of about this size
NAP_BATCH = 4  # enough batches for eight workers
Read = Callable[[range], Batch]


@dataclass(frozen=True)
class Asleep:
    """Sleeps so many seconds per image in place of reading it."""

    seconds: float

    def __call__(self, rows: range, /) -> Batch:
        """Nothing for each row, after a while."""
        time.sleep(self.seconds * len(rows))
        return Batch(list(rows), None, {})


def photographs(folder: Path) -> None:
    """Images with the spectrum of photographs, and so with files of their size (about 110 kB)."""
    rng, (width, height) = np.random.default_rng(0), SIZE
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(width), np.fft.fftfreq(height)))
    frequency[0, 0] = 1
    (folder / "class").mkdir()
    for number in range(IMAGES):
        noise = np.fft.fft2(rng.normal(size=(3, height, width))) / frequency
        picture = np.fft.ifft2(noise).real
        picture = 128 + 50 * picture / picture.std()
        Image.fromarray(picture.clip(0, 255).astype(np.uint8).transpose(1, 2, 0)).save(
            folder / "class" / f"{number:04}.jpg", quality=92
        )


def images(folder: Path) -> tuple[Reader, int]:
    """What reads, decodes and prepares the images of a folder, and their number."""
    repair_torchvision()
    import timm
    import torch

    torch.set_num_threads(1)
    transform = timm.data.create_transform(input_size=(3, 224, 224), interpolation="bicubic", crop_pct=0.9)
    data = image_folder(folder)
    size = sum(file.stat().st_size for file in data.inputs.files) / len(data)
    print(f"{len(data)} images of {size / 1000:.0f} kB on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    return Reader(Samples((data,)), lambda read: torch.stack([transform(image) for image in read]), "raise"), len(data)


def batches_of(n: int, size: int) -> list[range]:
    """The rows of each batch."""
    return [range(n)[at : at + size] for at in range(0, n, size)]


def compare(read: Read, batches: list[range], numbers: Sequence[int], *, rounds: int = ROUNDS) -> dict[int, float]:
    """For each number of workers print rate and processor times of an image; return the rates relative to the first.

    Rates are paired: each round runs all numbers, and the median over rounds is that of rates relative to the first.
    Processor times do not depend on what else runs on the machine.
    """
    measured: dict[int, list[tuple[float, float, float]]] = {workers: [] for workers in numbers}
    for _ in range(rounds):
        for workers in numbers:
            measured[workers].append(_measured(read, batches, workers))
    rates = np.array([[each[0] for each in measured[workers]] for workers in numbers])
    times = dict(zip(numbers, np.median(rates / rates[0], axis=1).tolist(), strict=True))
    for workers, measurements in measured.items():
        rate, inside, outside = np.median(measurements, axis=0)
        print(
            f"{workers} workers: {rate:.0f} images/s, {times[workers]:.2f} times; an image takes {1000 * outside:.2f} "
            f"ms of the workers' processors and {1000 * inside:.2f} ms of the main one"
        )
    return times


def _measured(read: Read, batches: list[range], workers: int) -> tuple[float, float, float]:
    """Images a second after each worker's first batch, and processor times of an image here and in the workers."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    results = in_workers(read, batches, workers)
    n = sum(len(next(results).rows) for _ in range(max(workers, 1)))  # workers are started by then
    start = time.perf_counter()
    done = sum(len(batch.rows) for batch in results)
    rate = done / (time.perf_counter() - start)
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    inside, outside = (
        (new.ru_utime + new.ru_stime - old.ru_utime - old.ru_stime) / (n + done)
        for new, old in zip(after, before, strict=True)
    )
    return rate, inside, outside


def main() -> None:
    """As the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--asleep", type=float, metavar="MS", help="sleep so long per image in place of decoding")
    parser.add_argument("words", nargs="*", metavar="[FOLDER] WORKERS", help="a folder of images, numbers of workers")
    options = parser.parse_args()
    folders = [Path(word) for word in options.words if not word.isdigit()]
    numbers = [int(word) for word in options.words if word.isdigit()] or ([1, 2, 4, 8] if options.asleep else [0, 1, 2])
    if options.asleep:
        compare(Asleep(options.asleep / 1000), batches_of(IMAGES, NAP_BATCH), numbers)
        return
    with tempfile.TemporaryDirectory() as made:
        if not folders:
            photographs(Path(made))
        read, n = images(folders[0] if folders else Path(made))
        compare(read, batches_of(n, BATCH), numbers)


if __name__ == "__main__":
    main()
