"""Bodies of networks: from pixels in [0, 1], (b, c, h, w), to features (b, ``width``)."""
