"""The chance that a random walk ever falls to a boundary, from every time on."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, double, whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled(
    (
        array(whole, 2),
        array(whole),
        array(double, 2),
        array(whole),
        array(double, 2),
        array(whole),
        double,
        array(double, 2),
    ),
    allocates=True,
)
def crossing_chances(
    boundaries: Ints,
    bottoms: Ints,
    places: Floats,
    kinds: Ints,
    steps: Floats,
    least: Ints,
    enough: float,
    found: Floats,
) -> None:
    """found[i, j] = P(∃ j' ≥ j: W_j' ≤ boundaries[i, j']), or 1 once it is above ``enough``.

    At time j the walk is at bottoms[j] + w with chance places[j, w]; from j to j + 1 it goes up by least[kind] + x with
    chance steps[kind, x], kind = kinds[j]. Each boundary is swept from the last time to the first, with the chance of
    ever crossing for each place of the walk; below the places held it has crossed, above them it never will.
    """
    times, width = places.shape
    later, now = np.empty(width), np.empty(width)
    for i in range(boundaries.shape[0]):
        later[:] = 0.0
        begun = False
        for j in range(times - 1, -1, -1):
            found[i, j] = 0.0
            if not begun and boundaries[i, j] < 0:
                continue
            if begun:
                kind = kinds[j]
                shift = bottoms[j] - bottoms[j + 1] + least[kind]
                now[:] = 0.0
                for x in range(steps.shape[1]):
                    chance, up = steps[kind, x], shift + x
                    if chance > 0.0:
                        for w in range(max(0, -up), min(width, width - up)):
                            now[w] += chance * later[w + up]
                        for w in range(min(max(0, -up), width)):
                            now[w] += chance
            else:
                now[:] = 0.0
                begun = True
            for w in range(min(width, max(0, boundaries[i, j] - bottoms[j] + 1))):
                now[w] = 1.0
            total = 0.0
            for w in range(width):
                total += places[j, w] * now[w]
            found[i, j] = total
            if total > enough:
                found[i, : j + 1] = 1.0
                break
            later, now = now, later
