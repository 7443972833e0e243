"""Our time against a peer's, in one run."""

import time
from collections.abc import Callable

ROUNDS = 7


def ratio(
    name: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    goal: float,
    peer_name: str,
    rounds: int = ROUNDS,
    times: int = 1,
) -> bool:
    """Time both sides in turn and print peer time, ``times`` over, over our time beside the goal.

    The shortest of all rounds counts: what else the machine does can only add.
    """
    ours(), peer()  # compile, allocate, warm up
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for k, side in enumerate((ours, peer)):
            start = time.perf_counter()
            side()
            best[k] = min(best[k], time.perf_counter() - start)
    mine, theirs = best[0], best[1] * times
    met = theirs / mine >= goal
    print(
        f"{name}: {1e3 * mine:.0f} ms, {peer_name} {1e3 * theirs:.0f} ms: {theirs / mine:.2f}x "
        f"(goal: at least {goal:.2g}x{'' if met else ', MISSED'})",
        flush=True,
    )
    return met
