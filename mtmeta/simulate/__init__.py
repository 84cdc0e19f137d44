"""Simulated campaigns whose truth is known: texts, typed errors, raters and metrics.

`teaching` is the campaign that comes with the package, `campaign` makes others like it, of any size and from
any seed. The sentences come from a pool that is part of the package.

`teaching_speech` and `teaching_ranking` are its siblings: transcripts with known word errors, and ranked lists for
users whose preferences are known.

`rate_again` lets further raters rate a simulated campaign.
"""

from ._campaign import campaign, rate_again
from ._frozen import teaching, teaching_ranking, teaching_speech

__all__ = [
    "campaign", "rate_again", "teaching", "teaching_ranking", "teaching_speech",
]  # fmt: skip
