"""Connections on which the peer stalls are closed after the time for a request, and the service answers again."""

import json
import socket
import time

import pytest

STALLS = {
    "silent": b"",
    "half a header": b"GET /v2 HTTP/1.1\r\nHost:",
    "half of a second header": b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\nGET /v2 HTTP/1.1\r\nHost:",
    "body of a refused request": b"POST /v2 HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",
}


def connect(service):
    host, port = service.address.split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def closed(connection):
    """Read until the service closes; the seconds that took."""
    begun = time.monotonic()
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic() - begun


def live(service):
    return service.get("/v2/health/live")[0]


@pytest.mark.parametrize("sent", STALLS.values(), ids=STALLS)
def test_idle_connections_do_not_stop_the_service(start, sent):
    service = start("--timeout", 1.5, "--max-requests", 2)  # eight connections
    connections = [connect(service) for _ in range(12)]
    for connection in connections:
        connection.sendall(sent)
    time.sleep(0.2)
    assert live(service) == 503 or b"\r\n\r\n" in sent  # the 503 to a whole request closes its connection
    for connection in connections:
        assert closed(connection) < 5
        connection.close()
    assert live(service) == 200
    assert service.stop() == ""


def test_a_header_without_end_is_cut_off(start):
    service = start("--timeout", 60)
    connection = connect(service)
    connection.sendall(b"GET /v2 HTTP/1.1\r\n")

    def send():
        for number in range(200):
            connection.sendall(b"x-%d: %s\r\n" % (number, b"a" * 10_000))
            time.sleep(0.001)

    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        send()
    connection.close()
    assert live(service) == 200


def test_a_peer_that_reads_no_response_is_cut_off(start):
    service, n = start("--timeout", 3), 20_000
    rows = {"name": "x", "datatype": "FP32", "shape": [n, 8], "data": [0.5] * (8 * n)}
    names = {"name": "id", "datatype": "BYTES", "shape": [n], "data": [f"{number:0500}" for number in range(n)]}
    body = json.dumps({"inputs": [rows, names], "outputs": [{"name": "id"}]}).encode()
    connection = connect(service)
    connection.sendall(b"POST /v2/models/net/infer HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    head = connection.recv(100)
    assert head.startswith(b"HTTP/1.1 200")
    time.sleep(5)
    size = 0
    while part := connection.recv(1 << 20):
        size += len(part)
    connection.close()
    assert size < 10_000_000  # the names alone are as long
    assert live(service) == 200


def test_a_slow_but_steady_client_is_answered(start):
    service = start("--timeout", 3)
    connection = connect(service)
    for part in (b"GET /v2/health/live HTTP/1.1\r\n", b"Host: x\r\n", b"Connection: close\r\n", b"\r\n"):
        connection.sendall(part)
        time.sleep(0.3)
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
    connection.close()


def test_slow_bodies_together_do_not_fill_the_memory(start):
    service, size = start("--max-body", 4 << 20, "--timeout", 20), 4 << 20
    before, connections, refused = service.memory(), [connect(service) for _ in range(40)], 0
    for connection in connections:
        connection.settimeout(0.3)
        connection.sendall(b"POST /v2/models/net/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
        try:
            connection.sendall(bytes(size - 10))
            refused += connection.recv(1 << 10).startswith(b"HTTP/1.1 503")
        except TimeoutError:
            pass  # it waits for the last ten bytes
        except OSError:
            refused += 1
    assert refused >= 20
    assert service.memory() - before < 24 * size
    assert live(service) == 200
    for connection in connections:
        connection.close()
    assert service.infer([[0.5] * 8])["id"]
    assert service.stop() == ""


def test_small_responses_do_not_wait_for_acknowledgements(service):
    connection, times = connect(service), []
    for _ in range(20):
        begun = time.perf_counter()
        connection.sendall(b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while b"binary_tensor_data" not in received:
            received += connection.recv(1 << 16)
        times.append(time.perf_counter() - begun)
    connection.close()
    assert sorted(times)[10] < 0.03  # a delayed acknowledgement takes 0.04 s
