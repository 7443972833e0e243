"""`Measurements`: counts of decisions and requests, and the numbers of monitors, as plain metrics."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain.selector import Selector

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
PARTS = 10
"""Buckets of confidence, each with a tenth of the calibration sample."""
Labels = tuple[tuple[str, str], ...]
Listener = Callable[[NDArray[np.float64]], None]


@final
@dataclass(eq=False)
class Histogram:
    """Counts of values up to each edge and above, and the sum of those that are finite."""

    edges: tuple[float, ...]
    counts: NDArray[np.int64] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.edges) + 1, dtype=np.int64)

    def add(self, values: NDArray[np.float64], /) -> None:
        """Count values."""
        self.counts += np.bincount(np.searchsorted(self.edges, values), minlength=len(self.counts))
        self.total += float(values[np.isfinite(values)].sum())

    def cumulative(self) -> list[tuple[str, float]]:
        """The number of values up to each edge, the last edge being infinite."""
        sums = np.cumsum(self.counts).tolist()
        return list(zip([*(f"{edge!r}" for edge in map(float, self.edges)), "+Inf"], sums, strict=True))


@final
@dataclass(frozen=True, eq=False)
class Measurement:
    """A name, what it is, and its values: one for each set of labels, or a histogram."""

    name: str
    about: str
    kind: Literal["counter", "gauge", "histogram"]
    values: Sequence[tuple[Labels, float]] = ()
    histogram: Histogram | None = None


@final
class Measurements:
    """What one selector decided and how its monitors stand; safe to use from several threads.

    Parameters
    ----------
    selector : Selector
        What decides. Its calibration sample sets the buckets of confidence, a tenth of the sample in each.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.digits()
    >>> measurements = Measurements(abstain.calibrate(outputs[outputs.shift == "none"], risk=0.05))
    >>> measurements.decided([3.0, 0.1], [True, False])
    >>> {dict(labels)["accepted"]: value for labels, value in measurements.metrics()[0].values}
    {'true': 1, 'false': 1}
    """

    def __init__(self, selector: Selector, /) -> None:
        step = max(1, len(selector.distribution.edges) // PARTS)
        edges = [edge for edge in selector.distribution.edges[step - 1 :: step] if np.isfinite(edge)]
        self.listeners: list[Listener] = []
        """Called with the confidences of new decisions."""
        self._lock, self._selector, self._digest = Lock(), selector, selector.digest
        self._decisions: Counter[bool] = Counter({True: 0, False: 0})
        self._nonfinite = 0
        self._requests: Counter[int] = Counter()
        self._confidence = Histogram(tuple(np.unique(edges).tolist()))
        self._seconds = Histogram(SECONDS)
        self._monitors: dict[str, float] = {}

    def decided(self, confidence: ArrayLike, accepted: ArrayLike, /) -> None:
        """Count decisions; a confidence is NaN for a non-finite row, which counts as the lowest."""
        values, verdicts = as_doubles("confidence", confidence), np.asarray(accepted, dtype=bool)
        lowest = np.where(np.isnan(values), -np.inf, values)
        taken = int(np.count_nonzero(verdicts))
        with self._lock:
            self._decisions.update({True: taken, False: len(verdicts) - taken})
            self._nonfinite += int(np.count_nonzero(np.isnan(values)))
            self._confidence.add(lowest)
        for listener in self.listeners:
            listener(values[np.isfinite(values)])

    def answered(self, status: int, seconds: float, /) -> None:
        """Count a request."""
        with self._lock:
            self._requests[status] += 1
            self._seconds.add(np.array([seconds]))

    def monitored(self, metrics: Mapping[str, float], /) -> None:
        """Replace the numbers of the monitors, by name, such as ``risk_alarm``, or ``risk_alarm/A`` of a group."""
        with self._lock:
            self._monitors = dict(metrics)

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the buckets of confidence."""
        return self._confidence.edges

    def metrics(self) -> list[Measurement]:
        """All metrics as they are now."""
        with self._lock:
            return [*self._of_decisions(), *self._of_requests(), *self._of_monitors()]

    def _of_decisions(self) -> list[Measurement]:
        counts = [((("accepted", "true" if key else "false"),), n) for key, n in self._decisions.items()]
        total = self._decisions.total()
        share = [((), self._decisions[True] / total)] if total else []
        about = [((("score", self._selector.score), ("digest", self._digest)), 1.0)]
        return [
            Measurement("decisions", "Decisions, by whether the prediction was accepted.", "counter", counts),
            Measurement("nonfinite", "Non-finite rows, which are never accepted.", "counter", [((), self._nonfinite)]),
            Measurement(
                "confidence",
                "Confidence of decisions; each bucket had a tenth of the calibration sample.",
                "histogram",
                histogram=self._confidence,
            ),
            Measurement("accepted_share", "Share of decisions accepted since the start.", "gauge", share),
            Measurement("selector_info", "The score and the digest of the selector.", "gauge", about),
        ]

    def _of_requests(self) -> list[Measurement]:
        counts = [((("code", str(code)),), float(n)) for code, n in self._requests.items()]
        return [
            Measurement("requests", "Requests for decisions, by status code.", "counter", counts),
            Measurement("request_seconds", "Time to answer a request.", "histogram", histogram=self._seconds),
        ]

    def _of_monitors(self) -> list[Measurement]:
        labelled: dict[str, list[tuple[Labels, float]]] = {ending: [] for ending in ("evidence", "alarm", "alarm_at")}
        every: list[tuple[Labels, float]] = []
        for name, value in self._monitors.items():
            quantity, _, group = name.partition("/")
            of_group = (("group", group),) if group else ()
            every.append(((("quantity", quantity), *of_group), value))
            monitor, _, ending = quantity.partition("_")
            if ending in labelled:
                labelled[ending].append(((("monitor", monitor), *of_group), value))
        about = "of each test, and of each group with the label group."
        return [
            Measurement("evidence", f"Evidence for a change, {about}", "gauge", labelled["evidence"]),
            Measurement("alarm_at", f"Evidence that raises an alarm, {about}", "gauge", labelled["alarm_at"]),
            Measurement("alarm", f"1 where an alarm stands, {about}", "gauge", labelled["alarm"]),
            Measurement("monitor", "All numbers of the monitors.", "gauge", every),
        ]
