import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.networks.residual import resnet20, resnet34  # noqa: E402
from abstain_reproduction.train.networks.small import small_cnn  # noqa: E402
from abstain_reproduction.train.networks.vgg import vgg16  # noqa: E402


def parameters(body):
    return sum(parameter.numel() for parameter in body.parameters())


@pytest.mark.parametrize(
    ("body", "shape", "width"),
    [
        (small_cnn(), (2, 1, 28, 28), 64),
        (small_cnn(channels=3, side=30), (2, 3, 30, 30), 64),
        (resnet20(), (2, 3, 32, 32), 64),
        (resnet34(), (2, 3, 64, 64), 512),
        (vgg16(), (2, 3, 32, 32), 512),
        (vgg16(side=64), (2, 3, 64, 64), 512),
    ],
    ids=["small", "small-30", "resnet20", "resnet34", "vgg16", "vgg16-64"],
)
def test_features_have_the_width_the_body_says(body, shape, width):
    assert body.width == width
    assert body.eval()(torch.zeros(shape)).shape == (2, width)


def test_resnet34_has_as_many_parameters_as_the_published_one():
    assert parameters(resnet34()) + 512 * 1000 + 1000 == 21_797_672


def test_resnet20_has_20_layers_and_the_published_size():
    body = resnet20()
    weights = [layer for layer in body.modules() if isinstance(layer, torch.nn.Conv2d) and layer.kernel_size == (3, 3)]
    assert len(weights) + 1 == 20
    projections = 16 * 32 + 2 * 32 + 32 * 64 + 2 * 64  # where the original pads with zeros
    assert parameters(body) + 64 * 10 + 10 - projections == 269_722


def test_vgg16_has_13_convolutions_and_dropout_that_grows():
    body = vgg16(dropout=0.3)
    convolutions = [layer for layer in body if isinstance(layer, torch.nn.Conv2d)]
    assert sum(layer.weight.numel() + layer.bias.numel() for layer in convolutions) == 14_714_688
    shares = [round(layer.p, 2) for layer in body if isinstance(layer, torch.nn.Dropout)]
    assert shares == [0.3] + [0.4] * 7 + [0.5] * 2
