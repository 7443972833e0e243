"""`abstain demo`: the whole story on real data."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.evaluated import evaluated, tell
from abstain.cli.options import Json
from abstain.cli.show import progress_bar

WORDS = (
    "A small network learned the handwritten digits 0–7. It now meets clean test digits (in), noisy, blurred, tilted "
    "and faded ones (cov), and 8s and 9s, which it cannot know (label). Which score tells when it is wrong?"
)


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the outputs and the figure.")] = Path("abstain-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the training and the corruptions.")] = 0,
    json: Json = False,
) -> None:
    """Train a small network on digits 0–7, show it corrupted digits and 8s and 9s, and ask which score knows.

    Example: abstain demo --folder abstain-demo
    """
    from abstain.extras import require_all

    require_all({"sklearn": "sklearn", "matplotlib": "report"}, feature="The demo")

    from abstain.experiments.digits import digits

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"`--folder` must be a folder, got the file {folder}.")
    with progress_bar() as progress:
        progress("Training a network on digits 0–7", 0.0)
        outputs = digits(seed=seed)
    outputs.save(folder / "outputs")
    tell(evaluated(outputs, folder, seed=seed), folder, words=WORDS, json=json)
