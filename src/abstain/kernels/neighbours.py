"""Keep the best few of many candidates by float32 products, and measure them exactly."""

import numpy as np

from abstain.kernels.compiled import array, compiled, double, flag, given, single, whole

TOGETHER = 32  # columns, far apart, whose largest is looked at before each of them


@compiled(fastmath={"nnan", "nsz", "reassoc"})
def _largest(products, halves, groups, tops):  # type: ignore[no-untyped-def]
    """Of the columns j, j + groups, j + 2 groups … the largest product − half; side by side, so in wide vectors."""
    for j in range(groups):
        tops[j] = products[j] - halves[j]
    for part in range(1, (products.size + groups - 1) // groups):
        start = part * groups
        more, less = products[start : start + groups], halves[start : start + groups]  # views: their loop is vectorised
        for j in range(more.size):
            value = more[j] - less[j]
            tops[j] = value if value > tops[j] else tops[j]


@compiled()
def _at_rank(tops, count, k):  # type: ignore[no-untyped-def]
    """The k-th largest of the first values, −inf if there are fewer; the places behind them are written to."""
    if count < k:
        return -np.float32(np.inf)
    best = tops[count : count + k]
    best[:] = -np.inf
    for s in range(count):
        if tops[s] > best[k - 1]:
            place = k - 1
            while place > 0 and tops[s] > best[place - 1]:
                best[place] = best[place - 1]
                place -= 1
            best[place] = tops[s]
    return best[k - 1]


@compiled((array(single, 2), array(single), whole, array(single), array(single, 2), array(whole, 2)))
def keep_largest(products, halves, offset, tops, values, index):  # type: ignore[no-untyped-def]
    """Insert each row's products − halves (columns offset …) into its best values, descending, and their index.

    The k-th largest of the largest of each group, for which ``tops`` has room, tells what cannot be among the k best.
    """
    columns, k = products.shape[1], values.shape[1]
    groups = (columns + TOGETHER - 1) // TOGETHER
    for i in range(products.shape[0]):
        row, best = products[i], values[i]
        _largest(row, halves, groups, tops)
        cut = _at_rank(tops, groups, k)
        for group in range(groups):
            if tops[group] < cut or not tops[group] > best[k - 1]:
                continue
            for j in range(group, columns, groups):
                value = row[j] - halves[j]
                if value >= cut and value > best[k - 1]:
                    place = k - 1
                    while place > 0 and value > best[place - 1]:
                        best[place] = best[place - 1]
                        index[i, place] = index[i, place - 1]
                        place -= 1
                    best[place] = value
                    index[i, place] = offset + j


@compiled(fastmath={"nsz", "reassoc"})
def _measured(query, row, by_distance):  # type: ignore[no-untyped-def]
    """The squared distance, or minus the product, in float64."""
    total = 0.0
    if by_distance:
        for t in range(query.size):
            apart = np.float64(query[t]) - np.float64(row[t])
            total += apart * apart
    else:
        for t in range(query.size):
            total -= np.float64(query[t]) * np.float64(row[t])
    return total


@compiled()
def _insert(best, value):  # type: ignore[no-untyped-def]
    place = best.size - 1
    if value < best[place]:
        while place > 0 and value < best[place - 1]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = value


@compiled(*((given(kind), given(kind), array(whole, 2), flag, array(double, 2)) for kind in (single, double)))
def measure_some(queries, bank, index, by_distance, best):  # type: ignore[no-untyped-def]
    """The lowest measures, ascending, of each query to the bank rows in index."""
    for i in range(index.shape[0]):
        best[i] = np.inf
        for c in range(index.shape[1]):
            _insert(best[i], _measured(queries[i], bank[index[i, c]], by_distance))


@compiled(
    *(
        (given(kind), given(kind), array(single, 2), array(single), array(double), flag, array(double, 2))
        for kind in (single, double)
    )
)
def measure_above(queries, bank, products, halves, cuts, by_distance, best):  # type: ignore[no-untyped-def]
    """Insert the measures of each query to the bank rows whose products − halves reach its cut."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            if np.float64(products[i, j] - halves[j]) >= cuts[i]:
                _insert(best[i], _measured(queries[i], bank[j], by_distance))
