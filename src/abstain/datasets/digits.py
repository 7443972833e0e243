"""The example data in the package: outputs of a small network on 4,684 images of handwritten digits."""

from importlib.resources import files

import numpy as np

from abstain.outputs import Outputs

FILE = "digits.npz"


def digits() -> Outputs:
    """Outputs of a small network that knows the digits 0–7: on test digits, on corrupted copies, and on 8 and 9.

    They are data (float32), not a computation, so that every example has the same numbers on every machine. The
    network that made them is in `abstain.datasets.digits_network`; `abstain demo --retrain` trains one like it.

    Returns
    -------
    Outputs
        Logits, labels, features and head. `shift` is ``none`` for the test digits (`domain` ``clean``), ``covariate``
        for their copies (``noise``, ``blur``, ``tilt``, ``fade``) and ``label`` for 8 and 9; `ids` name the images.

    Examples
    --------
    >>> digits()
    Outputs(n=4684, classes=8, with logits, labels, features, domain, ids, weight, bias;
            shift: 3464 covariate, 354 label, 866 none)
    """
    with files("abstain.datasets").joinpath(FILE).open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        fields = {name: arrays[name] for name in arrays.files if name != "about"}
    return Outputs(**fields)
