"""`train`: a run that can be killed at any time and resumes to the same bytes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain._io.locks import alone_with
from abstain_reproduction.train.image_stream import StreamedImages
from abstain_reproduction.train.network import Network
from abstain_reproduction.train.pixels import check_images
from abstain_reproduction.train.recipe import Recipe
from abstain_reproduction.train.run import Run

torch = require("torch", extra="torch", feature="Training")
Progress = Callable[[int, int], None]


def train(
    recipe: Recipe,
    images: NDArray[np.uint8] | StreamedImages,
    labels: NDArray[np.int64],
    file: str | PathLike[str],
    /,
    *,
    seed: int = 0,
    threads: int = 1,
    device: str = "cpu",
    every: float = 30.0,
    progress: Progress | None = None,
) -> Network:
    """Train by a recipe; called again, resume where it stopped, or return the network if it is done.

    Images are bytes (n, h, w) or (n, h, w, c), also of a mapped file, or `StreamedImages` on disk. ``file`` holds the
    run, written every so many seconds and at the end. Another recipe, other data, another seed, number of threads,
    device, processor or version of PyTorch would give other bytes: it is refused with what changed. ``progress`` is
    called with the steps done and in all. Every epoch shows the samples in another order and leaves out the last batch
    if it is not full.
    """
    check_images(images, np.asarray(labels), recipe.classes)
    goal = Path(file)
    with alone_with(goal), _threads(threads), torch.random.fork_rng():
        run = Run(recipe, images, np.asarray(labels, dtype=np.int64), seed=seed, device=device)
        run.open(goal)
        saved = monotonic()
        while run.done < run.total:
            run.step()
            if run.done == run.total or monotonic() - saved > every:
                run.save(goal)
                saved = monotonic()
            if progress is not None:
                progress(run.done, run.total)
    return run.network.eval()


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Set the number of threads inside the context; another number would sum in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
