"""langid, a linear classifier of 97 languages, on sentences in 60 languages, cut short, mistyped, and in Yoruba.

langid (Lui & Baldwin, 2012) keeps its model in its own source as a pickle and reads it itself; only the arrays of the
identifier that it makes are taken here, and nothing is unpickled by abstain.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._extras import require
from abstain.collect import Data, collect
from abstain.collect.model import Model, ModelOutput
from abstain.collect.run import Progress
from abstain.outputs import Outputs
from abstain_reproduction.comparison.score_findings import score_experiment
from abstain_reproduction.draws import generator
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.text_shifts import typos

FEATURE = "The languages experiment"
PER_LANGUAGE, UNKNOWN, CHARACTERS = 50, 500, 20


@final
class Langid(Model):
    """langid as a classifier with features: counts (7480,) of byte n-grams, and one linear layer."""

    name = "langid-1.1.6"

    def __init__(self) -> None:
        module = require("langid.langid", extra=None, feature=FEATURE)
        self.identifier = module.LanguageIdentifier.from_modelstring(module.model)
        self.class_names = self.languages = tuple(self.identifier.nb_classes)

    def run(self, inputs: Sequence[Any], /) -> ModelOutput:
        """Log-probabilities before they are normalized, and the counts."""
        counts = np.stack([self.identifier.instance2fv(text) for text in inputs]).astype(np.float32)
        weight, bias = self.head()
        return counts.astype(np.float64) @ weight.T + bias, counts

    def head(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The log-probability of each n-gram in each language, and that of the language."""
        return self._head

    @cached_property
    def _head(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.identifier.nb_ptc.T.astype(np.float64), np.asarray(self.identifier.nb_pc, dtype=np.float64)


def run(folder: Path, seed: int, progress: Progress | None) -> Outputs:
    """Collect on sentences as they are, on their first characters, on ones with typos, and in unknown languages."""
    model = Langid()
    known, unknown = sentences(model.languages, seed)
    short = known.shifted(lambda text, _: text[:CHARACTERS], domain=f"first {CHARACTERS} characters")
    mistyped = known.shifted(lambda text, row: typos(text, share=0.1, seed=seed + row), domain="typos")
    return collect(model, [known, short, mistyped, unknown], folder, batch_size=256, progress=progress)


def sentences(languages: Sequence[str], seed: int, /) -> tuple[Data, Data]:
    """A seeded draw of different sentences per language: of languages the classifier has, and of others."""
    package = require("eld", extra=None, feature=FEATURE)
    lines = (Path(package.__file__).parent / "tests" / "data" / "big-test.txt").read_text(encoding="utf-8").split("\n")
    texts: dict[str, list[tuple[str, str]]] = {}
    seen: set[str] = set()
    for number, line in enumerate(lines):
        language, tab, text = line.partition("\t")
        if tab and text not in seen:
            seen.add(text)
            texts.setdefault(language, []).append((text, f"eld-{number}"))
    drawn: dict[str, list[tuple[str, str, str]]] = {"none": [], "label": []}
    for language, candidates in texts.items():
        shift, size = ("none", PER_LANGUAGE) if language in languages else ("label", UNKNOWN)
        chosen = generator(f"sentences in {language}", seed).permutation(len(candidates))[:size]
        drawn[shift] += [(*candidates[row], language) for row in sorted(chosen)]
    known, unknown = (list(zip(*rows, strict=True)) for rows in drawn.values())
    first = Data(list(known[0]), labels=np.array(known[2]), ids=np.array(known[1]), domain="sentences")
    return first, Data(list(unknown[0]), ids=np.array(unknown[1]), domain="unknown", shift="label")


TITLE = "langid, 97 languages, on sentences in 60: whole, the first 20 characters, typos, and Yoruba"
LANGUAGES = Experiment(
    "languages",
    TITLE,
    score_experiment(TITLE, run),
    about=(
        "A natural shift over many classes, in place of iWildCam, for which no package stands in. langid 1.1.6 (BSD; a "
        "naive Bayes classifier, so one linear layer on 7,480 counts of byte n-grams) on the test sentences of eld "
        "1.0.6 (Apache-2.0): 50 in each of 59 languages. Covariate shift: their first 20 characters, and typos in a "
        "tenth of the letters; eld has no other genre. Unknown: 500 sentences in Yoruba, the only language of eld that "
        "langid lacks; 38 of langid's languages are not in the data. The few hundred rows to fit on span few of the "
        "7,480 directions, so that no covariance of all features is ever made. langid reads its own pickled model; "
        "abstain unpickles nothing."
    ),
)
