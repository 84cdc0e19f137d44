"""Three human ratings of translations of WMT23, in two collections, for the page on raters."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import mtmeta as mm
from mtmeta import sysdep
from mtmeta.datasets import locate, mqm_weight
from mtmeta.datasets._pickles import read_scores_pickle

PAIRS = ("en-de", "zh-en")
_PAIRED = "google-mqm/generalmt2023-sxs/{0}/sxs_mqm_generalMT2023_{0}.3ratingsPerSegment.tsv.tar.gz"


def human_parity(lp: str) -> mm.EvalSet:
    """Return the segments of WMT23 that three sets of raters annotated, with the metrics of the shared task.

    The first set is ``human``; the others are the columns ``human_2`` and ``human_3``.
    """
    es, ratings = mm.load(f"wmt23/{lp}"), []
    for number in (1, 2, 3):
        path = locate(f"human-parity/wmt23/{lp}/mqm-col{number}.pickle")
        scores = read_scores_pickle(path.read_bytes(), str(path), none=True)
        ratings.append(
            np.array([scores[system] for system in es.systems], dtype=np.float64)
        )
    rated = ~np.isnan(ratings).any(axis=(0, 1))
    es = es.select(
        segments=[
            segment for segment, keep in zip(es.segments, rated, strict=True) if keep
        ]
    )
    return _rated_again(es, "human-parity", np.array(ratings)[..., rated])


def side_by_side(lp: str) -> mm.EvalSet:
    """Return the translations of WMT23 that three people rated in pairs, with the metrics of the shared task.

    Ratings stand in the order of the names of the raters, who are the same for all translations of a document.
    """
    es = mm.load(f"wmt23/{lp}")
    path = locate(_PAIRED.format(lp.replace("-", "")))
    columns = ["system", "doc", "docSegId", "rater", "category", "severity"]
    rows = pd.read_csv(path, sep="\t", quoting=3, dtype=str, keep_default_na=False)[
        columns
    ].fillna("")
    rows = rows[
        (rows["severity"] != "HOTW-test") & ~rows["system"].str.endswith("refA")
    ]
    rows["weight"] = [
        mqm_weight(*error)
        for error in zip(rows["category"], rows["severity"], strict=True)
    ]
    numbers = pd.Series(es.documents).groupby(list(es.documents)).cumcount() + 1
    place = {
        (d, str(n)): segment
        for d, n, segment in zip(es.documents, numbers, es.segments, strict=True)
    }
    documents = rows["doc"].str.removeprefix("news_").str.partition(":")[0]
    segments = [place[key] for key in zip(documents, rows["docSegId"], strict=True)]
    keys = [
        rows["system"].str.removesuffix("_with_ONLINE-W"),
        pd.Series(segments, rows.index),
        rows["rater"],
    ]
    table = rows.groupby(keys)["weight"].sum().groupby(level=[0, 1]).agg(list).unstack()
    es = es.select(systems=table.index, segments=table)
    ratings = np.array(
        [
            [table.loc[system, segment] for segment in es.segments]
            for system in es.systems
        ]
    )
    return _rated_again(es, "generalmt2023-sxs", 0.0 - np.moveaxis(ratings, 2, 0))


def metrics_of(es: mm.EvalSet) -> list[str]:
    """Return the names of the metrics, without further ratings and random scores."""
    return [m for m in es.metrics if not m.startswith("Random")]


def redrawn(es: mm.EvalSet, n_resamples: int, seed: int) -> np.ndarray:
    """Return how often each segment counts if documents are redrawn, shape (1 + n_resamples, n_segments).

    In the first row each segment counts once.
    """
    number = np.unique(es.documents, return_inverse=True)[1]
    shape = (n_resamples, number.max() + 1)
    drawn = np.random.default_rng(seed).integers(shape[1], size=shape)
    counts = [np.bincount(d, minlength=shape[1])[number] for d in drawn]
    return np.vstack([np.ones(es.shape[1]), counts])


def at_least(es: mm.EvalSet, floor: float) -> mm.EvalSet:
    """Return the set with ratings below ``floor`` raised to it."""
    first, *others = np.maximum(es.ratings, floor)
    names = dict(zip(("human_2", "human_3"), others, strict=True))
    return es._changed(human=first, metrics=names | {m: es[m] for m in metrics_of(es)})


def ranked(es: mm.EvalSet) -> mm.EvalSet:
    """Return the set with ranks over all translations, of the ratings and of the scores."""
    names = [*es.further_ratings, *es.metrics]
    ranks = {m: rankdata(es[m]).reshape(es.shape) for m in names}
    return es._changed(human=rankdata(es.human).reshape(es.shape), metrics=ranks)


def correlations(es: mm.EvalSet, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean correlation of each metric with a rating, and of two ratings, in each row of ``counts``."""
    x = np.array([*es.ratings, *(es[m] for m in metrics_of(es))])
    products = np.tensordot(counts, np.einsum("akj,bkj->jab", x, x), 1)
    spread = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
    r = products / spread[:, :, None] / spread[:, None, :]
    return r[:, 3:, :3].mean(axis=2), r[:, [0, 0, 1], [1, 2, 2]].mean(axis=1)


def over_a_rater(value: np.ndarray, rho: np.ndarray, alpha: float) -> dict[str, float]:
    """Return the lead of the best metric over a second rater, with an interval for all metrics at once."""
    gap = value - rho[:, None]
    error = gap[1:].std(axis=0)
    largest = (np.abs(gap[1:] - gap[0]) / error).max(axis=1)
    best, half = gap[0].argmax(), np.quantile(largest, 1 - alpha) * error
    lead = {"lead": gap[0, best], "lead_low": (gap[0] - half)[best]}
    return lead | {"lead_high": (gap[0] + half)[best], "clear": (gap[0] > half).sum()}


def worth(value: np.ndarray, rho: np.ndarray) -> dict[str, float]:
    """Return how many ratings the best metric is worth (chapter 12)."""
    share = value[:, value[0].argmax()] ** 2 / rho  # of the variance of quality
    ratings = share * (1 - rho) / (rho * (1 - share))
    low, high = np.quantile(ratings[1:], [0.025, 0.975])
    return {"worth": ratings[0], "worth_low": low, "worth_high": high}


def unlike_two_sets(es: mm.EvalSet, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return how many pairs of systems a set of raters, and each metric, order unlike the mean of two other sets.

    Shape (n_resamples, 3), for each set that is left out in turn; its own row is called "the set left out". Each row
    of ``counts`` is a resample of the segments.
    """
    i, j = np.triu_indices(len(es.systems), 1)

    def order(x):
        means = counts @ x.T
        return np.sign((means[:, i] - means[:, j]).round(9))

    two = [order(es.ratings.sum(axis=0) - h) for h in es.ratings]
    orders = {"the set left out": [order(h) for h in es.ratings]}
    orders |= {m: [order(es[m])] * 3 for m in metrics_of(es)}
    return {
        name: np.transpose(
            [(a != b).sum(axis=1) for a, b in zip(own, two, strict=True)]
        )
        for name, own in orders.items()
    }


def without(es: mm.EvalSet, number: int) -> mm.EvalSet:
    """Return the set without one of its three ratings."""
    kept = [h for n, h in enumerate(es.ratings, 1) if n != number]
    scores = {"human_2": kept[1]} | {m: es[m] for m in metrics_of(es)}
    return es._changed(human=kept[0], metrics=scores)


def pairs_turned(part: pd.DataFrame, es: mm.EvalSet) -> pd.DataFrame:
    """Return the gaps of the pairs of systems that a metric orders otherwise if favours with a verdict are taken away.

    ``part`` has the favours of the metric, with the systems as index.
    """
    part = part.loc[list(es.systems)].fillna({"favour": 0})
    means = {f"set {k}": h.mean(axis=1) for k, h in enumerate(es.ratings, 1)}
    means |= {"raters": part["human"], "metric": part["human"] + part["favour"]}
    others = part["favour"].where(~part["verdict"], 0)
    means["without its favours"] = part["human"] + others
    means = pd.DataFrame(means, part.index).sort_values("raters", ascending=False)
    i, j = np.triu_indices(len(part), 1)  # pairs, the better by raters first
    names = pd.MultiIndex.from_arrays((means.index[i], means.index[j]))
    gaps = (means.to_numpy()[i] - means.to_numpy()[j]).round(9)
    gaps = pd.DataFrame(gaps, names, means.columns)
    return gaps[np.sign(gaps["metric"]) != np.sign(gaps["without its favours"])]


def over_each_set(es: mm.EvalSet, metric: str, counts: np.ndarray) -> pd.DataFrame:
    """Return how each set of raters, and a metric, correlate with the two other sets, and the lead of the metric.

    Over all translations as they are; take the means of segments away first. Each row of ``counts`` is a resample.
    """
    x = np.array([*es.ratings, es[metric]])
    shared = np.tensordot(counts, np.einsum("akj,bkj->jab", x, x), 1)
    spread = np.sqrt(np.diagonal(shared, axis1=1, axis2=2))
    r, rows = shared / spread[:, :, None] / spread[:, None, :], {}
    for n in range(3):
        others = [k for k in range(3) if k != n]
        lead = (r[:, 3, others] - r[:, n, others]).mean(axis=1)
        low, high = np.quantile(lead[1:], [0.025, 0.975])
        own = {"set": r[0, n, others].mean(), metric: r[0, 3, others].mean()}
        rows[f"set {n + 1}"] = own | {"lead_low": low, "lead_high": high}
    return pd.DataFrame(rows).T


def within_segments(es: mm.EvalSet, counts: np.ndarray) -> list[str]:
    """Return lines on the best metric against one and two sets of ratings, if every segment weighs the same.

    Correlations are Pearson's within segments (chapter 1), with each set in turn. Each row of ``counts`` is a resample.
    """
    by, names = [], metrics_of(es)
    for n in range(3):
        first, *two = np.roll(es.ratings, -n, axis=0)
        scores = {"one set": two[0], "two sets": np.mean(two, axis=0)}
        part = es._changed(human=first, metrics=scores | {m: es[m] for m in names})
        r = {m: mm.correlate_groups(part, m)["value"] for m in part.metrics}
        by.append(pd.DataFrame(r))
    r = pd.concat(by).groupby(level=0).mean()
    top, lines = r[names].mean().idxmax(), []
    for whom in scores:
        lead = r[top] - r[whom]
        drawn = counts[1:] @ lead.fillna(0) / (counts[1:] @ lead.notna())
        ends = "lead {:.3f} to {:.3f}".format(*np.quantile(drawn, [0.025, 0.975]))
        lines.append(f"{top} {r[top].mean():.3f}, {whom} {r[whom].mean():.3f}, {ends}")
    return lines


def put_first(es: mm.EvalSet, names: list[str]) -> tuple[pd.DataFrame, pd.Series]:
    """Return a table of the systems, best mean rating on top, and the system that each metric puts first.

    ``names`` are the metrics, the best one first.
    """
    people = pd.DataFrame(es.ratings.mean(axis=2).T, es.systems)
    means = pd.DataFrame({m: es[m].mean(axis=1) for m in names}, es.systems)
    first, part = means.idxmax(), people.mean(axis=1).to_frame("mean rating")
    place = people.rank(ascending=False).astype(int).astype(str)
    part["places by sets"] = place.agg(" ".join, axis=1)
    for kind, some in (("ten best", first[:10]), ("all", first)):
        part[f"first for {kind}"] = some.value_counts().reindex(
            part.index, fill_value=0
        )
    return part.sort_values("mean rating", ascending=False), first


def gap_of_ratings(es: mm.EvalSet, better: str, worse: str, counts: np.ndarray) -> str:
    """Return by how much one system is rated above another, with a 95 % interval."""
    rows = [list(es.systems).index(system) for system in (better, worse)]
    means = counts @ es.ratings.mean(axis=0)[rows].T / counts.sum(axis=1, keepdims=True)
    gap = means[:, 0] - means[:, 1]
    low, high = np.quantile(gap[1:], [0.025, 0.975])
    return f"{better} less {worse}: {gap[0]:.2f} ({low:.2f} to {high:.2f})"


def favours_in(
    data: dict[str, mm.EvalSet], alpha: float = 0.05, **options
) -> pd.DataFrame:
    """Return the favours of all metrics in several sets; ``fits`` where some curve fits at the level ``alpha``."""
    tables = {}
    for pair, es in data.items():
        for m in metrics_of(es):
            found = sysdep.favours(es, m, **options)
            fits = max(found.fit.values()) > alpha
            tables[pair, m] = found.table.assign(fits=fits)
    every = pd.concat(tables, names=["pair", "metric"]).reset_index(level=[0, 1])
    every["sign"] = np.sign(every["favour"])
    return every.set_index(["pair", "metric", "system", "sign"]).sort_index()


def found_after_planting(es: mm.EvalSet, number: int, sizes, **options) -> pd.Series:
    """Return in which share of the systems the verdict finds a favour of each size that is planted.

    One set of ratings, ``number``, takes the place of a metric, and the two others judge it.
    """
    rating, es = es.ratings[number - 1], without(es, number)
    scores, named = {"human_2": es["human_2"]}, []
    for size in sizes:
        for k, system in enumerate(es.systems):
            scores["more"] = rating + size * (np.arange(len(rating)) == k)[:, None]
            table = sysdep.favours(es.with_metrics(scores), "more", **options).table
            row = table.set_index("system").loc[system]
            named.append((size, row["verdict"] == "favoured"))
    named = pd.DataFrame(named, columns=["size", "found"])
    return named.groupby("size")["found"].mean()


def _rated_again(es: mm.EvalSet, name: str, ratings: np.ndarray) -> mm.EvalSet:
    """Return a set with other ratings, shape (n_ratings, n_systems, n_segments)."""
    metrics = {
        f"human_{number}": values for number, values in enumerate(ratings[1:], 2)
    }
    metrics |= {metric: es[metric] for metric in es.metrics}
    parts = {
        "systems": es.systems,
        "segments": es.segments,
        "documents": es.documents,
        "domains": es.domains,
    }
    about = {
        "language_pair": es.language_pair,
        "human_systems": es.human_systems,
        "scores": es.scores,
    }
    full_name = f"{name}/{es.language_pair}"
    return mm.EvalSet(
        ratings[0], metrics, **parts, texts=es.texts, name=full_name, about=about
    )
