"""Local metric accuracy: how often a metric prefers a text to its degraded version, context by context."""

from ._accuracy import local_accuracy
from ._derived import length_metric, natural_pairs, swap_effects
from ._effects import context_effect, ranking_effect
from ._guide import guide, scored_pairs
from ._pairs import metrics_of
from ._rankings import tau_ap
from ._stability import Recommendation, recommend, stability

__all__ = [
    "Recommendation", "context_effect", "guide", "length_metric", "local_accuracy", "metrics_of", "natural_pairs",
    "ranking_effect", "recommend", "scored_pairs", "stability", "swap_effects", "tau_ap",
]  # fmt: skip
