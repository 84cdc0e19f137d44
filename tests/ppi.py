"""What ppi-python 0.2.3 computes from awkward ratings and scores, for tests that run without it.

`python tests/ppi.py` computes anew what ppi.json has found of each of its cases, which include weights cut at 0 and 1,
two ratings, more ratings than not, and no residuals. ppi-python needs statsmodels and gdown, and installs a package
named `tests`, so no extra has it: pip install ppi-python==0.2.3.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
CASES = json.loads(FILE.read_text(encoding="utf-8"))


def computed(case):
    """Return the weight, the estimate and the ends of its 95 % interval, of a tuned weight and of the weight .5."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    from ppi_py.ppi import _calc_lam_glm

    scores = [np.array(case[name])[:, None] for name in ("ratings", "rated", "rest")]
    tuned, found = _calc_lam_glm(*scores, np.eye(1), clip=True), {}
    for name, weight in (("tuned", None), ("half", 0.5)):
        values = ppi_mean_pointestimate(*scores, lam=weight), *ppi_mean_ci(*scores, alpha=0.05, lam=weight)
        found[name] = [weight or tuned, *(np.asarray(v).item() for v in values)]
    return found


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case | {"found": computed(case)}) for case in CASES)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
