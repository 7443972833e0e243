"""The state of a monitor as text, so that it goes on where it stopped."""

import json
from dataclasses import asdict
from math import inf
from typing import Any


def to_json(monitor: Any, /) -> str:
    """All fields of a monitor; −inf, which JSON cannot hold, is null."""
    return json.dumps({name: None if value == -inf else value for name, value in asdict(monitor).items()})


def fields_from_json(text: str, name: str, /) -> dict[str, Any]:
    """The fields that `to_json` wrote."""
    try:
        fields = json.loads(text)
        return {key: -inf if value is None else value for key, value in fields.items()}
    except (json.JSONDecodeError, AttributeError) as error:
        raise ValueError(f"`text` must be the state of a {name}, got {type(error).__name__}: {error}.") from None
