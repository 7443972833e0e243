"""`abstain demo`: the whole story on real data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.evaluated import evaluated, tell
from abstain.cli.options import Json
from abstain.cli.show import progress_bar

if TYPE_CHECKING:
    from abstain.outputs import Outputs

WORDS = (
    "A small network learned the handwritten digits 0–7. It now meets clean test digits (in), noisy, blurred, tilted "
    "and faded ones (cov), and 8s and 9s, which it cannot know (label). Which score tells when it is wrong?"
)


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the outputs and the figure.")] = Path("abstain-demo"),
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Train a network on this machine instead of reading the outputs that ship with abstain. Its results "
            "differ from theirs, and in the last digits from machine to machine.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the draws, and of the training with --retrain.")] = 0,
    json: Json = False,
) -> None:
    """A network that knows the digits 0–7 meets corrupted digits, 8s and 9s: which score knows when it is wrong?

    The outputs of the network ship with abstain, so that the numbers are the same on every machine.

    Example: abstain demo --folder abstain-demo
    """
    from abstain.extras import require_all

    require_all({"matplotlib": "report"} | ({"sklearn": "sklearn"} if retrain else {}), feature="The demo")

    from abstain import datasets

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"`--folder` must be a folder, got the file {folder}.")
    outputs = _retrained(seed) if retrain else datasets.digits()
    outputs.save(folder / "outputs")
    tell(evaluated(outputs, folder, seed=seed), folder, words=WORDS, json=json)


def _retrained(seed: int) -> "Outputs":
    from abstain.datasets.digits_network import train_digits

    with progress_bar() as progress:
        progress("Training a network on digits 0–7", 0.0)
        return train_digits(seed=seed)
