"""Perturbations: slightly worse versions of translations, transcripts and rankings.

A metric should prefer an output to its perturbation. How often it does is its accuracy, which
`mtmeta.local_accuracy` computes; this module makes the pairs.
"""

from ._llm import LanguageModel
from ._rankings import perturb_rankings
from ._table import KINDS, perturb_table

__all__ = ["KINDS", "LanguageModel", "perturb_rankings", "perturb_table"]
