"""What ppi-python 0.2.3 computes from awkward ratings and scores, for tests that run without it.

`python tests/ppi.py` writes ppi.json. ppi-python needs statsmodels and gdown, and installs a package named `tests`, so
no extra has it: pip install ppi-python==0.2.3.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")


def inputs():
    """Yield ratings, scores of the rated and scores of the others, with few digits."""
    rng = np.random.default_rng(13)
    for k, (n, rest, slope, noise, shift) in enumerate(
        [
            (40, 160, 0.6, 0.5, 0),
            (30, 30, 1.5, 0.3, 0),  # a weight above 1 is cut
            (25, 100, -0.5, 0.5, 0),  # one below 0 as well
            (20, 200, 0.0, 1.0, 0),
            (15, 45, 0.8, 0.2, 1000),
            (60, 20, 0.9, 0.4, -3),  # more rated than not
            (3, 12, 0.7, 0.6, 0),
            (2, 9, 0.5, 0.1, 0),
            (50, 150, 0.03, 0.02, 0),  # ratings on a small scale
            (35, 70, 0.4, 0.5, 0),  # few distinct values
            (12, 80, 0.7, 0.0, 2),  # no residuals
            (10, 300, 0.9, 2.0, 50),
        ]
    ):
        m = rng.normal(size=n + rest).round(0 if k == 9 else 3)
        h = (slope * m[:n] + noise * rng.normal(size=n)).round(0 if k == 9 else 4) + shift
        yield h.tolist(), (m[:n] + shift).tolist(), (m[n:] + shift).tolist()


def computed(ratings, rated, rest):
    """Return the weight, the estimate and the ends of its 95 % interval, of a tuned weight and of the weight .5."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    from ppi_py.ppi import _calc_lam_glm

    h, m, others = (np.array(v)[:, None] for v in (ratings, rated, rest))
    tuned = _calc_lam_glm(h, m, others, np.eye(1), clip=True)
    found = {}
    for name, weight in (("tuned", None), ("half", 0.5)):
        ends = ppi_mean_ci(h, m, others, alpha=0.05, lam=weight)
        value = ppi_mean_pointestimate(h, m, others, lam=weight)
        found[name] = [tuned if weight is None else weight, *(np.asarray(v).item() for v in (value, *ends))]
    return found


if __name__ == "__main__":
    cases = [dict(zip(("ratings", "rated", "rest"), case, strict=True)) for case in inputs()]
    lines = [json.dumps(case | {"found": computed(**case)}) for case in cases]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
