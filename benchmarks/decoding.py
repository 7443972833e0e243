"""How many images a second `collect` reads, decodes and prepares with 0, 1, 2, … worker processes, and no model.

Run it as ``python benchmarks/decoding.py FOLDER [WORKERS …]`` on a folder of images; without a folder it makes some.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from abstain._extras import repair_torchvision
from abstain.collect import image_folder
from abstain.collect.reader import Reader, in_workers
from abstain.collect.samples import Samples

BATCH, IMAGES, ROUNDS, SIZE = 32, 256, 5, (500, 375)  # ImageNet's images are of about this size


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


def main(folder: Path, numbers: list[int]) -> None:
    """For each number of workers: the rate, and the processor time of an image in workers and in the main process.

    Rates are paired: each round runs all numbers, and the median over rounds is that of rates relative to the first.
    Processor times do not depend on what else runs on the machine.
    """
    repair_torchvision()
    import timm
    import torch

    torch.set_num_threads(1)
    transform = timm.data.create_transform(input_size=(3, 224, 224), interpolation="bicubic", crop_pct=0.9)
    data = image_folder(folder)
    read = Reader(Samples((data,)), lambda images: torch.stack([transform(image) for image in images]), "raise")
    batches = [range(len(data))[at : at + BATCH] for at in range(0, len(data), BATCH)]
    size = sum(file.stat().st_size for file in data.inputs.files) / len(data)
    print(f"{len(data)} images of {size / 1000:.0f} kB on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    rounds: dict[int, list[tuple[float, float, float]]] = {workers: [] for workers in numbers}
    for _ in range(ROUNDS):
        for workers in numbers:
            rounds[workers].append(_measured(read, batches, workers))
    for workers, measurements in rounds.items():
        rate, inside, outside = np.median(measurements, axis=0)
        times = np.median(
            [measurement[0] / first[0] for measurement, first in zip(measurements, rounds[numbers[0]], strict=True)]
        )
        print(
            f"{workers} workers: {rate:.0f} images/s, {times:.2f} times; an image takes {1000 * outside:.2f} ms of the "
            f"workers' processors and {1000 * inside:.2f} ms of the main one"
        )


def _measured(read: Reader, batches: list[range], workers: int) -> tuple[float, float, float]:
    """Images a second from the second batch on, and the processor times of an image here and in the workers."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    results = in_workers(read, batches, workers)
    n = len(next(results).rows)  # workers are started by then
    start = time.perf_counter()
    done = sum(len(batch.rows) for batch in results)
    rate = done / (time.perf_counter() - start)
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    inside, outside = (
        (new.ru_utime + new.ru_stime - old.ru_utime - old.ru_stime) / (n + done)
        for new, old in zip(after, before, strict=True)
    )
    return rate, inside, outside


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[2:]] or [0, 1, 2]
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), given)
    else:
        with tempfile.TemporaryDirectory() as made:
            photographs(Path(made))
            main(Path(made), given)
