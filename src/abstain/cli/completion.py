"""Shell completion: names of scores, methods, engines and corruptions, read from their registries."""

from collections.abc import Iterable


def score_names(incomplete: str) -> list[str]:
    """Scores, the last of several with commas between them."""
    from abstain.scores import SCORES

    first, comma, last = incomplete.rpartition(",")
    return [f"{first}{comma}{name}" for name in _beginning(SCORES, last)]


def score_or_best(incomplete: str) -> list[str]:
    """Scores, or the best of them."""
    return [*score_names(incomplete), *_beginning(["best"], incomplete)]


def method_names(incomplete: str) -> list[str]:
    """Methods of `abstain calibrate`."""
    from abstain.thresholds.methods import METHODS

    return _beginning(METHODS, incomplete)


def group_kinds(incomplete: str) -> list[str]:
    """What a threshold may be set for."""
    return _beginning(["class", "group"], incomplete)


def engine_names(incomplete: str) -> list[str]:
    """Where Parquet files are read."""
    from abstain.scale import ENGINES

    return _beginning(ENGINES, incomplete)


def corruption_names(incomplete: str) -> list[str]:
    """Corruptions of images with their severities, if OpenCV is installed."""
    from abstain import shifts
    from abstain._errors import MissingExtraError

    try:
        names = [f"{name}:{severity}" for name in shifts.CORRUPTIONS for severity in range(1, 6)]
    except MissingExtraError:
        names = []
    return _beginning(names, incomplete)


def model_kinds(incomplete: str) -> list[str]:
    """How the name of a model begins."""
    from abstain._model_kinds import MODEL_KINDS

    return _beginning([f"{name}:" for name in MODEL_KINDS], incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
