"""Keras files read by hand, against convolutions written out in NumPy."""

import io
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
h5py = pytest.importorskip("h5py")

from abstain_reproduction.real_models.keras_network import from_h5, from_tfjs, network  # noqa: E402

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(2, 7, 6, 3)).astype(np.float32)
KERNEL, BIAS = (RNG.normal(size=shape).astype(np.float32) for shape in ((3, 3, 3, 4), (4,)))
MEAN, GAMMA, BETA = (RNG.normal(size=4).astype(np.float32) for _ in range(3))
VARIANCE = np.abs(RNG.normal(size=4)).astype(np.float32)
DENSE = RNG.normal(size=(4, 5)).astype(np.float32)
WEIGHTS = {
    "conv": {"kernel": KERNEL, "bias": BIAS},
    "norm": {"gamma": GAMMA, "beta": BETA, "moving_mean": MEAN, "moving_variance": VARIANCE},
    "dense": {"kernel": DENSE, "bias": np.zeros(5, np.float32)},
}


def layer(kind, name, inputs, **config):
    return {"class_name": kind, "config": {"name": name} | config, "inbound_nodes": [[[i, 0, 0, {}] for i in inputs]]}


CONFIG = {
    "config": {
        "layers": [
            layer("InputLayer", "input", []) | {"inbound_nodes": []},
            layer(
                "Conv2D", "conv", ["input"], kernel_size=[3, 3], strides=[2, 2], padding="same", activation="relu"
            ),
            layer("BatchNormalization", "norm", ["conv"], epsilon=0.001),
            layer("Add", "add", ["conv", "norm"]),
            layer("GlobalAveragePooling2D", "mean", ["add"]),
            layer("Dense", "dense", ["mean"], activation="softmax"),
        ]
    }
}  # fmt: skip


def expected():
    """Rows 7 → 4 need a zero on both sides, columns 6 → 3 one at the end alone."""
    padded = np.pad(IMAGES, ((0, 0), (1, 1), (0, 1), (0, 0)))
    windows = np.stack([padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] for i in range(4) for j in range(3)], axis=1)
    made = np.maximum(np.einsum("npijc,ijcf->npf", windows, KERNEL) + BIAS, 0)
    normed = (made - MEAN) / np.sqrt(VARIANCE + 0.001) * GAMMA + BETA
    return (made + normed).mean(axis=1) @ DENSE


def test_same_padding_strides_and_branches_are_those_of_keras_and_logits_come_out():
    with torch.inference_mode():
        made = network(CONFIG, WEIGHTS)(torch.as_tensor(IMAGES))
    np.testing.assert_allclose(made.numpy(), expected(), rtol=1e-4, atol=1e-5)


def test_h5_files_are_read():
    contents = io.BytesIO()
    with h5py.File(contents, "w") as file:
        file.attrs["model_config"] = json.dumps(CONFIG)
        for name, arrays in WEIGHTS.items():
            for what, values in arrays.items():
                file[f"model_weights/{name}/{name}/{what}:0"] = values
    with torch.inference_mode():
        made = from_h5(contents.getvalue())(torch.as_tensor(IMAGES))
    np.testing.assert_allclose(made.numpy(), expected(), rtol=1e-4, atol=1e-5)


def tfjs(folder, *, cut=0):
    entries, contents = [], b""
    for name, arrays in WEIGHTS.items():
        for what, values in arrays.items():
            entries.append({"name": f"{name}/{what}", "shape": list(values.shape), "dtype": "float32"})
            contents += values.tobytes()
    (folder / "a.bin").write_bytes(contents[:101])
    (folder / "b.bin").write_bytes(contents[101 : len(contents) - cut])
    manifest = [{"paths": ["a.bin", "b.bin"], "weights": entries}]
    model = {"modelTopology": {"model_config": CONFIG}, "weightsManifest": manifest}
    (folder / "model.json").write_text(json.dumps(model))


def test_shards_of_tensorflow_js_are_read(tmp_path):
    tfjs(tmp_path)
    with torch.inference_mode():
        made = from_tfjs(tmp_path)(torch.as_tensor(IMAGES))
    np.testing.assert_allclose(made.numpy(), expected(), rtol=1e-4, atol=1e-5)


def test_cut_shards_are_refused(tmp_path):
    tfjs(tmp_path, cut=8)
    with pytest.raises(
        ValueError, match="must have complete float32 weights, got a part or another type for dense/bias"
    ):
        from_tfjs(tmp_path)


@pytest.mark.parametrize(("kind", "same"), [("MaxPooling2D", np.max), ("AveragePooling2D", np.mean)])
def test_pools_and_flattened_maps_are_in_the_order_of_keras(kind, same):
    layers = [
        {"class_name": "InputLayer", "config": {"name": "input"}},
        {
            "class_name": kind,
            "config": {"name": "pool", "pool_size": [3, 3], "strides": None, "padding": "valid"},
        },
        {"class_name": "Flatten", "config": {"name": "flat"}},
        {"class_name": "Dropout", "config": {"name": "drop"}},
        {"class_name": "Dense", "config": {"name": "dense", "activation": "relu"}},
    ]
    weights = {"dense": {"kernel": np.eye(12, dtype=np.float32)}}
    with torch.inference_mode():
        made = network({"config": {"layers": layers}}, weights)(torch.as_tensor(IMAGES))
    pooled = same(IMAGES[:, :6].reshape(2, 2, 3, 2, 3, 3), axis=(2, 4))
    np.testing.assert_allclose(made.numpy(), pooled.reshape(2, 12), rtol=1e-5, atol=1e-6)


def test_other_layers_are_named():
    layers = [{"class_name": "LSTM", "config": {"name": "lstm"}}]
    with pytest.raises(ValueError, match=r"must have layers among InputLayer, .*, got LSTM"):
        network({"config": {"layers": layers}}, {})


def test_other_files_are_refused():
    with pytest.raises(ValueError, match="must be an HDF5 file of Keras, got"):
        from_h5(b"nothing")
