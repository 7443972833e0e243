"""What the paper trained (App. F): SelectiveNet on CIFAR-10 and on ImageNet.

Not said in the paper, and taken from the code it names (PyTorch, after Geifman & El-Yaniv): momentum 0.9, weight decay
5e-4, the learning rate halved every 25 epochs, α = 0.5, λ = 32, the layers of the selector and the first weights of the
heads, images mirrored and nothing else. That code knows no ImageNet: there images of 256 x 256 pixels are to be given,
of which windows of 224 are cut and mirrored, which is our choice. docs/training.md lists where we depart.
"""

from abstain_reproduction.train.augmentation import Augmentation
from abstain_reproduction.train.recipe import Recipe
from abstain_reproduction.train.schedule import Cosine, Steps
from abstain_reproduction.train.selective_net import Selective

CIFAR10 = Recipe(
    body="vgg16",
    options={"dropout": 0.3},
    objective=Selective(coverage=0.7),
    classes=10,
    epochs=300,
    batch_size=128,
    lr=0.1,
    schedule=Steps(every=25, factor=0.5),
    augmentation=Augmentation(flip=True),
)
IMAGENET = Recipe(
    body="resnet34",
    objective=Selective(coverage=0.7),
    classes=1000,
    epochs=250,
    batch_size=768,
    lr=0.1,
    schedule=Cosine(),
    augmentation=Augmentation(window=224, flip=True),
)
