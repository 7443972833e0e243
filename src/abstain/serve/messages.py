"""Requests and responses of the Open Inference Protocol: JSON, and tensors in binary form behind it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any, final

from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.serve.tensors import TYPES, datatype_of, from_bytes, from_json, to_bytes, to_list

HEADER_LENGTH = "Inference-Header-Content-Length"
MOST_DIMENSIONS, MOST_OUTPUTS = 16, 100


@final
@dataclass(frozen=True, eq=False)
class InferRequest:
    """Inputs by name, and which outputs are wanted, each in binary form or not."""

    id: str | None
    inputs: dict[str, NDArray[Any]]
    outputs: dict[str, bool] | None
    """None for all outputs."""
    binary: bool
    """Whether outputs are in binary form unless a request asks otherwise."""
    parameters: dict[str, Any]


def read_request(body: bytes, header_length: str | None, /) -> InferRequest:
    """The request in a body; an error names what is wrong with it."""
    length = len(body)
    if header_length is not None:
        if not (header_length.isascii() and header_length.isdecimal()) or int(header_length[:20]) > length:
            raise InvalidInputError(f"`{HEADER_LENGTH}` must be at most the size of the body, got {header_length:.20}.")
        length = int(header_length)
    document = _object(_parsed(body[:length]), "the body")
    rest = memoryview(body)[length:]
    tensors = document.get("inputs")
    if not isinstance(tensors, list) or not tensors:
        raise InvalidInputError(f"`inputs` must be a list of at least one tensor, got {shortened(tensors)}.")
    inputs: dict[str, NDArray[Any]] = {}
    for tensor in tensors:
        rest = _add_input(_object(tensor, "a tensor"), rest, inputs)
    if len(rest):
        raise InvalidInputError(f"The body must end with its last tensor, got {len(rest)} more bytes.")
    options = _object(document.get("parameters", {}), "`parameters`")
    name = document.get("id")
    if name is not None and not isinstance(name, str):
        raise InvalidInputError(f"`id` must be a string, got {shortened(name)}.")
    binary = options.get("binary_data_output") is True
    return InferRequest(name or None, inputs, _wanted(document.get("outputs"), binary), binary, options)


def _add_input(tensor: dict[str, Any], rest: memoryview, inputs: dict[str, NDArray[Any]]) -> memoryview:
    """Read one tensor; what is left of the binary part."""
    name, datatype, shape = (tensor.get(key) for key in ("name", "datatype", "shape"))
    if not isinstance(name, str) or name in inputs:
        raise InvalidInputError(f"`name` of an input must be a string that occurs once, got {shortened(name)}.")
    if not isinstance(datatype, str) or datatype not in TYPES:
        raise InvalidInputError(f"`datatype` must be one of {', '.join(TYPES)}, got {shortened(datatype)}.")
    if (
        not isinstance(shape, list)
        or not 1 <= len(shape) <= MOST_DIMENSIONS
        or not all(type(size) is int and 0 <= size < 1 << 40 for size in shape)
    ):
        raise InvalidInputError(f"`shape` of {shortened(name)} must be a list of sizes, got {shortened(shape)}.")
    size = _object(tensor.get("parameters", {}), "`parameters`").get("binary_data_size")
    if size is None:
        inputs[name] = from_json(name, datatype, shape, tensor.get("data"))
        return rest
    if type(size) is not int or not 0 <= size <= len(rest):
        raise InvalidInputError(
            f"`binary_data_size` of {shortened(name)} must be within the body, got {shortened(size)}."
        )
    inputs[name] = from_bytes(name, datatype, shape, bytes(rest[:size]))
    return rest[size:]


def _wanted(outputs: Any, binary: bool) -> dict[str, bool] | None:
    if outputs is None or outputs == []:
        return None
    if not isinstance(outputs, list) or len(outputs) > MOST_OUTPUTS:
        raise InvalidInputError(
            f"`outputs` must be a list of at most {MOST_OUTPUTS} tensors, got {shortened(outputs)}."
        )
    wanted: dict[str, bool] = {}
    for output in outputs:
        entry = _object(output, "an output")
        options = _object(entry.get("parameters", {}), "`parameters`")
        if "classification" in options:
            raise InvalidInputError("`classification` must be left out, got it. The output prediction is the class.")
        if not isinstance(entry.get("name"), str):
            raise InvalidInputError(f"`name` of an output must be a string, got {shortened(entry.get('name'))}.")
        wanted[entry["name"]] = bool(options.get("binary_data", binary))
    return wanted


def write_response(
    request: InferRequest, outputs: Mapping[str, NDArray[Any]], /, **facts: str
) -> tuple[bytes, int | None]:
    """The body of a response, and the length of its JSON part if there is a binary part."""
    wanted = dict.fromkeys(outputs, request.binary) if request.outputs is None else request.outputs
    tensors, parts = [], []
    for name, binary in wanted.items():
        array = outputs[name]
        tensor: dict[str, Any] = {"name": name, "shape": list(array.shape), "datatype": datatype_of(array)}
        if binary:
            parts.append(to_bytes(array))
            tensor["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            tensor["data"] = to_list(array)
        tensors.append(tensor)
    header = json.dumps(facts | ({} if request.id is None else {"id": request.id}) | {"outputs": tensors}).encode()
    return (header + b"".join(parts), len(header)) if parts else (header, None)


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "brackets nested too deeply" if isinstance(error, RecursionError) else error
        raise InvalidInputError(f"The body must be JSON, got {reason}.") from None


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInputError(f"{what} must be a JSON object, got {shortened(value)}.")
    return value
