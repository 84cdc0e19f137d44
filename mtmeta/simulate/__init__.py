"""Simulated campaigns whose truth is known: texts, typed errors, raters and metrics; or scores alone.

`teaching` is the campaign that comes with the package, `campaign` makes others like it, of any size and from
any seed. `score_campaign` makes large ones without texts. ``python -m mtmeta.simulate --write`` writes the
files of the teaching campaign anew.
"""

from ._campaign import campaign
from ._frozen import teaching
from ._scores import score_campaign

__all__ = ["campaign", "score_campaign", "teaching"]
