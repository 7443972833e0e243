"""What the paper's appendix and the code it names say of its training."""

import pytest

pytest.importorskip("torch")

from abstain_reproduction.train.augmentation import Augmentation
from abstain_reproduction.train.paper import CIFAR10, IMAGENET
from abstain_reproduction.train.selective_net import Selective, SelectiveNet


def test_the_network_for_cifar_is_trained_as_in_the_paper():
    assert (CIFAR10.body, CIFAR10.options["dropout"], CIFAR10.batch_size, CIFAR10.epochs) == ("vgg16", 0.3, 128, 300)
    assert (CIFAR10.lr, CIFAR10.momentum, CIFAR10.weight_decay) == (0.1, 0.9, 5e-4)
    assert [CIFAR10.schedule.share(epoch, 300) for epoch in (0, 24, 25, 75)] == [1, 1, 0.5, 0.125]
    assert CIFAR10.objective == Selective(coverage=0.7, alpha=0.5, penalty=32.0)
    assert Augmentation(flip=True) == CIFAR10.augmentation  # nothing is cut


def test_the_network_for_imagenet_is_trained_as_in_the_paper():
    assert (IMAGENET.body, IMAGENET.batch_size, IMAGENET.epochs, IMAGENET.lr) == ("resnet34", 768, 250, 0.1)
    assert IMAGENET.schedule.share(125, 250) == pytest.approx(0.5)
    network = IMAGENET.network()
    assert isinstance(network, SelectiveNet)
    assert network.classifier()[0].shape == (1000, 512)


@pytest.mark.thorough
def test_the_recipe_for_cifar_makes_a_step(tmp_path):
    from dataclasses import replace

    import numpy as np

    from abstain_reproduction.train.predict import predict
    from abstain_reproduction.train.training import train

    images = np.random.default_rng(0).integers(256, size=(4, 32, 32, 3), dtype=np.uint8)
    network = train(replace(CIFAR10, epochs=1, batch_size=4), images, np.arange(4), tmp_path / "run")
    outputs = predict(network, images, np.arange(4))
    assert outputs.confidence_names == ("selection_head",)
    assert outputs.features.shape == (4, 512)
