"""The four tasks of the paper's tables and figures 4–6: ImageNet, iWildCam, Amazon, CIFAR."""

from abstain_reproduction.benchmarks import cifar_data, imagenet_data, wilds_data
from abstain_reproduction.benchmarks.benchmark import Benchmark
from abstain_reproduction.benchmarks.cards import Card
from abstain_reproduction.benchmarks.pixels import CIFAR, CLIP
from abstain_reproduction.benchmarks.pixels import IMAGENET as IMAGENET_PIXELS

IMAGENET = Benchmark(
    name="imagenet",
    task="ImageNet",
    title="ImageNet, ImageNet-C of severity 3, OpenImage-O (Tables 3 and 8, Figs. 4 and 9)",
    expects="val (ILSVRC-2012), openimage_o or imagenet-o, and if there is one imagenet-c (else corruptions are made)",
    parts=imagenet_data.parts,
    corrupted=imagenet_data.CORRUPTED,
    cards={
        "eva": Card("EVA", 88.76, "eva_giant_patch14_224.clip_ft_in1k"),
        "convnext": Card("ConvNext, ConvNeXt V2 of timm", 86.25, "convnextv2_base.fcmae_ft_in22k_in1k"),
        "volo": Card("VOLO", 85.56, "volo_d4_224.sail_in1k"),
        "resnext": Card("ResNext, SE-ResNeXt of timm", 85.94, "seresnextaa101d_32x8d.sw_in12k_ft_in1k"),
        "scnet": Card("ScNet, a ResNet-34 with a selection head", trained=True),
    },
    pixels=IMAGENET_PIXELS,
    authors=IMAGENET_PIXELS,
)
IWILDCAM = Benchmark(
    name="iwildcam",
    task="iWildCam",
    title="iWildCam of WILDS, cameras not seen in training (Table 4, Fig. 5)",
    expects="iwildcam_v2.0 (metadata.csv and train/), a root of WILDS",
    parts=wilds_data.iwildcam,
    cards={"flyp": Card("FLYP, a fine-tuned CLIP", made_by="scripts/export-flyp")},
    pixels=CLIP,
    authors=CLIP,
)
AMAZON = Benchmark(
    name="amazon",
    task="Amazon",
    title="Amazon reviews of WILDS, people not seen in training (Table 4, Fig. 5)",
    expects="amazon_v2.1 (reviews.csv and splits/user.csv), a root of WILDS",
    parts=wilds_data.amazon,
    cards={"lisa": Card("LISA, a fine-tuned DistilBERT", made_by="scripts/export-lisa")},
    batch_size=32,
)
CIFAR_10 = Benchmark(
    name="cifar",
    task="CIFAR",
    title="CIFAR-10, CIFAR-10-C of severity 3, CIFAR-100 (Fig. 6)",
    expects="cifar-10-batches-bin, cifar-100-binary, and if there is one CIFAR-10-C (else corruptions are made)",
    parts=cifar_data.parts,
    corrupted=cifar_data.CORRUPTED,
    cards={"scnet": Card("ScNet, a VGG-16 with a selection head", trained=True)},
    pixels=CIFAR,
    authors=CIFAR,
    batch_size=250,
)
BENCHMARKS = tuple(each.experiment() for each in (IMAGENET, IWILDCAM, AMAZON, CIFAR_10))
