"""Two identifiers of languages on the first 20 characters of sentences, as two folders for `cascades.py`.

langid, a linear model, is small; lingua, n-grams of each language, is large. Both choose among the 59 languages of the
sentences, which are the test data of eld; lingua lacks six of them. Nothing is downloaded but the packages.

Usage: pip install langid eld lingua-language-detector; python benchmarks/language_pair.py SMALL LARGE
"""

import sys

import numpy as np

from abstain import Outputs
from abstain_reproduction.real_models.languages import CHARACTERS, Langid, sentences

RENAMED = {"nb": "no"}  # what lingua calls Norwegian
LEAST = -80.0  # a log-probability where lingua gives none


def language_pair() -> list[Outputs]:
    """Of langid and of lingua, on the same texts."""
    langid = Langid()
    known, _ = sentences(langid.class_names, 0)
    texts = [text[:CHARACTERS] for text in known.inputs]
    languages, labels = np.unique(known.labels, return_inverse=True)
    columns = [langid.class_names.index(language) for language in languages]
    about = {"labels": labels, "ids": known.ids, "class_names": languages.tolist()}
    return [
        Outputs(logits=langid(texts)[0][:, columns], **about),
        Outputs(logits=_lingua(texts, languages.tolist()), **about),
    ]


def _lingua(texts: list[str], languages: list[str]) -> np.ndarray:
    from lingua import LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().build()
    logits = np.full((len(texts), len(languages)), LEAST)
    for row, text in enumerate(texts):
        for each in detector.compute_language_confidence_values(text):
            code = each.language.iso_code_639_1.name.lower()
            if each.value > 0 and (name := RENAMED.get(code, code)) in languages:
                logits[row, languages.index(name)] = max(np.log(each.value), LEAST)
    return logits


if __name__ == "__main__":
    for outputs, folder in zip(language_pair(), sys.argv[1:3], strict=True):
        outputs.save(folder)
        print(f"{folder}: {len(outputs):,} rows, {outputs.errors.mean():.3f} wrong")
