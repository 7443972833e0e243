"""Answers of language models: from log-probabilities and further samples to confidences; nothing here calls a model.

`signals` computes every signal of `SIGNALS` that columns of answers allow; `Outputs.load` does the same with a table.
"""

from abstain.answers.agreement import agreement
from abstain.answers.label_logits import label_logits
from abstain.answers.normal_form import normal_form
from abstain.answers.semantic_entropy import clusters, neg_semantic_entropy
from abstain.answers.signals import SIGNALS, Signal, signals
from abstain.answers.token_logprobs import (
    first_token_margin,
    mean_logprob,
    min_logprob,
    neg_perplexity,
    sum_logprob,
)

__all__ = [
    "SIGNALS",
    "Signal",
    "agreement",
    "clusters",
    "first_token_margin",
    "label_logits",
    "mean_logprob",
    "min_logprob",
    "neg_perplexity",
    "neg_semantic_entropy",
    "normal_form",
    "signals",
    "sum_logprob",
]
