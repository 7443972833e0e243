"""The routes of the Open Inference Protocol, `/metrics` and labels, as a Starlette application."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from abstain._errors import InvalidInputError, RequestError
from abstain._extras import require
from abstain.serve.labels import read_labels
from abstain.serve.limits import Limits
from abstain.serve.messages import HEADER_LENGTH, read_request, write_response
from abstain.serve.service import Service
from abstain.telemetry import prometheus_text
from abstain.telemetry.prometheus import CONTENT_TYPE

FEATURE = "Serving"
applications, requests, responses, routing = (
    require(f"starlette.{name}", extra="serve", feature=FEATURE)
    for name in ("applications", "requests", "responses", "routing")
)
VERSION = "1"
BODIES_AT_ONCE = 16
"""How many bodies of the largest size are held at once, before and while they are answered."""
Handler = Callable[[Any], Awaitable[Any]]


def application(service: Service, /, *, limits: Limits | None = None) -> Any:
    """An ASGI application, for uvicorn or any other server; it starts and stops the service.

    Parameters
    ----------
    service : Service
        What is served.
    limits : Limits, optional
        On requests.

    Returns
    -------
    Starlette
        The application.
    """
    handlers = Handlers(service, limits or Limits())
    model = "/v2/models/{name}"
    paths: dict[str, Handler] = {"/v2": handlers.server, "/metrics": handlers.metrics}
    paths |= {"/v2/health/live": handlers.live, "/v2/health/ready": handlers.ready}
    for prefix in (model, f"{model}/versions/{{version}}"):
        paths |= {prefix: handlers.model, f"{prefix}/ready": handlers.model_ready}
        paths |= {f"{prefix}/infer": handlers.infer}
    paths |= {f"{model}/labels": handlers.labels}

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            await asyncio.to_thread(service.stop)

    posted = ("/infer", "/labels")
    routes = [
        routing.Route(path, handlers.guarded(handler), methods=["POST" if path.endswith(posted) else "GET"])
        for path, handler in paths.items()
    ]
    errors = {404: _plain_error, 405: _plain_error}
    return applications.Starlette(routes=routes, lifespan=lifespan, exception_handlers=errors)


async def _plain_error(_: Any, error: Any) -> Any:
    return _json({"error": str(error.detail)}, error.status_code)


def _json(document: Any, status: int = 200) -> Any:
    return responses.Response(json.dumps(document), status, media_type="application/json")


class Handlers:
    """What each route does."""

    def __init__(self, service: Service, limits: Limits) -> None:
        self.service, self.limits, self.at_work, self.held = service, limits, 0, 0
        self._threads = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="abstain-model")

    def guarded(self, handler: Handler) -> Handler:
        """The handler with errors as status codes."""

        async def run(request: Any) -> Any:
            try:
                name, number = (request.path_params.get(key) for key in ("name", "version"))
                if name not in (None, self.service.name) or number not in (None, VERSION):
                    raise RequestError(404, f"The model must be {self.service.name}, version {VERSION}.")
                return await handler(request)
            except RequestError as error:
                return _json({"error": str(error)}, error.status)
            except InvalidInputError as error:
                return _json({"error": str(error)}, 400)
            except MemoryError:
                return _json({"error": "There is not enough memory for this request."}, 503)

        return run

    async def server(self, _: Any) -> Any:
        """The name and version of the server."""
        return _json({"name": "abstain", "version": version("abstain"), "extensions": ["binary_tensor_data"]})

    async def live(self, _: Any) -> Any:
        """Whether the process answers."""
        return _json({"live": True})

    async def ready(self, _: Any) -> Any:
        """Whether it can decide."""
        is_ready = self.service.is_ready
        return _json({"ready": is_ready}, 200 if is_ready else 503)

    async def model(self, _: Any) -> Any:
        """Inputs and outputs."""
        return _json(self.service.metadata())

    async def model_ready(self, _: Any) -> Any:
        """Whether the model can decide."""
        is_ready = self.service.is_ready
        return _json({"name": self.service.name, "ready": is_ready}, 200 if is_ready else 503)

    async def metrics(self, _: Any) -> Any:
        """For Prometheus."""
        return responses.Response(prometheus_text(self.service.measurements), media_type=CONTENT_TYPE)

    async def infer(self, request: Any) -> Any:
        """Decide."""
        began = time.perf_counter()
        response = await self.guarded(self._admitted(self._infer))(request)
        self.service.measurements.answered(response.status_code, time.perf_counter() - began)
        return response

    async def labels(self, request: Any) -> Any:
        """Take labels of earlier decisions."""
        return await self._admitted(self._labels)(request)

    def _admitted(self, handler: Callable[[Any, bytes], Awaitable[Any]]) -> Handler:
        """The handler within the limits."""

        async def run(request: Any) -> Any:
            if self.at_work >= self.limits.requests:
                raise RequestError(503, f"At most {self.limits.requests} requests are answered at once. Try again.")
            self.at_work += 1
            body = bytearray()
            deadline = time.monotonic() + self.limits.seconds
            try:
                await self._read_into(body, request)
                answer = handler(request, bytes(body))
                return await asyncio.wait_for(answer, max(deadline - time.monotonic(), 0.001))
            except TimeoutError:
                raise RequestError(503, f"There was no answer within {self.limits.seconds:g} seconds.") from None
            finally:
                self.at_work -= 1
                self.held -= len(body)

        return run

    async def _read_into(self, body: bytearray, request: Any) -> None:
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RequestError(415, "The body must not be compressed.")
        stated = request.headers.get("content-length", "0")
        if not stated.isdecimal() or len(stated) > 15 or int(stated) > self.limits.body:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    self._hold(part, body)
        except TimeoutError:
            raise RequestError(408, f"The body must come within {self.limits.seconds:g} seconds.") from None
        except requests.ClientDisconnect:
            raise RequestError(400, "The body was cut off.") from None

    def _hold(self, part: bytes, body: bytearray) -> None:
        """Add a part to a body; slow clients together must not fill the memory."""
        if len(body) + len(part) > self.limits.body:
            raise self._too_large()
        if self.held + len(part) > (most := BODIES_AT_ONCE * self.limits.body):
            raise RequestError(503, f"The bodies of all requests must have at most {most} bytes. Try again.")
        self.held += len(part)
        body += part

    def _too_large(self) -> RequestError:
        return RequestError(413, f"The body must have at most {self.limits.body} bytes.")

    async def _infer(self, request: Any, body: bytes) -> Any:
        header = request.headers.get(HEADER_LENGTH)
        loop = asyncio.get_running_loop()
        infer, decisions = await loop.run_in_executor(self._threads, self._decide, body, header)
        await self.service.recorder.record(decisions.columns, may_repeat=decisions.has_own_ids)
        contents, length = write_response(infer, decisions.outputs, model_name=self.service.name, model_version=VERSION)
        if length is None:
            return responses.Response(contents, media_type="application/json")
        headers = {HEADER_LENGTH: str(length)}
        return responses.Response(contents, headers=headers, media_type="application/octet-stream")

    def _decide(self, body: bytes, header: str | None) -> tuple[Any, Any]:
        predictor = self.service.predictor
        infer = read_request(body, header)
        known = {info.name for info in predictor.outputs}
        if unknown := set(infer.outputs or ()) - known:
            raise InvalidInputError(f"`outputs` must be among {', '.join(sorted(known))}, got {min(unknown)!r:.60}.")
        predictor.add_group(infer.inputs, infer.parameters)
        predictor.check(infer.inputs)
        return infer, predictor.decide(infer.inputs, infer.id)

    async def _labels(self, _: Any, body: bytes) -> Any:
        columns = read_labels(body, self.service.log, audit=self.service.predictor.has_audit)
        await self.service.recorder.record(columns, may_repeat=True)
        return _json({"labels": len(columns["id"])})
