"""A chain of convolutions in a TensorFlow Lite file, such as MobileNet, as a PyTorch module."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._extras import require

FEATURE = "A network of TensorFlow Lite"


def from_tflite(file: Path, /, *, background: bool) -> Any:
    """A module from (n, h, w, channels) to the logits before the softmax, without the first class if ``background``.

    The last convolution, which sees one pixel, becomes the linear layer.
    """
    torch = require("torch", extra="torch", feature=FEATURE)
    tflite = require("tflite", extra=None, feature=FEATURE)
    from abstain_reproduction.real_models.keras_layers import Simple, layer_of

    model = tflite.Model.GetRootAsModel(file.read_bytes(), 0)
    graph = model.Subgraphs(0)
    codes, layers = tflite.BuiltinOperator, []
    for operator in (graph.Operators(number) for number in range(graph.OperatorsLength())):
        code = model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode()
        if code in (codes.CONV_2D, codes.DEPTHWISE_CONV_2D):
            _, kernel, bias = (int(tensor) for tensor in operator.InputsAsNumpy())
            depthwise = code == codes.DEPTHWISE_CONV_2D
            order = (1, 2, 0, 3) if depthwise else (1, 2, 3, 0)  # to height, width, channels, filters
            weights = {"kernel": _values(model, graph, kernel).transpose(order), "bias": _values(model, graph, bias)}
            layers.append((_options(tflite, operator, weights["kernel"], depthwise=depthwise), weights))
        elif code not in (codes.AVERAGE_POOL_2D, codes.RESHAPE, codes.SQUEEZE, codes.SOFTMAX):
            raise InvalidInputError(f"`{file}` must be a chain of convolutions, got operator {code}.")
    *body, (_, last) = layers
    known = slice(int(background), None)
    return torch.nn.Sequential(
        Simple("channels first", lambda images: images.permute(0, 3, 1, 2)),
        *(layer_of("Conv2D", options, weights) for options, weights in body),
        Simple("mean", lambda images: images.mean((2, 3))),
        layer_of(
            "Dense", {"activation": "linear"}, {"kernel": last["kernel"][0, 0, :, known], "bias": last["bias"][known]}
        ),
    ).eval()


def _values(model: Any, graph: Any, tensor: int) -> NDArray[Any]:
    """Constant float32 values."""
    entry = graph.Tensors(tensor)
    contents = model.Buffers(entry.Buffer()).DataAsNumpy()
    if entry.Type() != 0 or isinstance(contents, int):
        raise InvalidInputError(f"`file` must have float32 weights, got another type for {entry.Name().decode()}.")
    return contents.view("<f4").reshape(entry.ShapeAsNumpy()).copy()


def _options(tflite: Any, operator: Any, kernel: NDArray[Any], *, depthwise: bool) -> dict[str, Any]:
    """The options of an operator under their names in Keras."""
    options = (tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)()
    table = operator.BuiltinOptions()
    options.Init(table.Bytes, table.Pos)
    activations = {
        tflite.ActivationFunctionType.NONE: "linear",
        tflite.ActivationFunctionType.RELU: "relu",
        tflite.ActivationFunctionType.RELU6: "relu6",
    }
    return {
        "kernel_size": kernel.shape[:2],
        "strides": [options.StrideH(), options.StrideW()],
        "padding": "same" if options.Padding() == tflite.Padding.SAME else "valid",
        "activation": activations[options.FusedActivationFunction()],
        "groups": kernel.shape[3] if depthwise else 1,
    }
