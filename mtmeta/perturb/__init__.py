"""Perturbations: slightly worse versions of translations, transcripts and rankings.

A metric should prefer an output to its perturbation. How often it does is its accuracy, which
`mtmeta.local_accuracy` computes; this module makes the pairs.
"""

from ._edits import PHONETIC
from ._llm import PROMPTS, LanguageModel
from ._rankings import N_SWAPS, perturb_rankings, swap_items
from ._table import KINDS, applicability, apply, gather_entities, kinds, perturb_table, resources

__all__ = [
    "KINDS",
    "N_SWAPS",
    "PHONETIC",
    "PROMPTS",
    "LanguageModel",
    "applicability",
    "apply",
    "gather_entities",
    "kinds",
    "perturb_rankings",
    "perturb_table",
    "resources",
    "swap_items",
]
