"""A small TensorFlow Lite file made here, against convolutions written out in NumPy."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
tflite = pytest.importorskip("tflite")
flatbuffers = pytest.importorskip("flatbuffers")

from abstain_reproduction.real_models.tflite_network import from_tflite  # noqa: E402

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(2, 6, 6, 3)).astype(np.float32)
KERNEL, DEPTHWISE, HEAD = (
    RNG.normal(size=shape).astype(np.float32) for shape in ((4, 3, 3, 3), (1, 2, 2, 4), (5, 1, 1, 4))
)
BIASES = [RNG.normal(size=size).astype(np.float32) for size in (4, 4, 5)]
CODES = [tflite.BuiltinOperator.CONV_2D, tflite.BuiltinOperator.DEPTHWISE_CONV_2D, tflite.BuiltinOperator.CONV_2D]


def vector(builder, start, values, add):
    start(builder, len(values))
    for value in reversed(values):
        add(value)
    return builder.EndVector()


def options_of(builder, code, *, padding, stride, activation):
    kind = "DepthwiseConv2DOptions" if code == tflite.BuiltinOperator.DEPTHWISE_CONV_2D else "Conv2DOptions"
    getattr(tflite, f"{kind}Start")(builder)
    getattr(tflite, f"{kind}AddPadding")(builder, padding)
    getattr(tflite, f"{kind}AddStrideH")(builder, stride)
    getattr(tflite, f"{kind}AddStrideW")(builder, stride)
    getattr(tflite, f"{kind}AddFusedActivationFunction")(builder, activation)
    return getattr(tflite, kind + "End")(builder)


def tensor(builder, values, buffer):
    name = builder.CreateString(f"tensor {buffer}")
    shape = builder.CreateNumpyVector(np.array(values.shape, dtype=np.int32))
    tflite.TensorStart(builder)
    tflite.TensorAddShape(builder, shape)
    tflite.TensorAddBuffer(builder, buffer)
    tflite.TensorAddName(builder, name)
    return tflite.TensorEnd(builder)


def operator(builder, number, inputs, code, options):
    inputs = builder.CreateNumpyVector(np.array(inputs, dtype=np.int32))
    made = options_of(builder, code, **options)
    tflite.OperatorStart(builder)
    tflite.OperatorAddOpcodeIndex(builder, number)
    tflite.OperatorAddInputs(builder, inputs)
    tflite.OperatorAddBuiltinOptions(builder, made)
    return tflite.OperatorEnd(builder)


def write(file, codes=CODES):
    """Three convolutions; tensor 0 is the input, then a weight and a bias each."""
    builder = flatbuffers.Builder(4096)
    arrays = [IMAGES, *(each for pair in zip((KERNEL, DEPTHWISE, HEAD), BIASES, strict=True) for each in pair)]
    tensors = [tensor(builder, values, buffer) for buffer, values in enumerate(arrays)]
    settings = [
        {"padding": tflite.Padding.SAME, "stride": 2, "activation": tflite.ActivationFunctionType.RELU6},
        {"padding": tflite.Padding.VALID, "stride": 1, "activation": tflite.ActivationFunctionType.RELU},
        {"padding": tflite.Padding.SAME, "stride": 1, "activation": tflite.ActivationFunctionType.NONE},
    ]
    operators = [
        operator(builder, number, [0, 1 + 2 * number, 2 + 2 * number], code, options)
        for number, (code, options) in enumerate(zip(CODES, settings, strict=True))
    ]
    tensors = vector(builder, tflite.SubGraphStartTensorsVector, tensors, builder.PrependUOffsetTRelative)
    operators = vector(builder, tflite.SubGraphStartOperatorsVector, operators, builder.PrependUOffsetTRelative)
    tflite.SubGraphStart(builder)
    tflite.SubGraphAddTensors(builder, tensors)
    tflite.SubGraphAddOperators(builder, operators)
    graph = tflite.SubGraphEnd(builder)
    graphs = vector(builder, tflite.ModelStartSubgraphsVector, [graph], builder.PrependUOffsetTRelative)
    buffers, named = [], []
    for number, values in enumerate(arrays):
        contents = builder.CreateNumpyVector(np.frombuffer(values.tobytes() if number else b"\0", dtype=np.uint8))
        tflite.BufferStart(builder)
        tflite.BufferAddData(builder, contents)
        buffers.append(tflite.BufferEnd(builder))
    for code in codes:
        tflite.OperatorCodeStart(builder)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, code)  # where all files have the first 127 operators
        named.append(tflite.OperatorCodeEnd(builder))
    buffers = vector(builder, tflite.ModelStartBuffersVector, buffers, builder.PrependUOffsetTRelative)
    named = vector(builder, tflite.ModelStartOperatorCodesVector, named, builder.PrependUOffsetTRelative)
    tflite.ModelStart(builder)
    tflite.ModelAddSubgraphs(builder, graphs)
    tflite.ModelAddBuffers(builder, buffers)
    tflite.ModelAddOperatorCodes(builder, named)
    builder.Finish(tflite.ModelEnd(builder))
    file.write_bytes(bytes(builder.Output()))


def expected():
    """6 → 3 by "same" with one zero at the end, then 3 → 2, the mean, and the head."""
    padded = np.pad(IMAGES, ((0, 0), (0, 1), (0, 1), (0, 0)))
    first = np.zeros((2, 3, 3, 4))
    for i in range(3):
        for j in range(3):
            window = padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
            first[:, i, j] = np.clip(np.einsum("nijc,fijc->nf", window, KERNEL) + BIASES[0], 0, 6)
    second = np.zeros((2, 2, 2, 4))
    for i in range(2):
        for j in range(2):
            window = first[:, i : i + 2, j : j + 2]
            second[:, i, j] = np.maximum(np.einsum("nijc,ijc->nc", window, DEPTHWISE[0]) + BIASES[1], 0)
    return second.mean(axis=(1, 2)) @ HEAD[:, 0, 0].T + BIASES[2]


@pytest.mark.parametrize("background", [False, True])
def test_convolutions_are_read_and_the_background_is_left_out(tmp_path, background):
    write(tmp_path / "x.tflite")
    network = from_tflite(tmp_path / "x.tflite", background=background)
    with torch.inference_mode():
        made = network(torch.as_tensor(IMAGES)).numpy()
    np.testing.assert_allclose(made, expected()[:, int(background) :], rtol=1e-4, atol=1e-4)


def test_other_operators_are_refused(tmp_path):
    write(tmp_path / "x.tflite", [tflite.BuiltinOperator.LSTM, *CODES[1:]])
    with pytest.raises(ValueError, match="must be a chain of convolutions, got operator 16"):
        from_tflite(tmp_path / "x.tflite", background=True)
