"""Print a digest of every bit of many public results, as JSON, for test_determinism.py: `python digests.py N_JOBS`."""

import dataclasses
import hashlib
import json
import locale
import os
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pandas as pd

import mtmeta as mm

DRAWS = {"n_resamples": 40}
METRICS = ["chrF", "Regressor", "Judge", "SourceOnly"]
PLAN = {
    "sets": [{"simulate": {"n_systems": 5, "n_segments": 24}}],
    "statistics": ["human_tie_share", {"correlate": {"grouping": ["segment", "none"]}}, {"compare": DRAWS}],
}


def written(value) -> str:
    """Return a result as text that differs where any of its bits do."""
    if isinstance(value, str | bytes | bool | int | None) or value is pd.NA:
        return repr(value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.generic):
        return written(value.item())
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        value = np.asarray(value)
        return f"{value.dtype.kind}{value.shape}" + written(value.ravel().tolist())
    if isinstance(value, pd.DataFrame):
        return written({"index": list(value.index), **{str(name): list(value[name]) for name in value}})
    if isinstance(value, mm.EvalSet):
        return written(vars(value))
    if dataclasses.is_dataclass(value):
        return written({field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.compare})
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(key)}:{written(each)}" for key, each in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(map(written, value))) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(written, value)) + "]"
    raise TypeError(f"no text for {type(value)}")


def statistics(es: mm.EvalSet):
    """Yield the names and results of agreement, ties, significance, protocols and system dependence."""
    for coefficient in "pearson spearman kendall tau_eq acc_eq tau_10 tau_13 tau_14 tau_a tau_c".split():
        for grouping in ("none", "segment", "system"):
            yield f"correlate {coefficient} {grouping}", mm.correlate(es, coefficient=coefficient, grouping=grouping)
    yield "correlate_groups", mm.correlate_groups(es, "chrF", coefficient="acc_eq")
    yield "decompose_pearson", mm.agreement.decompose_pearson(es)
    yield "pairwise_accuracy", mm.pairwise_accuracy(es)
    yield "difference curve", mm.differences.curve(es, "chrF", n_segments=20, n_samples=3, **DRAWS).to_frame()
    yield "difference pairs", mm.differences.system_pairs(es, "Judge", n_segments=20, n_samples=2)
    for ties in ("half", "published"):
        yield f"soft_pairwise_accuracy {ties}", mm.soft_pairwise_accuracy(es, ties=ties, n_resamples=60)
    for grouping in ("none", "segment", "system"):
        yield f"calibrate_ties {grouping}", mm.calibrate_ties(es, "Judge", grouping=grouping)
    yield "tie_curve", mm.ties.tie_curve(es, "chrF")
    yield "expected_accuracy", mm.ties.expected_accuracy(es)
    yield "subsample_ties", mm.ties.subsample_ties(es, n_resamples=2)
    yield "held_out_calibration", mm.ties.held_out_calibration(es, n_resamples=2)
    for method, coefficient, grouping in [
        *(("published", c, g) for c in ("pearson", "kendall") for g in ("none", "segment", "system")),
        ("published", "spa", "none"), ("bootstrap", "spearman", "segment"), ("published", "acc_eq", "segment"),
        *(("exchange", c, g) for c in ("pearson", "kendall") for g in ("none", "segment")),
        ("exchange", "acc_eq", "segment"),
        ("exchange", "spa", "none"), ("williams", "pearson", "none"),
    ]:  # fmt: skip
        options = {"method": method, "grouping": grouping, **DRAWS}
        yield f"compare {method} {coefficient} {grouping}", mm.compare(es, coefficient=coefficient, **options)
    for coefficient in ("pearson", "kendall", "acc_eq"):
        yield f"intervals {coefficient}", mm.significance.intervals(es, coefficient=coefficient, **DRAWS)
    p_values = mm.compare(es, n_resamples=200).p_values
    yield "clusters", mm.significance.clusters(p_values.to_numpy())
    yield "correct", mm.significance.correct(p_values.to_numpy()[np.triu_indices(len(p_values), 1)], "holm")
    yield "rank", mm.rank(es, protocol="wmt24", **DRAWS)
    yield "system_dependence", mm.system_dependence(es, "chrF", n_resamples=20)
    rated = mm.simulate.rate_again(mm.simulate.campaign(n_systems=6, n_segments=40, seed=3, texts=False))
    yield "favours", mm.sysdep.favours(rated, "Judge", n_resamples=40)
    yield "ceiling", mm.raters.ceiling(rated, n_resamples=40)
    part = mm.EvalSet(np.where(np.arange(es.shape[1]) % 3, np.nan, es.human), {"chrF": es["chrF"]}, systems=es.systems)
    yield "estimate", mm.system_means(part, "chrF")
    yield "ratings_saved", mm.estimation.ratings_saved(es)
    yield "compare_with_null", mm.sysdep.compare_with_null(es, "chrF", n_resamples=39, min_stratum=10)


def in_processes(es: mm.EvalSet, n_jobs: int):
    """Yield the names and results of what takes a number of processes or threads."""
    yield "system_dependence of all", mm.system_dependence(es, n_resamples=10, n_jobs=n_jobs)
    yield "compare_with_null of all", mm.sysdep.compare_with_null(es, n_resamples=39, min_stratum=10, n_jobs=n_jobs)
    for metric in ("bleu", "chrf", "ter"):
        counts = mm.aggregation.extract(es, metric, n_jobs=n_jobs)
        yield f"aggregate {metric}", mm.aggregation.aggregate(counts, metric, how="bootstrap", **DRAWS)
    yield "sweep", mm.sweep.run(PLAN, n_jobs=n_jobs).to_frame()


def local(es: mm.EvalSet, n_jobs: int):
    """Yield the names and results of perturbations, scores from text, and local accuracy."""
    frame = es.to_frame()[["system", "segment", "reference", "translation"]]
    table = mm.perturb.perturb_table(frame, n_kinds=2, n_jobs=n_jobs)
    yield "perturb_table", table
    pairs = mm.scoring.score_pairs(table, ["bleu", "chrf"], n_jobs=n_jobs)
    yield "score_pairs", pairs
    for name in ("local_accuracy", "stability", "context_effect", "recommend"):
        yield name, getattr(mm.local_accuracy, name)(pairs, context="system", missing="drop", **DRAWS)


def made(n_jobs: int):
    """Yield the names and results of simulations, files, sentinels and reports, and of all that is computed on them."""
    es = mm.simulate.campaign(n_systems=6, n_segments=40, seed=3).select(metrics=METRICS)
    yield "campaign", es
    yield "rankings", mm.simulate.teaching_ranking()
    yield from statistics(es)
    yield from in_processes(es, n_jobs)
    yield from local(es, n_jobs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        es.to_frame().to_csv(path, index=False, encoding="utf-8")
        yield "load", mm.load(path).human
    frame = mm.sentinel.training_frame(es)
    yield "sentinel", mm.sentinel.fit(frame, sees="candidate").score(frame["translation"].tolist())
    report = mm.report(es, es.metrics[0], n_resamples=40)
    for kind in ("json", "markdown", "html"):
        yield f"report {kind}", getattr(report, f"to_{kind}")()


def digests(n_jobs: int) -> dict[str, str]:
    return {name: hashlib.sha256(written(value).encode("utf-8")).hexdigest() for name, value in made(n_jobs)}


def main() -> None:
    """Obey the locale of the environment, as programs in which Python is embedded do; print the digests."""
    locale.setlocale(locale.LC_ALL, "")
    umask = os.umask(0)
    os.umask(umask)
    here = {
        "decimal_point": locale.localeconv()["decimal_point"], "threads": numba.get_num_threads(), "umask": umask,
        "utf8": sys.flags.utf8_mode,
    }  # fmt: skip
    print(json.dumps({"here": here, "digests": digests(int(sys.argv[1]))}))


if __name__ == "__main__":
    main()
