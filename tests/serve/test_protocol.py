"""The Open Inference Protocol, as clients of Triton and by hand."""

import http.client
import json

import numpy as np
import pytest
import tritonclient.http as triton
from prometheus_client.parser import text_string_to_metric_families

from abstain import calibrate, calibrate_sets
from abstain.serve import Predictor


@pytest.fixture(scope="module")
def client(service):
    client = triton.InferenceServerClient(service.address)
    yield client
    client.close()


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("n", [1, 100])
def test_a_triton_client_gets_the_decisions_of_the_selector(client, classifier, binary, n):
    tensor = triton.InferInput("x", [n, 8], "FP32")
    tensor.set_data_from_numpy(classifier.inputs[:n], binary_data=binary)
    asked = None if binary else [triton.InferRequestedOutput(name, binary_data=False) for name in ("answer", "reason")]
    result = client.infer("net", [tensor], outputs=asked)
    rows, selector = classifier.outputs[:n], classifier.selector
    np.testing.assert_array_equal(result.as_numpy("answer"), selector.answers(rows))
    reasons = [value.decode() if isinstance(value, bytes) else value for value in result.as_numpy("reason")]
    assert reasons == selector.reasons(rows).tolist()
    if binary:
        np.testing.assert_array_equal(result.as_numpy("prediction"), selector.predictions(rows))
        np.testing.assert_array_equal(result.as_numpy("accepted"), selector.accepts(rows))
        np.testing.assert_allclose(result.as_numpy("confidence"), selector.confidence(rows), rtol=1e-5)


def test_a_triton_client_sees_health_and_metadata(client):
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("net")
    assert client.is_model_ready("net", "1")
    assert not client.is_model_ready("other")
    assert client.get_server_metadata()["name"] == "abstain"
    metadata = client.get_model_metadata("net")
    assert metadata["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 8]}]
    assert {"prediction", "answer", "confidence", "accepted", "reason", "id"} <= {
        output["name"] for output in metadata["outputs"]
    }


def test_ids_of_a_triton_client_name_the_rows(client, classifier):
    tensor, names = triton.InferInput("x", [2, 8], "FP32"), triton.InferInput("id", [2], "BYTES")
    tensor.set_data_from_numpy(classifier.inputs[:2])
    names.set_data_from_numpy(np.array(["first", "zweite ß"], dtype=object))
    result = client.infer("net", [tensor, names])
    assert [name.decode() for name in result.as_numpy("id")] == ["first", "zweite ß"]
    assert client.infer("net", [tensor], request_id="req").as_numpy("id").tolist() == [b"req-0", b"req-1"]


def test_rejected_rows_get_their_set_of_classes(classifier):
    half, other = classifier.outputs[:1000], classifier.outputs[1000:]
    selector = calibrate_sets(calibrate(half, risk=0.1), other, coverage=0.9)
    predictor = Predictor(classifier.model, selector)
    assert "candidates" in [info.name for info in predictor.outputs]
    outputs = predictor.decide({"x": classifier.inputs[:100]}).outputs
    assert outputs["candidates"].tolist() == selector.decide(classifier.outputs[:100])["candidates"].tolist()
    assert any("|" in text for text in outputs["candidates"])


def test_a_row_that_is_not_finite_is_never_accepted(service):
    outputs = service.infer([[1e30] * 8, [float("nan")] * 8, [float("inf")] * 8])
    assert outputs["accepted"][1:] == [False, False]
    assert outputs["answer"][1:] == [-1, -1]
    assert outputs["confidence"][1:] == [None, None]
    assert outputs["reason"][1:] == ["not finite", "not finite"]


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"datatype": "FP64"}, 400, "`datatype` of x must be FP32"),
        ({"datatype": "FP99"}, 400, "`datatype` must be one of"),
        ({"shape": [1, 9]}, 400, "as many elements as its shape"),
        ({"shape": [2, 4]}, 400, "`shape` of x must be [-1, 8]"),
        ({"shape": [1 << 80, 8]}, 400, "must be a list of sizes"),
        ({"data": ["1"] * 8}, 400, "must be numbers of type FP32"),
        ({"data": [None] * 8}, 400, "must be numbers of type FP32"),
        ({"data": [[1, 2], [3]]}, 400, "must be numbers of type FP32"),
        ({"data": [True] * 8}, 400, "must be numbers of type FP32"),
        ({"name": "y"}, 400, "`inputs` must be among x"),
        ({"shape": [0, 8], "data": []}, 400, "at least 1"),
        ({"parameters": {"binary_data_size": 32}}, 400, "must be within the body"),
    ],
)
def test_a_wrong_tensor_is_a_400_that_names_it(service, change, status, words):
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, 8], "data": [0.0] * 8} | change
    got, contents = service.get("/v2/models/net/infer", json.dumps({"inputs": [tensor]}).encode())
    assert got == status
    assert words in json.loads(contents)["error"]


def test_other_paths_methods_and_encodings_have_their_own_status(service):
    assert service.get("/v2/models/other")[0] == 404
    assert service.get("/v2/models/net/versions/2")[0] == 404
    assert service.get("/v2/models/net/infer")[0] == 405
    assert service.get("/nothing")[0] == 404
    assert service.get("/v2/models/net/infer", b"x", **{"Content-Encoding": "gzip"})[0] == 415


@pytest.mark.parametrize("length", [(16 << 20) + 1, 10**30])
def test_a_body_that_is_too_large_is_refused_before_it_is_read(service, length):
    connection = http.client.HTTPConnection(service.address, timeout=30)
    connection.putrequest("POST", "/v2/models/net/infer")
    connection.putheader("Content-Length", str(length))
    connection.endheaders()
    assert connection.getresponse().status in (400, 413)
    connection.close()


def test_a_body_of_chunks_without_end_is_refused(service):
    connection = http.client.HTTPConnection(service.address, timeout=30)
    chunks = (b" " * (1 << 20) for _ in range(17))
    try:
        connection.request("POST", "/v2/models/net/infer", chunks, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server had answered and closed
    finally:
        connection.close()


def test_requests_and_decisions_are_counted(service, classifier):
    def counted():
        text = service.get("/metrics")[1].decode()
        return sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "abstain_decisions_total"
        )

    before = counted()
    service.infer(classifier.inputs[:30])
    assert counted() - before == 30


def test_one_row_whose_logits_sum_to_one_is_taken_for_logits(classifier):
    predictor = Predictor(classifier.model, classifier.selector)
    weight, bias = predictor.model.head()
    row = np.linalg.lstsq(weight, np.array([0.6, 0.1, 0.1, 0.1, 0.1]) - bias, rcond=None)[0].astype(np.float32)
    (logits,), _ = predictor.model.run(row[None])
    assert logits.min() >= 0
    assert logits.sum() == pytest.approx(1, abs=1e-4)
    assert predictor.decide({"x": row[None]}).outputs["prediction"].tolist() == [0]  # a warning would be an error


def test_the_probabilities_of_a_model_are_not_taken_for_its_logits(classifier):
    with pytest.raises(
        ValueError, match="`logits` must name a tensor of logits, got 'p', the probabilities of a softm"
    ):
        Predictor(classifier.model, classifier.selector, logits="p")
    assert Predictor(classifier.model, classifier.selector, logits="z").model.layer.logits == "z"
