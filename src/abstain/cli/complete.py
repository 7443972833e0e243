"""What the shell may complete: names of scores, methods, experiments and corruptions, read from their registries."""

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
    """Where Parquet files are worked on."""
    from abstain.engines import ENGINES

    return _beginning(ENGINES, incomplete)


def experiment_names(incomplete: str) -> list[str]:
    """Experiments of `abstain reproduce`."""
    from abstain.experiments.registry import EXPERIMENTS

    return _beginning([*EXPERIMENTS, "claims"], incomplete)


def corruption_names(incomplete: str) -> list[str]:
    """Corruptions of images with their severities, if there is what they need, and those of files."""
    from abstain import shifts
    from abstain.extras import MissingExtraError

    try:
        severe = [f"{name}:{severity}" for name in shifts.CORRUPTIONS for severity in range(1, 6)]
    except MissingExtraError:
        severe = []
    return _beginning([*severe, *shifts.BYTE_SHIFTS], incomplete)


def model_kinds(incomplete: str) -> list[str]:
    """How the name of a model begins."""
    return _beginning(["timm:", "onnx:", "torch:", "hf:", "sklearn:", "magika"], incomplete)


def nonfinite_words(incomplete: str) -> list[str]:
    """What to do with rows that are not finite."""
    return _beginning(["error", "reject"], incomplete)


def on_error_words(incomplete: str) -> list[str]:
    """What to do with samples that fail."""
    return _beginning(["raise", "skip"], incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
