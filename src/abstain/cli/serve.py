"""`abstain serve`: a classifier that abstains, as a service."""

import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

import abstain
from abstain._extras import require_all
from abstain.cli.options import Log, LogitsName, SelectorFile
from abstain.cli.printing import show

if TYPE_CHECKING:
    from abstain.serve import Limits
    from abstain.serve.service import Storage


@final
@dataclass(frozen=True, kw_only=True)
class Address:
    """Where the service is reached."""

    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any free one.")] = 8000
    name: Annotated[str | None, typer.Option(help="The name of the model. [that of its file]")] = None


@final
@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """What a request may cost."""

    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = 16 << 20
    timeout: Annotated[float, typer.Option(help="Seconds for a request.")] = 10.0
    max_requests: Annotated[int, typer.Option(min=1, help="Requests that are answered at once.")] = 256

    def limits(self) -> "Limits":
        """As the service takes them."""
        from abstain.serve import Limits

        return Limits(body=self.max_body, seconds=self.timeout, requests=self.max_requests)


@final
@dataclass(frozen=True, kw_only=True)
class Records:
    """What is kept of the decisions."""

    log: Log = None
    log_bytes: Annotated[int, typer.Option(min=1, help="Size at which a part of the log is closed.")] = 64 << 20
    state: Annotated[Path | None, typer.Option(help="The file that keeps the monitors; needs --log.")] = None
    audit: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability with which an accepted row is drawn for a label.")
    ] = None
    label_window: Annotated[
        int, typer.Option(min=0, help="Accepted decisions after which a missing label is no longer waited for.")
    ] = 1000
    per: Annotated[
        str | None,
        typer.Option(
            help="Monitor each group too: class, or the input or request parameter that names them. [that of the "
            "selector, by the input group]"
        ),
    ] = None
    otlp: Annotated[
        str | None, typer.Option(help="Send metrics to this OpenTelemetry collector, such as http://localhost:4318.")
    ] = None

    def storage(self) -> "Storage":
        """As the service takes it."""
        from abstain.serve.service import Storage

        return Storage(log=self.log, state=self.state, part_bytes=self.log_bytes)


def serve(
    selector: SelectorFile,
    model: Annotated[Path, typer.Option(help="The classifier's .onnx file.")],
    address: Address,
    records: Records,
    limits: RequestLimits,
    logits: LogitsName = None,
) -> None:
    """Serve a classifier that abstains. By the Open Inference Protocol, as KServe, Triton and Seldon clients speak it.

    Each row gets the outputs prediction, answer (-1 where it abstains), confidence, accepted, reason and id. The
    optional inputs id and group name the sample and its group; --per gives the latter another name. A selector with a
    threshold for each group is monitored by group.

    With --log, a response is sent once its decisions are on disk; `monitor`, `certify` and `recertify` read the log.
    The monitors run inside and continue from --state after a restart. POST labels as {"labels": [{"id": …, "error":
    true}]} to /v2/models/NAME/labels. /metrics is for Prometheus. SIGTERM ends the service cleanly.

    Example: abstain serve selector.abstain --model model.onnx --log decisions.jsonl --state watch.json
    """
    needed = {"starlette": "serve", "uvicorn": "serve", "prometheus_client": "serve", "onnxruntime": "onnx"}
    require_all(needed, feature="`abstain serve`")

    from abstain.serve import Predictor, Service, run_server
    from abstain.serve.server import listen
    from abstain.telemetry import export_metrics

    predictor = Predictor(model, abstain.Selector.load(selector), logits=logits, audit=records.audit, per=records.per)
    name, storage = address.name or model.stem, records.storage()
    service = Service(predictor, name=name, storage=storage, label_window=records.label_window)
    listener = listen(address.host, address.port)
    host, port = listener.getsockname()[:2]
    end_export = None if records.otlp is None else export_metrics(service.measurements, records.otlp)
    show(f"Serving {service.name} at http://{host}:{port}/v2/models/{service.name}", flush=True)
    show(predictor.selector.summary(), flush=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))  # uvicorn raises the signal again once it has ended
    try:
        run_server(service, listener, limits=limits.limits())
    finally:
        if end_export is not None:
            end_export()
        if service.unsaved is not None:
            raise service.unsaved
