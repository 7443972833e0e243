import numpy as np
import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.additive_margin import AdditiveMargin  # noqa: E402
from abstain_reproduction.train.cross_entropy import CrossEntropy  # noqa: E402
from abstain_reproduction.train.deep_gamblers import DeepGamblers  # noqa: E402
from abstain_reproduction.train.networks.small import small_cnn  # noqa: E402
from abstain_reproduction.train.pixels import pixels  # noqa: E402
from abstain_reproduction.train.predict import predict  # noqa: E402
from abstain_reproduction.train.selective_net import Selective  # noqa: E402


@pytest.mark.parametrize("objective", [CrossEntropy(), AdditiveMargin(), DeepGamblers(), Selective()])
def test_the_head_makes_the_logits_that_the_network_says(blobs, objective):
    images, labels = blobs
    network = objective.network(small_cnn(side=8), 3)
    outputs = predict(network, images, labels)
    assert network.training  # it is left in the mode it was in
    with torch.inference_mode():
        said = network.eval()(pixels(images))
    logits = (said[0] if isinstance(said, tuple) else said)[:, :3]
    np.testing.assert_allclose(outputs.logits, logits.numpy(), atol=1e-5)
    assert outputs.check_head().agrees


def test_the_confidence_of_a_gambler_orders_as_not_abstaining(blobs):
    network = DeepGamblers().network(small_cnn(side=8), 3)
    outputs = predict(network, blobs[0])
    with torch.inference_mode():
        abstaining = network.eval()(pixels(blobs[0])).double().softmax(dim=1)[:, -1].numpy()
    np.testing.assert_array_equal(np.argsort(outputs.confidence("abstention")), np.argsort(-abstaining))


def test_in_additive_margin_both_margins_are_the_same(blobs):
    import abstain

    outputs = predict(AdditiveMargin().network(small_cnn(side=8), 3), *blobs)
    np.testing.assert_allclose(
        abstain.scores.geometric_margin(outputs.logits, outputs.weight),
        abstain.scores.confidence_margin(outputs.logits),
        rtol=1e-4,
        atol=1e-5,
    )


def test_a_plain_classifier_has_no_confidence_of_its_own(blobs):
    assert predict(CrossEntropy().network(small_cnn(side=8), 3), blobs[0]).confidence_names == ()
