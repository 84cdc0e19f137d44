"""A check of references: what sacreBLEU would do with them, in plain words."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What is said of each shape.
_SAID = tomllib.loads((Path(__file__).parents[1] / "data" / "references.toml").read_text("utf-8"))
_WANTED = _SAID["wanted"]


@dataclass(frozen=True)
class ReferenceShape:
    """The finding of `explain_reference_shape`.

    Attributes
    ----------
    verdict : {"ok", "flat", "transposed", "one list per hypothesis", "ambiguous", "length mismatch"}
        ``"flat"``: one plain list of references. ``"ambiguous"``: as many lists as hypotheses and all as long, which
        may be either orientation.
    n_hypotheses : int
    n_scored : int
        How many hypotheses sacreBLEU would score. It cuts to the shortest list and does not say so.
    explanation : str
        What it means and what to do, in one paragraph.
    signature : str
        The same in one line.
    """

    verdict: str
    n_hypotheses: int
    n_scored: int
    explanation: str

    @property
    def signature(self) -> str:
        """The verdict in one line."""
        return f"references:{self.verdict}|scored:{self.n_scored}/{self.n_hypotheses}"

    def __str__(self) -> str:
        return self.explanation


def _streams(references: Any) -> tuple[bool, list[list]]:
    """Return whether references are one flat list, and the references as a list of lists."""
    outer = list(references)
    if all(isinstance(item, str) or item is None for item in outer):
        return True, [outer]
    return False, [list(item) for item in outer]


def explain_reference_shape(hypotheses: Sequence[str], references: Sequence[Any]) -> ReferenceShape:
    """Explain in plain words how sacreBLEU would use references of this shape.

    From version 2.0 on, sacreBLEU pairs hypotheses and references with ``zip``, which stops at the shortest. If
    references are passed as ``[[r1], [r2], ...]`` instead of ``[[r1, r2, ...]]``, it scores only the first hypothesis,
    against all references, without an error.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations of one system.
    references : sequence
        What would be passed to ``sacrebleu.corpus_bleu`` and its siblings.

    Returns
    -------
    ReferenceShape
        Printing it gives the explanation.

    Raises
    ------
    ValueError
        If there are no hypotheses.

    See Also
    --------
    mtmeta.scoring.score_texts : it refuses such a shape.

    References
    ----------
    sacreBLEU 2.6.0, ``Metric._cache_references``.

    Examples
    --------
    >>> from mtmeta.scoring import explain_reference_shape
    >>> explain_reference_shape(["a b", "c d", "e f"], [["a b", "c d", "e g"]]).verdict
    'ok'
    >>> found = explain_reference_shape(["a b", "c d", "e f"], [["a b"], ["c d"], ["e g"]])
    >>> found.signature
    'references:transposed|scored:1/3'
    """
    n = len(hypotheses)
    if not n:
        raise ValueError("hypotheses are empty: there is nothing to score.")
    flat, streams = _streams(references)
    lengths = sorted(len(s) for s in streams)
    scored = min(n, *((len(text or "") for text in streams[0]) if flat else lengths))
    span = " to ".join(map(str, dict.fromkeys((lengths[0], lengths[-1]))))
    if flat:
        found = "flat" if lengths == [n] else "length mismatch of a plain list"
    elif lengths == [n] * n and n > 1:
        found = "ambiguous"
    elif set(lengths) == {n}:
        found = "ok"
    elif lengths == [1] * n:
        found = "transposed"
    else:
        found = "one list per hypothesis" if len(streams) == n else "length mismatch"
    words = {"n": n, "others": n - 1, "scored": scored, "span": span, "lists": len(streams), "wanted": _WANTED}
    words["references"] = "one reference" if len(streams) == 1 else f"{len(streams)} references"
    explanation = _SAID["explanations"][found].format(**words)
    return ReferenceShape(found.removesuffix(" of a plain list"), n, scored, explanation)


def check_references(hypotheses: Sequence[str], references: Sequence[Any]) -> list[list]:
    """Return one list per reference translation, as sacreBLEU wants them; raise an error that explains the trap."""
    found = explain_reference_shape(hypotheses, references)
    if found.verdict not in ("ok", "ambiguous", "flat"):
        raise ValueError(found.explanation)
    streams = _streams(references)[1]
    bare = [i for i, texts in enumerate(zip(*streams, strict=True)) if all(t is None for t in texts)]
    if bare:
        raise ValueError(
            f"{len(bare)} segment(s) have no reference, the first of them segment number {bare[0] + 1}. "
            "Score only segments with a reference."
        )
    return streams
