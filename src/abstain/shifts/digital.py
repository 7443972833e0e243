"""Digital: each takes an image in [0, 1] (h, w, c), its strength and a generator."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from abstain.shifts.camera import smooth

Image = NDArray[Any]


def brightness(image: Image, strength: float, _: np.random.Generator) -> Image:
    """More light: the value of HSV raised, hue and saturation kept."""
    value = image.max(axis=2, keepdims=True)
    raised = np.minimum(value + strength, 1)
    return np.where(value > 0, image * (raised / np.maximum(value, 1e-12)), raised).astype(np.float32)


def saturate(image: Image, strength: tuple[float, float], _: np.random.Generator) -> Image:
    """Paler or stronger colours: the saturation of HSV scaled and raised; grey gets the hue of red, as in HSV."""
    if image.shape[2] == 1:
        return image
    factor, more = strength
    value = image.max(axis=2, keepdims=True)
    depth = value - image  # saturation times value, of each channel
    saturation = depth.max(axis=2, keepdims=True) / np.maximum(value, 1e-12)
    wanted = np.clip(saturation * factor + more, 0, 1)
    red = value * np.array([0, 1, 1], dtype=np.float32)
    share = np.where(saturation > 1e-6, depth * (wanted / np.maximum(saturation, 1e-6)), red * wanted)
    return (value - share).astype(np.float32)


def contrast(image: Image, strength: float, _: np.random.Generator) -> Image:
    """Closer to the mean of each channel."""
    mean = image.mean(axis=(0, 1), keepdims=True)
    return (image - mean) * strength + mean


def elastic(image: Image, strength: tuple[float, float, float], rng: np.random.Generator) -> Image:
    """A slight random affine map, then a smooth random displacement; lengths are shares of the image's side."""
    height, width = image.shape[:2]
    side = min(height, width)
    size, sigma, affine = (share * side for share in strength)
    centre = np.array([width // 2, height // 2], dtype=np.float32)
    reach = side // 3
    corners = centre + reach * np.array([[1, 1], [1, -1], [-1, -1]], dtype=np.float32)
    moved = (corners + rng.uniform(-affine, affine, size=(3, 2))).astype(np.float32)
    turned = cv2.warpAffine(
        image, cv2.getAffineTransform(corners, moved), (width, height), borderMode=cv2.BORDER_REFLECT_101
    )
    dx, dy = (size * smooth(rng.uniform(-1, 1, size=(height, width)).astype(np.float32), sigma) for _ in range(2))
    y, x = np.mgrid[:height, :width].astype(np.float32)
    return cv2.remap(turned, x + dx, y + dy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT).reshape(image.shape)


def pixelate(image: Image, strength: float, _: np.random.Generator) -> Image:
    """Made smaller and larger again, in blocks."""
    height, width = image.shape[:2]
    smaller = (max(1, int(width * strength)), max(1, int(height * strength)))
    small = cv2.resize(image, smaller, interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST).reshape(image.shape)


def jpeg(image: Image, strength: int, _: np.random.Generator) -> Image:
    """Compressed hard."""
    pixels = np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)
    bgr = pixels[..., ::-1] if pixels.shape[2] == 3 else pixels
    coded = cv2.imencode(".jpg", np.ascontiguousarray(bgr), [cv2.IMWRITE_JPEG_QUALITY, strength])[1]
    decoded: Any = cv2.imdecode(coded, cv2.IMREAD_COLOR if pixels.shape[2] == 3 else cv2.IMREAD_GRAYSCALE)
    decoded = decoded[..., ::-1] if pixels.shape[2] == 3 else decoded
    return (decoded.reshape(image.shape) / 255).astype(np.float32)
