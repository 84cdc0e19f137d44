"""The answers to the exercises, each computed now: `ex_01_four` answers the exercise ex-01-four.

Parameters are what `check` must be given. A function returns the right answer (see `_compare.complaints`); or, if a
parameter is called ``answer``, yields what is off with that.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
from scipy import stats

from ... import differences, scoring, sentinel, sysdep, ties
from ... import local_accuracy as la
from ...agreement import correlate, correlate_groups, decompose_pearson
from ...agreement.units import exchange_units
from ...estimation import ratings_saved
from ...evalset import EvalSet
from ...raters import ceiling
from ...significance import Comparison, intervals
from ._compare import Expected, NoAnswer, complaints


def _values(es: EvalSet, **how: str) -> pd.Series:
    return correlate(es, **how).set_index("metric")["value"]


def _value(es: EvalSet, scores: np.ndarray, **how: str) -> float:
    return _values(es.with_metrics({"made": np.broadcast_to(scores, es.shape)}), **how)["made"]


def _three_ways(es: EvalSet, scores: dict[str, np.ndarray]) -> pd.DataFrame:
    made = es.with_metrics(scores)
    return pd.DataFrame({way: _values(made, grouping=way) for way in ("none", "system", "segment")})


def _claims(*true: str) -> Callable[[], list[str]]:
    """Return the answer to an exercise on claims that are true, or not, on all data."""
    return lambda: list(true)


# -- chapter 1: scores and agreement ---------------------------------------------------------


def ex_01_four() -> dict:
    es = EvalSet([[0, -4], [-2, -6]], {"m": [[8, 4], [6, 4]]}, systems=["A", "B"])
    split = decompose_pearson(es).iloc[0]
    return {"segment": _values(es)["m"], "none": split["value"], "between": split["between"], "within": split["within"]}


def ex_01_both(answer: object, es: EvalSet) -> Iterator[str]:
    scores = np.asarray(answer)
    if scores.shape != es.shape or scores.dtype.kind not in "fiu":
        yield f"expected numbers of shape {es.shape}; found {scores.dtype} of shape {scores.shape}"
        return
    rated = np.isfinite(es.human)
    if not np.isfinite(scores[rated]).all():
        yield "it must have a score wherever the humans have one"
        return
    scores = np.where(rated, scores, np.nan)
    if _value(es, scores, grouping="none") < 0.9 * np.sqrt(decompose_pearson(es)["human_between"][0]):
        yield "the correlation without grouping is too far below the highest that a source-only metric can get"
    if _value(es, scores) >= 0:
        yield "within segments the correlation is not negative"


ex_01_claims = _claims("c", "d")  # a depends on the grouping, b on a number that is not reported


# -- chapter 2: significance -----------------------------------------------------------------


def ex_02_ties() -> float:
    return stats.binomtest(9, 10, alternative="greater").pvalue


def ex_02_systems(es: EvalSet) -> Expected:
    units = exchange_units(es).unit, "both"
    drawn = [intervals(es, [_values(es).idxmax()], unit=u, n_resamples=300, rng=0) for u in units]
    table = pd.concat(drawn).set_axis(["texts", "both"])[["low", "high"]]
    # The quantile at .025 of 300 normal draws has a standard error of .15 sd: .08 of half the interval.
    half = (table["high"] - table["low"]).to_numpy()[:, None] / 2
    return Expected(table, 4 * np.sqrt(2) * 0.08 * half * np.ones((1, 2)))


def ex_02_own(ranking: Comparison) -> float:
    return ranking.p_values.iloc[0, 1]


# -- chapter 3: system dependence ------------------------------------------------------------


def ex_03_rate(answer: Callable) -> Iterator[str]:
    rates = {f"f({e:.3g})": e for e in (0.0, 0.05, 0.1, 0.2, 0.35, 0.5)}
    try:
        found = {name: answer(e) for name, e in rates.items()}
    except Exception as error:
        yield f"calling it raises {type(error).__name__}: {error}"
    else:
        yield from complaints(found, pd.Series({name: 32 * e * (1 - e) for name, e in rates.items()}))


ex_03_claims = _claims("c")


def ex_03_own(answer: object, es: EvalSet) -> Iterator[str]:
    # The mean of masked arrays, because nanmean warns where nobody has a score.
    varied = [es[m] for m in es.metrics if np.nanstd(es[m]) > 0]
    standard = [(scores - np.nanmean(scores)) / np.nanstd(scores) for scores in varied]
    mean = np.ma.masked_invalid(standard).mean(axis=0).filled(np.nan)
    mine = sysdep.centre_segments(es.with_metrics({"mine": mean}))
    both = [sysdep.deviations_both_ways(mine, "mine", level=level, rng=0) for level in (0.9, 0.98)]
    many, few = (set(table.loc[table["verdict"] != "undecided", "system"]) for table in both)
    systems = answer.get("systems") if isinstance(answer, Mapping) else None
    named = set(map(str, systems)) if isinstance(systems, Collection) else set()
    forward = both[0]["forward"]  # a system near the limit may be on either side of it
    yield from complaints(answer, {"systems": (named & many) | few, "range": forward.max() - forward.min()})


# -- chapter 4: grouping and sentinels -------------------------------------------------------


def ex_04_length(es: EvalSet) -> pd.DataFrame:
    if es.texts is None or not (es.texts.sources and es.texts.translations):
        raise NoAnswer("they lack sources or translations")
    texts = {"of source": [es.texts.sources] * es.shape[0]}
    texts["of translation"] = [es.texts.translations[system] for system in es.systems]
    lengths = {name: pd.DataFrame(rows).map(len, na_action="ignore") for name, rows in texts.items()}
    return _three_ways(es, {name: -table.to_numpy(dtype=float) for name, table in lengths.items()})


def ex_04_round(es: EvalSet) -> pd.DataFrame:
    best, rows = es[_values(es).idxmax()], {}
    for step in (0, 0.5, 1, 2, 3):
        scores = best if step == 0 else np.round(best / (step * np.nanstd(best)))
        rows[step] = [_value(es, scores, degenerate=d) for d in ("drop", "zero")]
    return pd.DataFrame(rows, index=["dropped", "as 0"]).T


def ex_04_own(es: EvalSet, sentinel: str) -> dict:
    values = _values(es, grouping="none")
    return {"place": int((values > values[sentinel]).sum()) + 1, "beaten": int((values < values[sentinel]).sum())}


# -- chapter 5: training sentinels -----------------------------------------------------------


def ex_05_carries(frame: pd.DataFrame, test: EvalSet, judged: EvalSet) -> dict:
    end = int(frame["source"].str.len().quantile(0.1))
    changes = {"hidden": lambda s: s.str.replace(r"[^\W_]", "x", regex=True), "cut": lambda s: s.str[:end]}
    found = {"plain": _values(judged, grouping="none")["the source"]}
    for name, change in changes.items():
        fitted = sentinel.fit(frame.assign(source=change(frame["source"])), sees="source")
        scores = fitted.score(change(pd.Series(test.texts.sources)).tolist())
        found[name] = _value(test, scores, grouping="none")
    return found


def ex_05_claim(curves: pd.DataFrame) -> dict:
    runs = curves[curves["grouping"] == "segment"].set_index(["sees", "n", "run"])["value"]
    if "candidate" not in runs.index.get_level_values("sees"):
        raise NoAnswer("the sets have no candidates")
    own = runs["candidate"]
    leads = {"above 0": own, "above the twin": own - runs["candidate twin"]}
    least = {key: values.groupby("n").min() for key, values in leads.items()}
    return {key: min(values.index[values > 0], default=np.nan) for key, values in least.items()}


def ex_05_own(frame: pd.DataFrame, es: EvalSet, test: EvalSet, judged: EvalSet) -> dict:
    earned = _values(judged, grouping="none")["the source"]
    others = [*es.texts.translations.values(), *es.texts.references.values()]
    texts = {*es.texts.sources, *(text for own in others for text in own)}
    known = {t for column in ("source", "reference", "translation") if column in frame for t in frame[column].dropna()}
    return {"beaten": int((_values(test, grouping="none") < earned).sum()), "unseen": not texts & known}


# -- chapter 6: ties -------------------------------------------------------------------------


def ex_06_three() -> dict:
    three = EvalSet(np.array([[2], [2], [1]]), {"m": np.array([[0.5], [0.4], [0.1]])}, systems=list("ABC"))
    found = ties.calibrate_ties(three, "m")
    return {"threshold": found.epsilon, "acc_eq": found.value}


def ex_06_third(es: EvalSet, metric: str) -> dict:
    i, j = np.triu_indices(es.shape[0], 1)
    dh, dm = es.human[i] - es.human[j], es[metric][i] - es[metric][j]
    n, tied = (~np.isnan(dh)).sum(), (dh == 0).sum()
    both, alone = ((dm == 0) & (dh == 0)).sum(), ((dm == 0) & ~np.isnan(dh) & (dh != 0)).sum()
    return {"u": 1 / 3, "share": float(tied * alone / (tied * alone + 2 * both * (n - tied)))}


def ex_06_own(field: EvalSet, metric: str) -> dict:
    accuracy = _values(field, coefficient="acc_eq")
    expected = ties.expected_accuracy(field).set_index("metric")["value"]
    tau = stats.kendalltau(accuracy, expected[accuracy.index]).statistic
    gain = accuracy[f"{metric} + noise"] - accuracy[metric]
    return {"tie share": ties.human_tie_share(field), "gain": gain, "tau": tau}


# -- chapter 7: local accuracy in translation ------------------------------------------------


def ex_07_ties(four: pd.DataFrame) -> pd.DataFrame:
    pairs, rules = la.length_metric(four), ("failure", "half")
    tables = {rule: la.local_accuracy(pairs, context=None, n_resamples=0, ties=rule) for rule in rules}
    return pd.DataFrame({rule: table.set_index("metric")["accuracy"] for rule, table in tables.items()})


def ex_07_claim(four: pd.DataFrame, es: EvalSet) -> dict:
    part = four[four["segment"].isin(es.segments[:25])]
    test = la.ranking_effect(part, context="system", n_resamples=499, rng=0).loc[0]
    return {"tau_ap": test["tau_ap"], "may": bool(test["p_value"] <= 0.05)}


def ex_07_own(four: pd.DataFrame, contexts: Sequence[str]) -> dict:
    rows = {
        context: la.recommend(four, context=context, ties="half", n_resamples=2).summary.loc[0] for context in contexts
    }
    losses = {context: row["max_loss"] for context, row in rows.items()}
    return {"winner": rows[contexts[0]]["metric"], "losses": losses}


# -- chapter 8: local accuracy in speech and ranking -----------------------------------------


def _rate_leads(spoken: pd.DataFrame, rate: str) -> pd.DataFrame:
    """Return the values of a rate by recogniser, in the order of WER, to compute leads from."""
    means = spoken.drop_duplicates(["system", "segment"]).groupby("system")["wer"].mean()
    if len(means) < 2:
        raise NoAnswer("there is one recogniser")
    values = spoken.pivot_table(index="segment", columns="system", values=rate, aggfunc="first")
    return values[means.nlargest(len(means)).index]


def ex_08_plan(spoken: pd.DataFrame) -> float:
    values = _rate_leads(spoken, "wil")
    lead = values.iloc[:, 0] - values.iloc[:, 1]
    return float(1.645**2 * lead.var() / lead.mean() ** 2)


def ex_08_size() -> int:
    return int(np.ceil((2 * 1.645) ** 2 / 0.24**2))


def ex_08_own(spoken: pd.DataFrame) -> dict:
    size = {}
    for rate in ("wer", "cer"):
        values = _rate_leads(spoken, rate)
        leads = [values[one] - values[other] for one, other in combinations(values, 2)]
        size[rate] = np.array([abs(lead.mean() / lead.std()) for lead in leads])
    return {"pairs": len(size["wer"]), "more": int((size["cer"] < size["wer"]).sum())}


# -- chapter 9: aggregation ------------------------------------------------------------------


def ex_09_bug(outputs: np.ndarray, right: np.ndarray, tokenize: str | None) -> dict:
    texts, references = list(outputs[0][:20]), list(right[:20])
    metric = scoring.scorer("bleu", tokenize=tokenize, effective_order=True)
    against_all = np.mean([metric.sentence_score(text, references).score for text in texts])
    found = {"order": against_all, "turned": against_all}
    for name, own in (("correct", references), ("correct, turned", references[::-1])):
        found[name] = scoring.score_texts(texts, own, level="segment", tokenize=tokenize).score.mean()
    return found


def ex_09_guard(answer: Callable) -> Iterator[str]:
    texts = ["a", "b", "c"]
    allowed = {"one list of references": [["a", "b", "c"]], "two lists": [["a", "b", "c"], ["x", "y", "z"]]}
    refused = {"a transposed list": [["a"], ["b"], ["c"]], "a flat list": ["a", "b", "c"], "a short list": [["a", "b"]]}
    for name, references in (allowed | refused).items():
        try:
            answer(texts, references)
            stopped = False
        except ValueError:
            stopped = True
        except Exception as error:
            yield f"{name}: expected a ValueError or nothing; it raises {type(error).__name__}"
            continue
        if stopped != (name in refused):
            yield f"{name} {'is stopped, but is right' if stopped else 'passes'}"


def ex_09_own(parts: pd.DataFrame) -> dict:
    relative = parts - parts.mean()
    first = relative["gap"].idxmax()
    reason = relative.loc[first, ["length", "curvature"]].astype(float).abs().idxmax()
    return {"gains most": first, "loses most": relative["gap"].idxmin(), "reason": reason}


# -- chapter 10: one's own metric ------------------------------------------------------------


def ex_10_orders() -> int:
    return next(k for k in range(2, 9) if 1 / factorial(k) <= 0.05)


def ex_10_hunt() -> dict:
    return {"chosen": 1 - 0.975**20, "elsewhere": 0.025}


def ex_10_name(answer: object, es: EvalSet, names: pd.Series) -> Iterator[str]:
    whole = es.documents if len(set(es.documents or ())) >= 20 else es.segments
    unit = dict(zip(es.segments, whole, strict=True))
    taus = {m: correlate_groups(es, m, coefficient="tau_14").set_index("group")["value"] for m in es.metrics}
    low = {m: _lowest(tau - names, unit) for m, tau in taus.items()}
    named = set(map(str, answer)) if isinstance(answer, Collection) else ()
    if not named and not any(end > 0.01 for end in low.values()):
        raise NoAnswer("no metric's excess is sure, so an empty list would be right without any work")
    # What lies near the threshold hangs on the draws.
    yield from complaints(answer, [m for m, end in low.items() if end > (-0.01 if m in named else 0.01)])


def _lowest(lead: pd.Series, unit: Mapping) -> float:
    """Return the lower end of the interval of a mean over segments when their units are redrawn."""
    by_unit = lead.groupby(lead.index.map(unit)).agg(["sum", "count"]).to_numpy()
    sums, sizes = by_unit[np.random.default_rng(0).integers(len(by_unit), size=(2000, len(by_unit)))].sum(axis=1).T
    return float(np.quantile(sums / np.maximum(sizes, 1), 0.025))


# -- chapter 12: raters err ------------------------------------------------------------------


def ex_12_sloppy() -> dict:
    return {"second rater": 4 / 8, "perfect metric": np.sqrt(4 / 8)}


ex_12_claims = _claims("b")  # a is about systems, and the limit of c is .7


def ex_12_own(es: EvalSet, metrics: Sequence[str]) -> str:
    return ceiling(sysdep.centre_segments(es), metrics, n_resamples=2)["metric"][0]


# -- chapter 14: a second year ---------------------------------------------------------------


def ex_14_constant() -> dict[str, float]:
    tied, pairs = 9 * 8 / 2, 10 * 9 / 2
    return {"acc_eq": tied / pairs, "expected accuracy": 1 / 2, "F1": 2 / (1 / 0.9 + 1)}


ex_14_claims = _claims("b", "c")  # a constant has the number of a


def ex_14_own(es: EvalSet) -> dict:
    leads = {}
    for name in es.metrics:
        scores = pd.DataFrame(es[name].T)
        others = (scores.sum() - scores) / (scores.count() - 1)  # the mean of a system on all other segments
        both = ties.expected_accuracy(EvalSet(es.human, {"real": scores.T, "named": others.T}, systems=es.systems))
        leads[name] = -both["value"].diff().iloc[1]
    metric = max(leads, key=leads.get)
    return {"metric": metric, "lead": leads[metric]}


# -- chapter 15: who is favoured -------------------------------------------------------------


def ex_15_sloppy() -> dict[str, float]:
    return {"one rating": 2 / (4 / (4 + 2**2)) - 2, "two ratings": 0.0}


ex_15_claims = _claims("b", "c")  # L may be favoured by 1.1 as well


def ex_15_own(es: EvalSet, metric: str) -> dict:
    table = sysdep.favours(es, metric, degree=1, n_resamples=2).table.set_index("system")
    return {"system": table["favour"].idxmax(), "favour": table["favour"].max()}


# -- chapter 11: what a difference is worth --------------------------------------------------


def ex_11_published() -> float:
    a, b = 0.8833, 0.9664
    return -np.log(2 * a - 1) / b


def ex_11_segments(tau2: float, sigma2: float) -> float:
    return 9 * sigma2 / tau2


def ex_11_without(es: EvalSet, metric: str) -> pd.Series:
    slopes = {}
    for left_out in es.systems:
        rest = es.select(systems=[s for s in es.systems if s != left_out])
        try:
            slopes[left_out] = differences.curve(rest, metric, n_resamples=1).slope
        except ValueError:  # people agree with all differences, or with none
            slopes[left_out] = np.nan
    return pd.Series(slopes)


# -- chapter 13: fewer labels ----------------------------------------------------------------


def ex_13_half() -> dict:
    return {"ratings": 90, "correlation": 0.5**0.5}


ex_13_claims = _claims("a", "d")


def ex_13_own(es: EvalSet, metric: str) -> dict:
    row = ratings_saved(es, metric).iloc[0]
    left = {"metric": 1 - row["mean"], "same segments": 1 - row["pairing"]}
    left["both"] = left["same segments"] * (1 - row["difference"])
    return {name: 100 * share for name, share in left.items()}
