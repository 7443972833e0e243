"""FLYP's classifier: the image tower of CLIP (Radford et al., 2021), features of length one, and a linear head on them.

Layers are named as CLIP's own state dictionary names them. FLYP's head normalises its input inside; here that is done
before a plain linear layer, so that the features are what the weights multiply.
"""

from collections import OrderedDict
from math import isqrt
from pathlib import Path
from typing import Any

from abstain._errors import foreign
from abstain._extras import require
from abstain.collect.torch_model import TorchModel, tensors
from abstain_reproduction.benchmarks.export import TRIAL, check_trial, read_export
from abstain_reproduction.benchmarks.pixels import Pixels

torch = require("torch", extra="torch", feature="FLYP")
nn = torch.nn
SCRIPT = "scripts/export-flyp"


class QuickGELU(nn.Module):  # type: ignore[misc, name-defined]
    """x σ(1.702 x), the activation that OpenAI's weights were trained with."""

    def forward(self, x: Any) -> Any:
        """Elementwise."""
        return x * torch.sigmoid(1.702 * x)


class TransformerBlock(nn.Module):  # type: ignore[misc, name-defined]
    """Self-attention and a perceptron, each after a normalisation and added to its input."""

    def __init__(self, width: int, heads: int, hidden: int, *, quick: bool) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        layers = {"c_fc": nn.Linear(width, hidden), "gelu": QuickGELU() if quick else nn.GELU()}
        self.mlp = nn.Sequential(OrderedDict(layers | {"c_proj": nn.Linear(hidden, width)}))

    def forward(self, x: Any) -> Any:
        """(b, tokens, width)."""
        inside = self.ln_1(x)
        x = x + self.attn(inside, inside, inside, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class ImageEncoder(nn.Module):  # type: ignore[misc, name-defined]
    """A vision transformer whose class token is projected; shapes are those of the tensors it is to hold."""

    def __init__(self, shapes: dict[str, Any], *, heads: int, quick: bool) -> None:
        super().__init__()
        width, channels, patch, _ = shapes["conv1.weight"]
        tokens = shapes["positional_embedding"][0]
        layers = sum(name.endswith(".attn.in_proj_weight") for name in shapes)
        hidden = shapes["transformer.resblocks.0.mlp.c_fc.weight"][0]
        self.side = isqrt(tokens - 1) * patch
        self.conv1 = nn.Conv2d(channels, width, patch, stride=patch, bias=False)
        self.class_embedding = nn.Parameter(torch.empty(width))
        self.positional_embedding = nn.Parameter(torch.empty(tokens, width))
        self.ln_pre, self.ln_post = nn.LayerNorm(width), nn.LayerNorm(width)
        self.transformer = nn.Module()
        self.transformer.resblocks = nn.Sequential(
            *(TransformerBlock(width, heads, hidden, quick=quick) for _ in range(layers))
        )
        self.proj = nn.Parameter(torch.empty(*shapes["proj"]))

    def forward(self, images: Any) -> Any:
        """(b, d) from images (b, 3, side, side)."""
        patches = self.conv1(images).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(len(images), 1, -1)
        x = self.ln_pre(torch.cat([first, patches], dim=1) + self.positional_embedding)
        return self.ln_post(self.transformer.resblocks(x)[:, 0]) @ self.proj


class ClipClassifier(nn.Module):  # type: ignore[misc, name-defined]
    """The tower and a linear head on its features, normalised or not."""

    def __init__(self, shapes: dict[str, Any], *, heads: int, quick: bool, normalize: bool) -> None:
        super().__init__()
        visual = {name.removeprefix("visual."): shape for name, shape in shapes.items() if name.startswith("visual.")}
        self.visual, self.normalize = ImageEncoder(visual, heads=heads, quick=quick), normalize
        classes, width = shapes["head.weight"]
        self.head = nn.Linear(width, classes)

    def forward(self, images: Any) -> Any:
        """(b, K) logits."""
        features = self.visual(images)
        return self.head(nn.functional.normalize(features, dim=-1) if self.normalize else features)


def clip_model(file: Path, /, *, pixels: Pixels, device: str, amp: bool = False) -> TorchModel:
    """The classifier that `scripts/export-flyp` wrote; images are prepared at the side it was trained with."""
    entries, header = read_export(file, "clip-classifier", SCRIPT)
    with foreign(f"`{file}` must be an export that {SCRIPT} wrote"):
        state = {name: value for name, value in entries.items() if not name.startswith(TRIAL)}
        shapes = {name: tuple(value.shape) for name, value in state.items()}
        quick, normalize = header["activation"] == "quick_gelu", bool(header["normalize"])
        module = ClipClassifier(shapes, heads=header["heads"], quick=quick, normalize=normalize)
        module.load_state_dict(state)
        with torch.inference_mode():
            check_trial(file, module.eval()(entries[f"{TRIAL}images"]), entries[f"{TRIAL}logits"])
    prepare = tensors(pixels.sized(module.visual.side))
    return TorchModel(module, prepare=prepare, head="head", device=device, amp=amp)
