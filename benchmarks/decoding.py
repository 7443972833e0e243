"""How many images a second `collect` reads, decodes and prepares with 0, 1, 2, … worker processes, and no model.

Run it as ``python benchmarks/decoding.py FOLDER [WORKERS …]`` on a folder of images; without a folder it makes some.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from abstain.collect import image_folder
from abstain.collect.reader import Reader, in_workers
from abstain.collect.samples import Samples
from abstain.collect.torchvision import mend_torchvision

BATCH, IMAGES, SIZE = 64, 640, (500, 375)  # ImageNet's images are of about this size


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
    """A line for each number of workers: the best of three."""
    mend_torchvision()
    import timm

    transform = timm.data.create_transform(input_size=(3, 224, 224), interpolation="bicubic", crop_pct=0.9)
    import torch

    torch.set_num_threads(1)
    data = image_folder(folder)
    read = Reader(Samples((data,)), lambda images: torch.stack([transform(image) for image in images]), "raise")
    batches = [range(len(data))[at : at + BATCH] for at in range(0, len(data), BATCH)]
    size = sum(file.stat().st_size for file in data.inputs.files) / len(data)
    print(f"{len(data)} images of {size / 1000:.0f} kB on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    best = dict.fromkeys(numbers, 0.0)
    for _ in range(3):
        for workers in numbers:
            results = in_workers(read, batches, workers)
            first = next(results)  # workers are started by then
            start = time.perf_counter()
            done = sum(len(batch.rows) for batch in results)
            best[workers] = max(best[workers], done / (time.perf_counter() - start))
            assert first.rows
    for workers, rate in best.items():
        print(f"{workers} workers: {rate:.0f} images/s, {rate / best[numbers[0]]:.2f} times")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[2:]] or [0, 1, 2]
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), given)
    else:
        with tempfile.TemporaryDirectory() as made:
            photographs(Path(made))
            main(Path(made), given)
