"""Scores that look at the size of the logits, which log-probabilities have lost."""

from abstain.outputs import Outputs


def no_size(outputs: Outputs, /) -> str | None:
    """Why the score says nothing of log-probabilities: log Σ exp is 0 in every row, and the largest has its place."""
    if not outputs.are_log_probabilities:
        return None
    return "log-probabilities for logits, which have lost the size that this score looks at"
