"""64-bit keys: of names, of decisions, and of what is more special than a key."""

import numpy as np

from abstain._kernels.compilation import array, byte, compiled, whole


@compiled()
def _mixed(x):  # type: ignore[no-untyped-def]
    """A 64-bit number from another, one to one, every bit of which depends on all."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled()
def joined_key(key, other):  # type: ignore[no-untyped-def]
    """The key of something more special, never 0."""
    special = np.int64(_mixed(np.uint64(key) + _mixed(np.uint64(other) + np.uint64(0x9E3779B97F4A7C15))))
    return special if special != 0 else np.int64(1)


@compiled()
def _rotated(x, bits):  # type: ignore[no-untyped-def]
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@compiled()
def _hashed(text, first, end):  # type: ignore[no-untyped-def]
    """SipHash-2-4 of bytes, with the key of its authors' test vectors."""
    k0, k1 = np.uint64(0x0706050403020100), np.uint64(0x0F0E0D0C0B0A0908)
    v0, v1 = k0 ^ np.uint64(0x736F6D6570736575), k1 ^ np.uint64(0x646F72616E646F6D)
    v2, v3 = k0 ^ np.uint64(0x6C7967656E657261), k1 ^ np.uint64(0x7465646279746573)
    length = end - first
    for block in range(length // 8 + 2):
        word = np.uint64(0)
        if block < length // 8:
            for j in range(8):
                word |= np.uint64(text[first + block * 8 + j]) << np.uint64(8 * j)
        elif block == length // 8:
            for j in range(length % 8):
                word |= np.uint64(text[first + block * 8 + j]) << np.uint64(8 * j)
            word |= np.uint64(length & 255) << np.uint64(56)
        else:
            v2 ^= np.uint64(255)
        v3 ^= word
        for _ in range(4 if block == length // 8 + 1 else 2):
            v0 += v1
            v2 += v3
            v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
            v0 = _rotated(v0, 32)
            v2 += v1
            v0 += v3
            v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
            v2 = _rotated(v2, 32)
        v0 ^= word
    return v0 ^ v1 ^ v2 ^ v3


@compiled((array(byte), array(whole), array(whole)))
def name_keys(text, ends, keys):  # type: ignore[no-untyped-def]
    """Keys of names that follow each other in ``text``, each up to its end; 0 of an empty one, and of no other."""
    first = 0
    for k in range(ends.size):
        end = ends[k]
        if end > first:
            key = np.int64(_hashed(text, first, end))
            keys[k] = key if key != 0 else 1
        else:
            keys[k] = 0
        first = end


@compiled((array(whole), array(whole), array(whole)))
def decision_digests(confidence, domain, digests):  # type: ignore[no-untyped-def]
    """32 bits of each confidence, given by its bits, and domain, given by its key; never 0."""
    for k in range(confidence.size):
        digest = np.int64(_mixed(np.uint64(confidence[k]) + _mixed(np.uint64(domain[k]))) >> np.uint64(32))
        digests[k] = digest if digest != 0 else 1
