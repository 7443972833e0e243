"""Example data in the package: graded answers of three language models to 2,337 questions, as numbers."""

from importlib.resources import files
from typing import Literal

import numpy as np

from abstain._names import check_name
from abstain.outputs import Outputs

FILE = "question_answers.npz"
SMALLER = {"gpt4": ("llama13b", "llama7b"), "llama13b": ("llama7b",), "llama7b": ()}
"""The models, and the cheaper ones whose answers can be compared with theirs."""


def question_answers(model: Literal["gpt4", "llama13b", "llama7b"] = "gpt4", /, *, graded: bool = False) -> Outputs:
    """Answers of a language model to questions of SQuAD, TriviaQA and HotpotQA: confidences, and whether each is right.

    Real answers of GPT-4 and of LLaMA 2 with 13 and 7 billion weights, graded by matching reference answers, which errs
    on both sides: a right answer in other words counts as wrong, and where the question contains a reference (117 of
    GPT-4's 1,072 right answers), repeating it counts as right. The confidences are ``brevity``, minus the number of
    words, and for each smaller model ``support_MODEL``, the share of the answer's words that its answer has too. No
    text is kept. The answers, to answerable questions of SelfAware, are in the package openfactcheck 1.1.2 (GPL-3.0).

    Parameters
    ----------
    model : {"gpt4", "llama13b", "llama7b"}
        Whose answers.
    graded : bool
        Whether each answer has a loss, the share of the words of the nearest reference answer that it lacks, instead of
        an error.

    Returns
    -------
    Outputs
        Confidences with errors or losses; `domain` names the source of the question, `ids` the question.

    Examples
    --------
    >>> question_answers().confidence_names
    ('brevity', 'support_llama13b', 'support_llama7b')
    """
    check_name("model", model, SMALLER)
    with files("abstain.datasets").joinpath(FILE).open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        confidences = {"brevity": -arrays[f"words_{model}"].astype(np.float64)}
        for other in SMALLER[model]:
            confidences[f"support_{other}"] = arrays[f"support_{model}_{other}"].astype(np.float64)
        losses = 1 - arrays[f"recall_{model}"].astype(np.float64) if graded else None
        errors = None if graded else ~arrays[f"correct_{model}"]
        sources = arrays["source"]
    return Outputs(confidences=confidences, errors=errors, losses=losses, domain=sources, ids=np.arange(len(sources)))
