"""The formulas of BLEU, chrF and TER on arrays of sums; tested to equal sacreBLEU, which scores one at a time."""

import numpy as np

MAX_ORDER = 4
CHAR_ORDER, BETA = 6, 2
_EPSILON = 1e-16


def columns(metric: str) -> tuple[str, ...]:
    """Return what sacreBLEU counts per segment, in its order."""
    if metric == "bleu":
        orders = range(1, MAX_ORDER + 1)
        return ("hyp_len", "ref_len", *(f"match_{n}" for n in orders), *(f"total_{n}" for n in orders))
    if metric == "ter":
        return ("edits", "ref_len")
    units = [f"char_{n}" for n in range(1, CHAR_ORDER + 1)]
    units += [f"word_{n}" for n in (1, 2)] if metric == "chrf++" else []
    return tuple(f"{what}_{unit}" for unit in units for what in ("hyp", "ref", "match"))


def score(metric: str, sums: np.ndarray, effective_order: bool) -> np.ndarray:
    """Return the scores of sums of counts.

    Parameters
    ----------
    metric : {"bleu", "chrf", "chrf++", "ter"}
    sums : numpy.ndarray, shape (..., n_counts)
        In the order of `columns`.
    effective_order : bool

    Returns
    -------
    numpy.ndarray, shape (...)
        Higher is better: TER is negated.
    """
    if metric == "bleu":
        return _bleu(sums, effective_order)
    return -_ter(sums) if metric == "ter" else _chrf(sums, effective_order)


def _divide(a: np.ndarray, b: np.ndarray, otherwise: float) -> np.ndarray:
    return np.divide(a, b, out=np.full(np.broadcast(a, b).shape, otherwise), where=b > 0)


def _bleu(sums: np.ndarray, effective_order: bool) -> np.ndarray:
    """Return BLEU with exponential smoothing: the k-th order without a match counts 1 / 2**k matches."""
    hyp, ref = sums[..., 0], sums[..., 1]
    match, total = sums[..., 2 : 2 + MAX_ORDER], sums[..., 2 + MAX_ORDER :]
    there = total > 0
    unmatched = (match == 0) & there
    smoothed = np.where(unmatched, np.exp2(-np.cumsum(unmatched, axis=-1)), match)
    logs = np.log(100 * _divide(smoothed, total, 1.0), where=there, out=np.zeros(total.shape))
    order = there.sum(axis=-1)
    if effective_order:
        mean = logs.sum(axis=-1) / np.maximum(order, 1)
    else:  # an order without n-grams has precision 0, and so has their geometric mean
        mean = np.where(order == MAX_ORDER, logs.sum(axis=-1) / MAX_ORDER, -np.inf)
    penalty = np.where(hyp < ref, np.exp(np.minimum(1 - _divide(ref, hyp, np.inf), 0)), 1.0)
    return np.where(match.any(axis=-1), penalty * np.exp(mean), 0.0)


def _chrf(sums: np.ndarray, effective_order: bool) -> np.ndarray:
    """Return chrF: F of the mean precision and recall over orders; with epsilon, the mean of their F."""
    hyp, ref, match = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 3), -1, 0)
    factor = BETA**2
    if not effective_order:
        precision, recall = _divide(match, hyp, _EPSILON), _divide(match, ref, _EPSILON)
        by_order = _divide((1 + factor) * precision * recall, factor * precision + recall, _EPSILON)
        return 100 * by_order.mean(axis=-1)
    there = (hyp > 0) & (ref > 0)
    n = np.maximum(there.sum(axis=-1), 1)
    precision = np.where(there, _divide(match, hyp, 0.0), 0.0).sum(axis=-1) / n
    recall = np.where(there, _divide(match, ref, 0.0), 0.0).sum(axis=-1) / n
    return 100 * _divide((1 + factor) * precision * recall, factor * precision + recall, 0.0)


def _ter(sums: np.ndarray) -> np.ndarray:
    """Return edits per 100 words of the reference; 100 where the reference is empty and the translation is not."""
    edits, length = sums[..., 0], sums[..., 1]
    return 100 * np.where(length > 0, _divide(edits, length, 0.0), (edits > 0) * 1.0)
