"""Campaigns, assembled from documents, systems, errors, raters and metrics."""

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from .._checks import MAX_SEED, check_count
from ..evalset import EvalSet, Texts
from ._errors import ADDITION, AWKWARD, MISTRANSLATION, NON_TRANSLATION, Menu, weight
from ._random import DECIMALS, PLANTED, Draw, generator, normal, rounded, system_names
from ._sentences import LONGEST, SHORTEST, Sentence, Site, drawn
from ._wordings import Style, translate

#: Rates and probabilities, continuous metrics, discrete metrics; ``data/simulated.toml`` describes them.
SETTINGS, DETECTORS, DISCRETE = (PLANTED[section] for section in ("campaign", "detectors", "discrete"))
BIAS = 0.05
#: The numbers of a system and of a segment. Everything about single translations is kept by cell, systems outermost.
Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Error:
    """An error that is really there; ``site`` is None if nothing of the source was translated."""

    category: str
    severity: str
    site: Site | None = None
    trap: int = -1

    @property
    def weight(self) -> float:
        return weight(self.category, self.severity)


# -- difficulty ---------------------------------------------------------------------------


def _visible_difficulty(source: str, menu: Menu, domain: str) -> float:
    """Return the part of the difficulty that can be read off the source."""
    seen = {"per_log_words": math.log(len(source.split()) / 12), "per_comma": source.count(",")}
    seen |= {"per_ambiguous_word": menu.ambiguous()}
    return sum(SETTINGS[key] * value for key, value in seen.items()) + SETTINGS["domain"][domain]


# -- systems and their errors ------------------------------------------------------------


def _systems(seed: int, n_systems: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names, error rates and freedoms of wording."""
    names, draw = system_names(n_systems), Draw(seed, 3)
    ladder = [(i + 0.5) / n_systems - 0.5 for i in range(n_systems)]
    logs = [SETTINGS["rate_spread"] * draw.take(ladder) + 0.08 * draw.normal() for _ in names]
    freedom = [draw.between(SETTINGS["freedom"]) for _ in names]
    return names, np.array([SETTINGS["rate"] * math.exp(x) for x in logs]), np.array(freedom)


def _errors(seed: int, menus: Sequence[Menu], difficulty: np.ndarray, rates: np.ndarray) -> dict[Cell, list[_Error]]:
    """Return the errors of every translation; ``rates`` has a row per system, a column per segment.

    A segment has traps, the same for all systems; a system falls into one with a probability that grows with its error
    rate. It also makes slips of its own.
    """
    out: dict[Cell, list[_Error]] = {}
    for j, menu in enumerate(menus):
        draw = Draw(seed, 4, j)
        size = math.exp(difficulty[j])
        traps: list[tuple[Site, str, float]] = []
        for _ in range(draw.poisson(SETTINGS["traps"] * size)):
            drawn = menu.draw(draw, [site for site, _, _ in traps], provoked=True)
            if drawn is not None:
                traps.append((*drawn, math.exp(SETTINGS["strength_spread"] * draw.normal())))
        for k, rate in enumerate(rates[:, j].tolist()):
            faults = []
            for number, (site, severity, strength) in enumerate(traps):
                if draw.chance(1 - math.exp(-rate * strength)):
                    faults.append(_Error(site.category, severity, site, number))
            for _ in range(draw.poisson(SETTINGS["slips"] * rate * size)):
                drawn = menu.draw(draw, [f.site for f in faults], provoked=False)
                if drawn is not None:
                    faults.append(_Error(drawn[0].category, drawn[1], drawn[0]))
            if draw.chance(SETTINGS["non_translation"] * rate / SETTINGS["rate"]):
                faults = [_Error(NON_TRANSLATION, "major")]
            out[k, j] = faults
    return dict(sorted(out.items()))


def _outputs(
    seed: int, sentences: Sequence[Sentence], references: Sequence[str], faults: dict[Cell, list[_Error]],
    freedom: np.ndarray,
) -> dict[Cell, str]:  # fmt: skip
    """Return each translation."""
    draws = [Draw(seed, 5, k) for k in range(len(freedom))]
    out: dict[Cell, str] = {}
    for (k, j), errors in faults.items():
        if errors and errors[0].site is None:
            other = references[(j + 1 + int(draws[k].uniform() * (len(references) - 1))) % len(references)]
            out[k, j] = sentences[j].source if draws[k].chance(0.5) or len(references) == 1 else other
        else:
            style = Style(draws[k].uniform, float(freedom[k]))
            out[k, j] = translate(sentences[j], style, [error.site for error in errors])
    return out


# -- raters ------------------------------------------------------------------------------


def _raters(seed: int) -> dict[str, dict[str, float]]:
    """Return the habits of the raters."""
    draw, raters = Draw(seed, 6), {}
    for number in range(SETTINGS["raters"]):
        strict = draw.uniform()
        shares = {"miss_major": 1 - strict, "miss_minor": 1 - strict, "demote": 1 - strict}
        shares |= {"promote": strict, "over_marks": strict}
        habits = {habit: np.interp(share, (0, 1), SETTINGS[habit]) for habit, share in shares.items()}
        raters[f"rater{number + 1}"] = {habit: round(float(value), 4) for habit, value in habits.items()}
    return raters


def _rate(draw: Draw, habits: dict[str, float], faults: Sequence[_Error], n_words: int) -> list[_Error]:
    """Return what one rater marks in one translation."""
    marks = []
    for fault in faults:
        severity = fault.severity
        if fault.category == NON_TRANSLATION:
            return [_Error(NON_TRANSLATION, "major")]
        if draw.chance(habits[f"miss_{severity}"]):
            continue
        if severity == "major" and draw.chance(habits["demote"]):
            severity = "minor"
        elif severity == "minor" and fault.weight >= 1 and draw.chance(habits["promote"]):
            severity = "major"
        marks.append(_Error(fault.category, severity))
    for _ in range(draw.poisson(habits["over_marks"] * n_words / 10)):
        category = draw.weighted((AWKWARD, MISTRANSLATION, ADDITION), (0.6, 0.35, 0.05))
        severity = "major" if draw.chance(SETTINGS["over_major"]) else "minor"
        draw.uniform()  # the place of the mark, which the stored teaching campaign has
        marks.append(_Error(category, severity))
    return marks


def _ratings(
    seed: int, faults: dict[Cell, list[_Error]], documents: Sequence[str], n_words: Sequence[int]
) -> tuple[dict[Cell, list[_Error]], list[str], dict[str, dict[str, float]]]:
    """Return the marks of every translation, the rater of every segment, and the raters' habits."""
    raters, draw = _raters(seed), Draw(seed, 7)
    of_document = {document: draw.pick(list(raters)) for document in dict.fromkeys(documents)}
    who = [of_document[d] for d in documents]
    draws = {k: Draw(seed, 8, k) for k, _ in faults}
    marks = {(k, j): _rate(draws[k], raters[who[j]], errors, n_words[j]) for (k, j), errors in faults.items()}
    return marks, who, raters


def _penalties(marks: Iterable[Sequence[_Error]]) -> list[float]:
    """Return the human score of each translation: minus the weights of its marks."""
    return [-round(sum(mark.weight for mark in cell), 1) + 0.0 for cell in marks]


def rate_again(es: EvalSet, n_ratings: int = 2, *, seed: int = 1) -> EvalSet:
    """Add further ratings to a simulated campaign.

    The raters err as those of `campaign` do: each rating of a document is by one of them, drawn at random, who misses
    errors, misjudges their severity and marks correct words anew.

    Parameters
    ----------
    es : EvalSet
        As `campaign` or `teaching` returns it, all systems and segments.
    n_ratings : int
        Further ratings of each translation, at least 1.
    seed : int
        The same seed gives the same ratings.

    Returns
    -------
    EvalSet
        With further ratings, ``human_2``, ``human_3`` …: see `EvalSet.ratings`.

    Raises
    ------
    ValueError
        If ``n_ratings`` is below 1, or the set does not know which errors are there, or has lost segments or systems.

    See Also
    --------
    campaign : what is rated again.
    mtmeta.raters.ceiling : what a second rating is good for.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.rate_again(simulate.campaign(n_systems=3, n_segments=20, seed=1, texts=False))
    >>> es.further_ratings, es.metrics[:2], es.ratings.shape
    (('human_2', 'human_3'), ('Regressor', 'RegressorQE'), (3, 3, 20))
    """
    truth = es.truth or {}
    if es.shape != (truth.get("n_systems"), truth.get("n_segments")) or "raters" not in truth:
        raise ValueError(f"`es` must be a complete simulated campaign: the true errors of {es.name!r} are not known.")
    sentences, documents, _ = drawn(truth["seed"], es.shape[1])
    n_words = [len(s.source.split()) for s in sentences]
    faults: dict[tuple[str, int], list[_Error]] = {}
    columns = (truth["errors"][name] for name in ("system", "segment", "category", "severity"))
    for system, segment, category, severity in zip(*columns, strict=True):
        faults.setdefault((system, segment), []).append(_Error(category, severity))
    raters, made = truth["raters"], {}
    for number in range(check_count("n_ratings", n_ratings, 1)):
        draw = Draw(check_count("seed", seed, 0, MAX_SEED), 16, number)
        habits = {document: raters[draw.pick(list(raters))] for document in dict.fromkeys(documents)}
        marks = (
            _rate(draw, habits[documents[j]], faults.get((system, j + 1), []), n_words[j])
            for system, j in product(es.systems, range(es.shape[1]))
        )
        made[f"human_{number + 2}"] = np.where(np.isnan(es.human), np.nan, np.reshape(_penalties(marks), es.shape))
    return es.with_metrics(made | {name: es[name] for name in es.metrics})


# -- metrics -----------------------------------------------------------------------------


def _detected(rng: np.random.Generator, detect: tuple[float, float], shared: float, table: pd.DataFrame) -> np.ndarray:
    """Return which errors a metric detects; part of the decision is common to all systems in a trap."""
    own = rng.random(len(table))
    keys = table["segment"].to_numpy() * 64 + table["trap"].to_numpy()
    common = rng.random(int(keys.max()) + 1 if len(keys) else 1)[keys] if len(keys) else own
    use_common = (table["trap"].to_numpy() >= 0) & (rng.random(len(table)) < shared)
    threshold = np.where(table["major"].to_numpy(), *detect)
    return np.where(use_common, common, own) < threshold


def _sums(table: pd.DataFrame, values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the sum of ``values`` over the errors of each translation."""
    total = np.zeros(shape)
    np.add.at(total, (table["system"].to_numpy(), table["segment"].to_numpy()), values)
    return total


def _simulated_metrics(
    seed: int, table: pd.DataFrame, visible: np.ndarray, sources: Sequence[str], shape: tuple[int, int]
) -> dict[str, np.ndarray]:
    """Return the simulated metrics; ``table`` has one row per error."""
    scores: dict[str, np.ndarray] = {}
    weights = table["weight"].to_numpy()
    for number, (name, p) in enumerate(DETECTORS.items()):
        rng = generator(seed, 10, number)
        found = _detected(rng, p["detect"], p["shared"], table)
        score = 0.9 - p["per_point"] * _sums(table, np.where(found, weights, 0.0), shape) - p["difficulty"] * visible
        scores[name] = score + p["segment"] * normal(rng, (1, shape[1])) + p["noise"] * normal(rng, shape)
    for number, (name, p) in enumerate(DISCRETE.items()):
        rng = generator(seed, 11, number)
        found = _detected(rng, p["detect"], p["shared"], table)
        major = table["major"].to_numpy() ^ (rng.random(len(table)) < p["wrong_severity"])
        points = _sums(table, np.where(found, np.where(major, 5.0, 1.0), 0.0), shape)
        points += rng.random(shape) < p["false_minor"]
        points += 5.0 * (rng.random((1, shape[1])) < p["misread"])
        scores[name] = np.maximum(-points, p["lowest"])
    scores["SourceOnly"] = np.broadcast_to([source_only(s) for s in sources], shape).copy()
    scores["Random"] = generator(seed, 12).random(shape)
    return scores


def source_only(source: str) -> float:
    """Score a translation from its source alone: ``-log(characters) - 0.1 commas``.

    All translations of a segment get the same score.
    """
    return -math.log(len(source)) - 0.1 * source.count(",")


def _lexical_metrics(texts: Sequence[Sequence[str]], references: Sequence[str]) -> dict[str, np.ndarray]:
    """Return sentence BLEU, chrF and negated TER, as sacreBLEU computes them with its defaults."""
    from ..scoring import score_texts

    places: dict[tuple[str, int], int] = {}
    rows = np.array([[places.setdefault((text, j), len(places)) for j, text in enumerate(own)] for own in texts])
    distinct, given = [text for text, _ in places], [references[j] for _, j in places]
    of = {name: score_texts(distinct, given, name.lower(), level="segment") for name in ("BLEU", "chrF", "TER")}
    return {name: found.score[rows] for name, found in of.items()}


# -- putting together --------------------------------------------------------------------


def _error_table(faults: dict[Cell, list[_Error]]) -> pd.DataFrame:
    """Return one row per error that is there, numbered by system and segment."""
    rows = [(*cell, f.trap, f.category, f.severity, f.weight) for cell, errors in faults.items() for f in errors]
    table = pd.DataFrame(rows, columns=["system", "segment", "trap", "category", "severity", "weight"])
    table = table.astype({"system": int, "segment": int, "weight": float})  # which it is not without an error
    table["major"] = table["weight"] >= 5
    return table


def campaign(
    *,
    n_systems: int = 12,
    n_segments: int = 300,
    seed: int = 2024,
    texts: bool = True,
    lexical: bool = True,
    length_effect: float = 0.0,
    error_factor: float = 1.0,
    favour: float = BIAS,
) -> EvalSet:
    """Simulate an MQM campaign, German to English, whose truth is known.

    Sources and references come from a pool of documents that a synchronous grammar wrote; only the seed of the teaching
    campaign draws that campaign's documents. A system's output is a correct translation in its own wording, with typed
    errors. Each segment has traps that are the same for all systems, and a difficult source has more of them. A system
    falls into a trap with a probability that grows with its error rate, and makes slips of its own. Raters, one per
    document, miss errors, misjudge their severity and mark correct words. The human score is minus the sum of the
    weights they gave: major 5, minor 1, minor punctuation 0.1, non-translation 25.

    Parameters
    ----------
    n_systems, n_segments : int
        Sizes, at least 1; at most 2,000 segments.
    seed : int
        The same seed gives the same bytes, on every machine.
    texts : bool
        Whether to write the outputs. If not, the set has no texts and no lexical metrics; all other scores are the
        same. That is much faster.
    lexical : bool
        Whether to compute BLEU, chrF and TER of the outputs, if there are any. This takes most of the time.
    length_effect : float
        Length-dependent quality: the error rate of system k in a segment of w source words is its own rate times
        :math:`(w / w_0)^{b_k}`, with :math:`w_0` the geometric mean of w. The slopes :math:`b_k` are spaced evenly from
        ``-length_effect`` to ``length_effect``, in random order. Systems with a positive slope are at their best in
        short segments, the others in long ones. 0, the default, plants nothing.
    error_factor : float
        By how much the error rates of all systems are multiplied; below 1 there are more translations without an error.
    favour : float
        How many points ``Biased`` adds to every translation of one system; below 0 it takes them away.

    Returns
    -------
    EvalSet
        Metrics: BLEU, chrF and TER (negated: higher is better) per sentence, by sacreBLEU; simulated are ``Regressor``
        and ``RegressorQE`` (continuous, lower on difficult sources), ``Judge`` and ``Tagger`` (whole numbers, many
        ties), ``Biased`` (favours one system), ``SourceOnly`` (sees only the source) and ``Random``. ``truth`` holds
        what was planted:

        - ``seed``, ``n_systems``, ``n_segments``, ``settings``;
        - ``penalty``: MQM penalty of the errors that are there, shape (n_systems, n_segments), lower is better;
        - ``quality``: system to minus its mean penalty; ``rate``: system to its error rate; ``freedom``: system to the
          freedom of its wording;
        - ``difficulty``, ``visible_difficulty``: per segment, the log of the relative number of traps, and the part
          that can be read off the source;
        - ``difficulty_coefficient``: metric to points lost per unit of visible difficulty;
        - ``bias``: metric to the points it adds to a system;
        - ``metrics``: simulated metric to its settings, such as the share of major and of minor errors it detects;
        - ``raters``: rater to habits (probabilities; ``over_marks`` per ten words), ``rater``: who rated each segment;
        - ``errors``: columns of the table of errors that are there;
        - ``length_slope``, with a length effect only: system to :math:`b_k`.

    Raises
    ------
    TypeError
        If a size or the seed is not a whole number.
    ValueError
        If a size is below 1, ``n_segments`` above 2,000, or the seed negative.

    See Also
    --------
    teaching : the campaign of the book.
    rate_again : a second rating of it.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.campaign(n_systems=3, n_segments=20, seed=1, texts=False)
    >>> es.shape, es.metrics
    ((3, 20), ('Regressor', 'RegressorQE', 'Biased', 'Judge', 'Tagger', 'SourceOnly', 'Random'))
    >>> bool((es.human <= 0).all())
    True
    """
    n_systems, n_segments = check_count("n_systems", n_systems, 1), check_count("n_segments", n_segments, 1)
    seed = check_count("seed", seed, 0, MAX_SEED)
    sentences, documents, domains = drawn(seed, n_segments)
    sources = [s.source for s in sentences]
    menus = [Menu(s) for s in sentences]
    visible = np.array([_visible_difficulty(*about) for about in zip(sources, menus, domains, strict=True)])
    difficulty = visible + SETTINGS["hidden"] * normal(generator(seed, 13), visible.shape)
    names, rates, freedom = _systems(seed, n_systems)
    rates *= error_factor
    shape, n_words = (n_systems, n_segments), [len(t.split()) for t in sources]
    shuffle, steps = Draw(seed, 15), range(1 - n_systems, n_systems, 2)
    ladder = [length_effect * step / max(n_systems - 1, 1) for step in steps]
    slopes = [shuffle.take(ladder) for _ in names]
    logs = [math.log(n) for n in n_words]
    relative = [x - math.fsum(logs) / n_segments for x in logs]
    factors = np.array([[math.exp(b * x) for x in relative] for b in slopes])
    faults = _errors(seed, menus, difficulty, rates[:, None] * factors)
    table = _error_table(faults)
    penalty = np.round(_sums(table, table["weight"].to_numpy(), shape), 1)
    marks, who, raters = _ratings(seed, faults, documents, n_words)
    human = np.reshape(_penalties(marks.values()), shape)
    favoured = int(np.argsort(-penalty.mean(axis=1), kind="stable")[n_systems // 3])
    metrics = _simulated_metrics(seed, table, visible, sources, shape)
    metrics["Biased"][favoured] += favour
    errors = table.drop(columns="major").assign(system=np.array(names)[table["system"]], segment=table["segment"] + 1)
    written = None
    if texts:
        references = references_of(seed, sentences, documents)
        outputs = _outputs(seed, sentences, references, faults, freedom)
        translations = {name: tuple(outputs[k, j] for j in range(n_segments)) for k, name in enumerate(names)}
        if lexical:
            metrics = {**_lexical_metrics(list(translations.values()), references), **metrics}
        written = Texts(tuple(sources), {"refA": tuple(references)}, translations)
    truth = {"seed": seed, "n_systems": n_systems, "n_segments": n_segments}
    truth |= {"settings": copy.deepcopy(SETTINGS), "penalty": penalty, "quality": rounded(names, -penalty.mean(axis=1))}
    truth |= {"rate": rounded(names, rates), "freedom": rounded(names, freedom)}
    truth |= {"difficulty": np.round(difficulty, DECIMALS), "visible_difficulty": np.round(visible, DECIMALS)}
    truth |= {"difficulty_coefficient": {n: p["difficulty"] for n, p in DETECTORS.items()}}
    truth |= {"bias": {"Biased": {names[favoured]: favour}}, "metrics": copy.deepcopy({**DETECTORS, **DISCRETE})}
    truth |= {"raters": raters, "rater": who, "errors": {c: errors[c].tolist() for c in errors}}
    if length_effect:
        truth["length_slope"] = rounded(names, slopes)
    metrics = {n: np.round(v, DECIMALS) + 0.0 for n, v in metrics.items()}
    return as_set("campaign", human, metrics, names, documents, domains, written, truth)


def as_set(name, human, metrics, systems, documents, domains, texts, truth, spans=None) -> EvalSet:
    """Return a simulated campaign as an `EvalSet`."""
    made = {"source": f"simulated with seed {truth['seed']}", "annotation": "mqm", "reference": "refA", "left_out": {}}
    made["variants"] = dict.fromkeys(("RegressorQE", "Judge", "SourceOnly", "Random"), "src")
    about = {"language_pair": "de-en", "spans": spans, "truth": truth, "provenance": made}
    parts = {"systems": systems, "name": name, "documents": documents, "domains": domains, "texts": texts}
    return EvalSet(human, metrics, **parts, about=about)


def references_of(seed: int, sentences: Sequence[Sentence], documents: Sequence[str]) -> list[str]:
    """Return the reference translations; some documents are worded more freely than others."""
    draw = Draw(seed, 14)
    freedom = {d: draw.between(SETTINGS["reference_freedom"]) for d in dict.fromkeys(documents)}
    references = []
    for sentence, document in zip(sentences, documents, strict=True):
        text = ""
        while not SHORTEST <= len(text.split()) <= LONGEST:
            text = translate(sentence, Style(draw.uniform, freedom[document]))
        references.append(text)
    return references
