"""The error of rows whose truth is not known, from Python or from a file."""


def unlabelled(name: str, purpose: str = "", /) -> ValueError:
    """Rows, an argument or a file by this ``name``, must have labels, and where these can be put.

    >>> print(unlabelled("outputs", "to be counted"))  # doctest: +ELLIPSIS
    `outputs` must have labels to be counted, got none. A table has them in a column `label`, or without logits in...
    """
    return ValueError(
        f"`{name}` must have labels{' ' * bool(purpose)}{purpose}, got none. A table has them in a column `label`, or "
        "without logits in `correct` or `error`, a folder in labels.npy; in Python pass labels= or errors= to Outputs."
    )
