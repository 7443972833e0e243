"""`Service`: a predictor, its log, its monitors and its measurements, started and stopped together."""

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from abstain._errors import InvalidInputError
from abstain._io.locks import alone_with
from abstain.decision_log import DecisionLog, log_parts
from abstain.decision_log.log import PART_BYTES
from abstain.decision_log.table import part_records
from abstain.monitor.history import WINDOW_ROWS
from abstain.serve.predictor import Predictor
from abstain.serve.recorder import Recorder
from abstain.serve.watcher import Watcher, started_watch
from abstain.telemetry import Measurements


@final
@dataclass(frozen=True, kw_only=True)
class Storage:
    """What a service keeps on disk.

    Parameters
    ----------
    log : path, optional
        The log of decisions.
    state : path, optional
        The state of the monitors, which needs a log: after a crash, the decisions since it was saved are there.
    part_bytes : int
        The size at which a part of the log is closed.
    """

    log: Path | None = None
    state: Path | None = None
    part_bytes: int = PART_BYTES

    def __post_init__(self) -> None:
        if self.state is not None and self.log is None:
            raise InvalidInputError(f"`--state` must come with --log, from which it continues, got {self.state}.")


@final
class Service:
    """All of a service but HTTP.

    Parameters
    ----------
    predictor : Predictor
        The model and the selector.
    name : str
        The name of the model.
    storage : Storage, optional
        Log and state.
    label_window : int
        Accepted decisions after which a missing label is no longer waited for.
    """

    def __init__(
        self, predictor: Predictor, /, *, name: str, storage: Storage | None = None, label_window: int = WINDOW_ROWS
    ) -> None:
        storage = storage or Storage()
        self.predictor, self.name, self._files = predictor, name, ExitStack()
        self.measurements = Measurements(predictor.selector)
        self.unsaved: Exception | None = None
        """Why `stop` could not save the monitors; the log has what the next start needs to count again."""
        self.log: DecisionLog | None = None
        with ExitStack() as opened:
            if storage.state is not None:
                opened.enter_context(alone_with(storage.state))
            if storage.log is not None:
                self.log = opened.enter_context(
                    DecisionLog(storage.log, selector=predictor.selector.digest, part_bytes=storage.part_bytes)
                )
            position = 0 if self.log is None else self.log.sequence
            watch = started_watch(
                predictor.selector, storage.state, position, per=predictor.per, label_window=label_window
            )
            self.watcher = Watcher(watch, self.measurements, state=storage.state)
            if storage.log is not None and watch.position < position:
                for part in log_parts(storage.log, after=watch.position):
                    self.watcher.count(part_records(part))
            self.recorder = Recorder(self.log, self.measurements, self.watcher)
            self._files = opened.pop_all()

    @property
    def is_ready(self) -> bool:
        """Whether decisions can be made, recorded and monitored."""
        return self.recorder.failure is None and self.watcher.failure is None

    def start(self) -> None:
        """Start the threads that write and count."""
        self.watcher.start()
        self.recorder.start()

    def stop(self) -> None:
        """Write all that waits, save the monitors, and release the files."""
        with self._files:
            self.recorder.stop()
            self.unsaved = self.watcher.stop()

    def metadata(self) -> dict[str, Any]:
        """Of the model, as the protocol has it."""
        return {
            "name": self.name,
            "versions": ["1"],
            "platform": "abstain_onnx",
            "inputs": [asdict(info) for info in self.predictor.inputs],
            "outputs": [asdict(info) for info in self.predictor.outputs],
        }
