"""Compiled loops behind the permutation tests, on flat arrays cut into groups as in `mtmeta._agreement_kernels`."""

from __future__ import annotations

import math

import numpy as np

from .._agreement_kernels import tau_from_counts
from .._compiled import intrinsic, njit, prange, types


@njit(parallel=True)
def add_swapped_pearson(inside, total, human, sizes, first, second, sums, counts):
    """Add Pearson's r of both hybrids, for every pair of metrics, draw and group of a block.

    Parameters
    ----------
    inside : float64, (n_groups, n_metrics, 3, n_resamples)
        Sums over the masked cells of x, x^2 and x times human, human centred within the group.
    total : float64, (n_groups, n_metrics, 3)
        The same sums over all cells.
    human : float64, (n_groups,)
        Sum of squares of the centred human scores.
    sizes : float64, (n_groups,)
    first, second : int64, (n_pairs,)
        The metrics of each pair.
    sums, counts : float64, (2, n_pairs, n_resamples)
        Sum of r and number of groups where it is defined; added to.
    """
    n_groups, _, _, n_resamples = inside.shape
    for p in prange(len(first)):
        a, b = first[p], second[p]
        for g in range(n_groups):
            if human[g] == 0.0:
                continue
            n = sizes[g]
            # the sums below are differences of these: what is this much smaller is rounding
            least = 1e-13 * (total[g, a, 1] + total[g, b, 1])
            for k in range(n_resamples):
                for side in range(2):
                    x, y = (a, b) if side == 0 else (b, a)
                    s = total[g, x, 0] - inside[g, x, 0, k] + inside[g, y, 0, k]
                    ss = total[g, x, 1] - inside[g, x, 1, k] + inside[g, y, 1, k]
                    sh = total[g, x, 2] - inside[g, x, 2, k] + inside[g, y, 2, k]
                    variance = ss - s * s / n
                    if variance > least:
                        sums[side, p, k] += sh / math.sqrt(variance * human[g])
                        counts[side, p, k] += 1.0


@intrinsic
def _popcount(typingctx, word):
    """Count the bits of an unsigned 64-bit word with the processor's instruction."""

    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen


@njit(parallel=True)
def pair_masks(swap, starts, masks):
    """Say for each pair of cells of each group whether its first and whether its second cell is swapped, as bits.

    ``swap`` is (n_cells, n_resamples); ``masks`` (n_groups, n_words, 2, n_resamples) receives a bit for each pair. Bits
    are numbered in the order of the pairs (0, 1), (0, 2), …
    """
    n_resamples = swap.shape[1]
    masks[:] = 0
    for g in prange(len(starts) - 1):
        bit = 0
        for i in range(starts[g], starts[g + 1]):
            for j in range(i + 1, starts[g + 1]):
                place = np.uint64(bit & 63)
                one, other = masks[g, bit >> 6, 0], masks[g, bit >> 6, 1]
                for k in range(n_resamples):
                    one[k] |= np.uint64(swap[i, k]) << place
                for k in range(n_resamples):
                    other[k] |= np.uint64(swap[j, k]) << place
                bit += 1


@njit
def _sign_bits(human, x, y, rows, n_words):
    """Set bits for pairs (i, j) by comparing x_i with y_j: concordant, discordant, untied."""
    rows[:] = 0
    bit = 0
    n = len(human)
    for i in range(n):
        for j in range(i + 1, n):
            word, one = bit >> 6, np.uint64(1) << np.uint64(bit & 63)
            if x[i] != y[j]:
                rows[2, word] |= one
                if human[i] != human[j]:
                    rows[0 if (x[i] > y[j]) == (human[i] > human[j]) else 1, word] |= one
            bit += 1


@njit
def _add_taus(variant, kinds, untied_human, pairs, sums, counts):
    """Add the coefficient of each draw where it is defined; ``kinds`` is concordant, discordant, untied by draw."""
    for k in range(kinds.shape[1]):
        c, d, untied = float(kinds[0, k]), float(kinds[1, k]), float(kinds[2, k])
        tau = tau_from_counts(variant, c, d, untied, float(untied_human), float(pairs))
        if not math.isnan(tau):
            sums[k] += tau
            counts[k] += 1.0


@njit(parallel=True)
def add_swapped_tau(variant, human, scores, starts, masks, first, second, sums, counts):
    """Add a tau of both hybrids of each group, for every pair of metrics and draw.

    Parameters
    ----------
    variant : int
        See `tau_from_counts`.
    human : float64, (n_cells,)
    scores : float64, (n_metrics, n_cells)
    starts : int64, (n_groups + 1,)
        Where each group of cells begins.
    masks : uint64, (n_groups, n_words, 2, n_resamples)
        From `pair_masks`.
    first, second, sums, counts
        As in `add_swapped_pearson`.
    """
    n_words, n_resamples = masks.shape[1], masks.shape[3]
    # every part compares the scores anew, so it needs some draws to make that worth while
    n_parts = max(1, min(n_resamples // 128, 16 // max(1, min(len(first), 16))))
    for task in prange(len(first) * n_parts):
        p, part = task // n_parts, task % n_parts
        from_, to = part * n_resamples // n_parts, (part + 1) * n_resamples // n_parts
        bits = np.empty((4, 3, n_words), dtype=np.uint64)
        kinds = np.empty((2, 3, to - from_), dtype=np.int64)
        for g in range(len(starts) - 1):
            low, high = starts[g], starts[g + 1]
            h, a, b = human[low:high], scores[first[p], low:high], scores[second[p], low:high]
            pairs = (high - low) * (high - low - 1) // 2
            untied_human = 0
            for i in range(len(h)):
                for j in range(i + 1, len(h)):
                    untied_human += h[i] != h[j]
            _sign_bits(h, a, a, bits[0], n_words)
            _sign_bits(h, a, b, bits[1], n_words)
            _sign_bits(h, b, a, bits[2], n_words)
            _sign_bits(h, b, b, bits[3], n_words)
            kinds[:] = 0
            for w in range(n_words):
                one, other = masks[g, w, 0, from_:to], masks[g, w, 1, from_:to]
                for kind in range(3):
                    aa, ab, ba, bb = bits[0, kind, w], bits[1, kind, w], bits[2, kind, w], bits[3, kind, w]
                    count, mirrored = kinds[0, kind], kinds[1, kind]
                    for k in range(len(one)):
                        i, j = one[k], other[k]
                        count[k] += np.int64(_popcount(~i & (~j & aa | j & ab) | i & (~j & ba | j & bb)))
                    for k in range(len(one)):
                        i, j = one[k], other[k]
                        mirrored[k] += np.int64(_popcount(i & (j & aa | ~j & ab) | ~i & (j & ba | ~j & bb)))
            for side in range(2):
                _add_taus(variant, kinds[side], untied_human, pairs, sums[side, p, from_:to], counts[side, p, from_:to])


@njit(parallel=True)
def swapped_spa(inside, total, human_p, first, second, tolerance, values):
    """Compute SPA of both hybrids for every pair of metrics, in one draw of the swap mask.

    Parameters
    ----------
    inside, total : float64, (n_metrics, n_systems, 1 + n_signs)
        Signed sums over the masked and over all segments; entry 0 has all signs +1, the observed sum.
    human_p : float64, (n_system_pairs,)
    first, second : int64, (n_pairs,)
    tolerance : float
        Sums this close are equal.
    values : float64, (2, n_pairs)
        Receives the SPA of each hybrid.
    """
    _, n_systems, n_columns = inside.shape
    n_signs = n_columns - 1
    for p in prange(len(first)):
        a, b = first[p], second[p]
        hybrid = np.empty((n_systems, n_columns))
        for side in range(2):
            x, y = (a, b) if side == 0 else (b, a)
            for i in range(n_systems):
                for k in range(n_columns):
                    hybrid[i, k] = total[x, i, k] - inside[x, i, k] + inside[y, i, k]
            distance = 0.0
            pair = 0
            for i in range(n_systems):
                for j in range(i + 1, n_systems):
                    observed = hybrid[i, 0] - hybrid[j, 0]
                    above, not_below = 0, 0
                    for k in range(1, n_columns):
                        null = hybrid[i, k] - hybrid[j, k]
                        above += null > observed + tolerance
                        not_below += null >= observed - tolerance
                    distance += abs(human_p[pair] - 0.5 * (above + not_below) / n_signs)
                    pair += 1
            values[side, p] = 1.0 - distance / pair


#: Draws that `swapped_tau_large` counts side by side; their numbers lie beside each other, for the processor's
#: vector instructions.
DRAWS_TOGETHER = 128


@njit
def _kinds_in_order(rank, place, row, of_second, swap, draw, kinds):
    """Count the pairs of both hybrids of two metrics in some draws: concordant, discordant, not tied in the metric.

    Both metrics' scores come sorted together: ``rank`` (0 … k-1) is the human rank, ``place`` where the score stands
    (equal places are tied), ``row`` its line of ``swap``, ``of_second`` which metric it is from. Each score belongs to
    one hybrid or, where the mask is swapped, to the other: so what is counted in the first, taken from what is counted
    in all, gives the second. Scores that are passed are counted in Fenwick trees over human ranks, one a draw.
    ``kinds`` (2, 3, DRAWS_TOGETHER) is written over; its draws are those from column ``draw`` of ``swap``.
    """
    n, n_ranks, width = len(rank), rank.max() + 1, min(DRAWS_TOGETHER, swap.shape[1] - draw)
    tree, equal = np.zeros((n_ranks + 1, DRAWS_TOGETHER), np.int32), np.zeros((n_ranks, DRAWS_TOGETHER), np.int32)
    all_tree, all_equal = np.zeros(n_ranks + 1, np.int32), np.zeros(n_ranks, np.int32)
    seen, run, lower = (
        np.zeros(DRAWS_TOGETHER, np.int32),
        np.zeros(DRAWS_TOGETHER, np.int32),
        np.zeros(DRAWS_TOGETHER, np.int32),
    )
    higher, inside = np.zeros(DRAWS_TOGETHER, np.int32), np.zeros(DRAWS_TOGETHER, np.int32)
    kinds[:] = 0
    start = 0
    while start < n:
        end = start + 1
        while end < n and place[end] == place[start]:
            end += 1
        for i in range(start, end):
            line, turn = swap[row[i]], of_second[i] ^ 1
            for k in range(width):
                inside[k] = -np.int32(line[draw + k] ^ turn)  # all bits are set where it belongs to the first hybrid
            lower[:] = 0
            all_lower, node = np.int32(0), rank[i]
            while node > 0:
                all_lower += all_tree[node]
                for k in range(DRAWS_TOGETHER):
                    lower[k] += tree[node, k]
                node &= node - 1
            all_higher = np.int32(start - all_lower - all_equal[rank[i]])
            for k in range(DRAWS_TOGETHER):
                higher[k] = seen[k] - lower[k] - equal[rank[i], k]
            for k in range(DRAWS_TOGETHER):
                kinds[0, 0, k] += lower[k] & inside[k]
            for k in range(DRAWS_TOGETHER):
                kinds[0, 1, k] += higher[k] & inside[k]
            for k in range(DRAWS_TOGETHER):
                kinds[1, 0, k] += (all_lower - lower[k]) & ~inside[k]
            for k in range(DRAWS_TOGETHER):
                kinds[1, 1, k] += (all_higher - higher[k]) & ~inside[k]
        run[:] = 0
        for i in range(start, end):
            line, turn = swap[row[i]], of_second[i] ^ 1
            for k in range(width):
                inside[k] = line[draw + k] ^ turn
            for k in range(DRAWS_TOGETHER):
                run[k] += inside[k]
            for k in range(DRAWS_TOGETHER):
                equal[rank[i], k] += inside[k]
            all_equal[rank[i]] += 1
            node = rank[i] + 1
            while node <= n_ranks:
                all_tree[node] += 1
                for k in range(DRAWS_TOGETHER):
                    tree[node, k] += inside[k]
                node += node & -node
        # untied in the metric: with those of the hybrid that were seen before this run of equal scores
        for k in range(DRAWS_TOGETHER):
            kinds[0, 2, k] += np.int64(run[k]) * seen[k]
        for k in range(DRAWS_TOGETHER):
            kinds[1, 2, k] += np.int64(end - start - run[k]) * (start - seen[k])
        for k in range(DRAWS_TOGETHER):
            seen[k] += run[k]
        start = end


@njit(parallel=True)
def swapped_tau_large(variant, human, scores, starts, swap, first, second, sums, counts):
    """Do the work of `add_swapped_tau` for groups too large for bit masks.

    ``human`` holds dense ranks, ``swap`` is (n_cells, n_resamples). The scores of both metrics are sorted together once
    for each pair of metrics, whatever the draw.
    """
    n_resamples, n_ranks = swap.shape[1], human.max() + 1
    n_blocks = (n_resamples + DRAWS_TOGETHER - 1) // DRAWS_TOGETHER
    n_parts = max(1, min(n_blocks, 64 // max(1, min(len(first), 64))))
    for task in prange(len(first) * n_parts):
        p, part = task // n_parts, task % n_parts
        a, b = scores[first[p]], scores[second[p]]
        kinds = np.empty((2, 3, DRAWS_TOGETHER), dtype=np.int64)
        for g in range(len(starts) - 1):
            low, size = starts[g], starts[g + 1] - starts[g]
            both = np.concatenate((a[low : low + size], b[low : low + size]))
            order = np.argsort(both, kind="mergesort")
            place, of_second = np.zeros(2 * size, dtype=np.int32), np.empty(2 * size, dtype=np.uint8)
            row, rank = np.empty(2 * size, dtype=np.int64), np.empty(2 * size, dtype=np.int64)
            for i in range(2 * size):
                of_second[i] = order[i] >= size
                row[i] = low + order[i] - size * of_second[i]
                rank[i] = human[row[i]]
                if i > 0:
                    place[i] = place[i - 1] + (both[order[i]] > both[order[i - 1]])
            counted = np.zeros(n_ranks, dtype=np.int64)
            for i in range(low, low + size):
                counted[human[i]] += 1
            tied_human = (counted * (counted - 1) // 2).sum()
            pairs = size * (size - 1) // 2
            for block in range(part, n_blocks, n_parts):
                draw = block * DRAWS_TOGETHER
                _kinds_in_order(rank, place, row, of_second, swap, draw, kinds)
                end = min(draw + DRAWS_TOGETHER, n_resamples)
                for side in range(2):
                    found = kinds[side, :, : end - draw]
                    _add_taus(
                        variant, found, pairs - tied_human, pairs, sums[side, p, draw:end], counts[side, p, draw:end]
                    )


@njit(parallel=True)
def hybrid_systems(correlate, human, order, sums, counts, tolerance, first, second, values):
    """Compute a statistic of system means for both hybrids of every pair of metrics in every draw.

    Parameters
    ----------
    correlate : bool
        Pearson's r with the human scores, or else the share of pairs of systems in the order of the humans.
    human : float64, (n_systems,)
    order : float64, (n_system_pairs,)
        The sign of the human difference.
    sums, counts : float64, (n_metrics, n_systems, n_draws)
        Sums of scores and numbers of segments over units, times the sign of the unit; with all signs 1 in draw 0.
    tolerance : float
        Means this close are tied.
    first, second : int64, (n_pairs,)
        The metrics of each pair.
    values : float64, (n_pairs, n_draws)
        Receives the difference of the two hybrids.
    """
    n_systems, n_draws = sums.shape[1:]
    h = human - human.mean()
    for p in prange(len(first)):
        a, b = first[p], second[p]
        mean = np.empty(n_systems)
        for k in range(n_draws):
            difference = 0.0
            for side in (1.0, -1.0):
                for s in range(n_systems):
                    total = sums[a, s, 0] + sums[b, s, 0] + side * (sums[a, s, k] - sums[b, s, k])
                    mean[s] = total / (counts[a, s, 0] + counts[b, s, 0] + side * (counts[a, s, k] - counts[b, s, k]))
                value = 0.0
                if correlate:
                    centred = mean - mean.mean()
                    squares = (centred**2).sum() * (h**2).sum()
                    if squares > tolerance**2:
                        value = (centred * h).sum() / math.sqrt(squares)
                else:
                    pair = 0
                    for i in range(n_systems):
                        for j in range(i + 1, n_systems):
                            d = mean[i] - mean[j]
                            value += (0.0 if abs(d) <= tolerance else math.copysign(1.0, d)) == order[pair]
                            pair += 1
                    value /= pair
                difference += side * value
            values[p, k] = difference


@njit(parallel=True)
def add_hybrid_gaps(human, sums, squares, first, second, gaps):
    """Add how much nearer the first hybrid's p-values of pairs of systems are to the humans' than the second's.

    Parameters
    ----------
    human : float64, (n_system_pairs,)
    sums, squares : float64, (n_metrics, n_system_pairs, n_draws)
        Sums of segment differences and of their squares over units, times the sign of the unit; all 1 in draw 0.
    first, second : int64, (n_pairs,)
    gaps : float64, (n_pairs, n_draws)
        Added to.
    """
    for p in prange(len(first)):
        a, b = first[p], second[p]
        for pair in range(len(human)):
            for k in range(sums.shape[2]):
                for side in (1.0, -1.0):
                    total = sums[a, pair, 0] + sums[b, pair, 0] + side * (sums[a, pair, k] - sums[b, pair, k])
                    square = squares[a, pair, 0] + squares[b, pair, 0]
                    square += side * (squares[a, pair, k] - squares[b, pair, k])
                    # both are twice a hybrid's; z is total / 2 over the root of square / 2
                    value = 0.5 * math.erfc(0.5 * total / math.sqrt(square)) if square > 1e-20 else 0.5
                    gaps[p, k] -= side * abs(human[pair] - value)
