"""`SavedWatch`: the file of a watch, sealed by a digest."""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Self, final

from abstain._errors import InvalidInputError
from abstain._io.records import built, jsonable, state_reason
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.history import History
from abstain.monitor.rule import Rule

VERSION = 6


@final
@dataclass(frozen=True)
class SavedWatch:
    """What a watch saves; a `DeploymentMonitor` that was saved alone has no history."""

    monitors: DeploymentMonitor
    history: History | None = None
    rule: Rule | None = None
    position: int | None = None
    """The sequence number of the last record of a decision log that was counted, if there is a log."""

    def to_json(self) -> str:
        """The text of the file: the fields of the monitors and those given, with a version and a digest."""
        state = {"version": VERSION} | asdict(self.monitors)
        state |= {} if self.history is None else {"history": asdict(self.history)}
        state |= {} if self.rule is None else {"rule": asdict(self.rule)}
        state |= {"position": self.position} if self.position else {}
        return sealed(jsonable(state))

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """What `to_json` wrote, or a `DeploymentMonitor` alone."""
        try:
            state = json.loads(text)
        except (ValueError, RecursionError):
            state = None
        if not isinstance(state, dict) or {"version", "history"}.isdisjoint(state):
            return cls(_monitors(text))
        if state.pop("version", None) != VERSION:
            raise InvalidInputError(
                f"`text` must be the state of a monitor of version {VERSION}, got one that another version of abstain "
                "wrote. Name a new file to start again."
            )
        if state.pop("sha256", None) != _digest({"version": VERSION} | state):
            raise InvalidInputError(
                "`text` must be the whole and unaltered state of a monitor, got contents that do not match their "
                "digest. Use a copy, or name a new file to start again."
            )
        history, rule, position = (state.pop(name, None) for name in ("history", "rule", "position"))
        monitors = _monitors(json.dumps(state))
        try:
            return cls(monitors, built(history, History), built(rule, Rule | None), built(position, int | None))
        except ValueError as error:
            raise InvalidInputError(f"`text` must be the state of a monitor, got {state_reason(error)}.") from None


def sealed(state: dict[str, Any], /) -> str:
    """The state as text with a digest, so that a damaged or edited file is refused."""
    return json.dumps(state | {"sha256": _digest(state)})


def _digest(state: dict[str, Any]) -> str:
    """SHA-256 of all that a state holds."""
    return sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _monitors(text: str) -> DeploymentMonitor:
    monitors = DeploymentMonitor.from_json(text)
    if not monitors.parts:
        raise InvalidInputError("`text` must be the state of a monitor, got one without monitors.")
    return monitors
