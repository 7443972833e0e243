"""What a command prints with --json where no threshold is safe."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from abstain.cli.show import print_json


@contextmanager
def refusal_as_json(json: bool) -> Iterator[None]:
    """Inside the context a refusal is also printed as JSON: the message, and a table of what is achievable."""
    from abstain.thresholds.threshold import NoSafeThresholdError

    try:
        yield
    except NoSafeThresholdError as error:
        if json:
            print_json({"error": str(error), "achievable": [asdict(row) for row in error.achievable]})
        raise
