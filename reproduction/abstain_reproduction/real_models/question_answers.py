"""Numbers about real answers of three language models to 2,337 questions, the example data of `abstain.datasets`.

    python -m abstain_reproduction.real_models.question_answers OUTPUT.npz

The answers are in the package openfactcheck, which collected them for answerable questions of SelfAware (from SQuAD,
TriviaQA and HotpotQA). Only numbers are kept: which answers match a reference answer, how long they are, and how
much of an answer another model's answer supports. No text of a question or an answer is kept.
"""

import json
import re
import sys
from collections import Counter
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from abstain._io.files import write_whole
from abstain_reproduction.packages import Package

OPENFACTCHECK = Package(
    "openfactcheck", "1.1.2", "wheel", "answers of GPT-4 and LLaMA-2 with 7 and 13 billion weights", "GPL-3.0"
)
MODELS = {"gpt4": "GPT4_response", "llama13b": "llama13b_response", "llama7b": "llama7b_response"}
ABOUT = (
    "Numbers about answers in the package openfactcheck 1.1.2, made by "
    "`python -m abstain_reproduction.real_models.question_answers`, read by abstain.datasets.question_answers."
)


def words(text: str, /) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[^\W_]+", text.casefold())


def recall(answer: str, references: list[Any], /) -> tuple[bool, float]:
    """Whether the answer contains a reference answer word for word, and the largest share of a reference's words."""
    given = words(answer)
    text, known = f" {' '.join(given)} ", set(given)
    wanted = [words(str(reference)) for reference in references]
    matches = any(f" {' '.join(each)} " in text for each in wanted)
    return matches, max((len(known & set(each)) / len(set(each)) for each in wanted if each), default=0.0)


def support(answer: set[str], other: set[str], rarity: dict[str, float], /) -> float:
    """The share of an answer's words that another answer has, rare words weighing more; 1 for an answer without any."""
    total = sum(rarity[word] for word in sorted(answer))
    return sum(rarity[word] for word in sorted(answer & other)) / total if total else 1.0


def numbers(rows: list[dict[str, Any]], /) -> dict[str, Any]:
    """All arrays (n,) of the example data."""
    content = {
        model: [set(words(row[column])) - set(words(row["question"])) for row in rows]
        for model, column in MODELS.items()
    }
    count = Counter(word for answers in content.values() for answer in answers for word in answer)
    rarity = {word: log(len(MODELS) * len(rows) / times) for word, times in count.items()}
    sources = [row["source"].removeprefix("selfaware-").partition("_")[0] for row in rows]
    arrays: dict[str, Any] = {"source": np.array(sources)}
    for model, column in MODELS.items():
        graded = [recall(row[column], row["reference_answer"]) for row in rows]
        arrays[f"correct_{model}"] = np.array([right for right, _ in graded])
        arrays[f"recall_{model}"] = np.array([share for _, share in graded], dtype=np.float32)
        arrays[f"words_{model}"] = np.array([len(words(row[column])) for row in rows], dtype=np.int16)
        for other in MODELS:
            if other != model:
                pairs = zip(content[model], content[other], strict=True)
                shares = [support(mine, theirs, rarity) for mine, theirs in pairs]
                arrays[f"support_{model}_{other}"] = np.array(shares, dtype=np.float16)
    return arrays


def main(output: Path, /) -> None:
    """Read the package, which `scripts/reproduce` would fetch, and write the arrays."""
    file = OPENFACTCHECK.file("openfactcheck/data/selfaware.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    arrays = numbers([row for row in rows if row["reference_answer"]])
    write_whole(output, lambda path: np.savez_compressed(path, about=ABOUT, **arrays))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
