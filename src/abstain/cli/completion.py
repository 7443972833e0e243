"""Shell completion: names of scores, methods, engines and corruptions, read from their registries.

Typer shows of each list what begins with the word typed so far.
"""


def score_names(incomplete: str) -> list[str]:
    """Scores, the last of several with commas between them."""
    from abstain.scores import SCORES

    first, comma, _ = incomplete.rpartition(",")
    return [f"{first}{comma}{name}" for name in SCORES]


def score_or_best(incomplete: str) -> list[str]:
    """Scores, or the best of them."""
    return [*score_names(incomplete), "best"]


def method_names() -> list[str]:
    """Methods of `abstain calibrate`."""
    from abstain.thresholds.methods import METHODS

    return [*METHODS]


def group_kinds() -> list[str]:
    """What a threshold may be set for."""
    return ["class", "group"]


def engine_names() -> list[str]:
    """Where Parquet files are read."""
    from abstain.scale import ENGINES

    return [*ENGINES]


def corruption_names() -> list[str]:
    """Corruptions of images with their severities, if OpenCV is installed."""
    from abstain import shifts
    from abstain._errors import MissingExtraError

    try:
        return [f"{name}:{severity}" for name in shifts.CORRUPTIONS for severity in range(1, 6)]
    except MissingExtraError:
        return []


def model_kinds() -> list[str]:
    """How the name of a model begins."""
    from abstain._model_kinds import MODEL_KINDS

    return [f"{name}:" for name in MODEL_KINDS]
