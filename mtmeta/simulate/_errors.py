"""Errors of translations: their categories and weights, and the drawing of their sites."""

from collections.abc import Sequence

from ._random import PLANTED, Draw
from ._sentences import Sentence, Site

MISTRANSLATION = "Accuracy/Mistranslation"
ADDITION = "Accuracy/Addition"
PUNCTUATION = "Fluency/Punctuation"
AWKWARD = "Style/Awkward"
NON_TRANSLATION = "Non-translation"

#: How often an error is of each category: one that the source provokes, and one that a system makes of its own accord.
PROVOKED, CARELESS = PLANTED["provoked"], PLANTED["careless"]


def weight(category: str, severity: str) -> float:
    """Return the MQM weight: major 5, minor 1, minor punctuation 0.1, non-translation 25."""
    if category == NON_TRANSLATION:
        return 25.0
    if severity == "major":
        return 5.0
    return 0.1 if category == PUNCTUATION else 1.0


class Menu:
    """The sites of one sentence, for drawing errors that do not get in each other's way."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.by_category: dict[str, list[Site]] = {c: [] for c in {**PROVOKED, **CARELESS}}
        for site in sentence.sites:
            self.by_category[site.category].append(site)

    def ambiguous(self) -> int:
        """Return how many words of the source are easily mistaken for another sense."""
        return len({s.node for s in self.by_category[MISTRANSLATION] if s.odds >= 2})

    def _above(self, node: int) -> set[int]:
        """Return a node and those above it."""
        return {node, *self._above(self.sentence.parents[node])} if node >= 0 else set()

    def _free(self, category: str, taken: Sequence[Site]) -> list[Site]:
        """Return the sites of a category that can go wrong together with those taken."""
        keys = {key for site in taken for key in site.keys}
        dropped = {site.node for site in taken if site.kind == "drop"}
        kept = {node for site in taken for node in self._above(site.node)}
        return [
            site
            for site in self.by_category[category]
            if keys.isdisjoint(site.keys)
            and not (dropped and dropped & self._above(site.node))
            and not (site.kind == "drop" and site.node in kept)
        ]

    def draw(self, draw: Draw, taken: Sequence[Site], *, provoked: bool) -> tuple[Site, str] | None:
        """Draw a site that clashes with none of those taken, and its severity; None if no site is left."""
        shares = dict(PROVOKED if provoked else CARELESS)
        while shares:
            category = draw.weighted(list(shares), list(shares.values()))
            if free := [s for s in self._free(category, taken) if not (provoked and s.kind == "careless")]:
                site = draw.weighted(free, [s.odds for s in free])
                return site, "major" if draw.chance(site.major) else "minor"
            del shares[category]
        return None
