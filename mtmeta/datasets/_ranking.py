"""Rankings: DL-HARD's runs of document and passage rankers, and the lists of recommenders on MovieLens."""

import hashlib
import warnings
from importlib import metadata
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._files import cache_dir, whole_file
from ..rankings import Rankings
from ._common import files_in, finite, locate, read_fields, read_text

TASKS = ("doc", "passage")
DEPTH = 100
_RUN = "query Q0 item rank score tag"
#: Raised whenever a list of a recommender could change, and what else may change it: part of the name of a stored file.
_VERSION = "3"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "implicit")


def load_dl_hard(task: str) -> Rankings:
    """Load the first 100 items of every run of a task, with the judgements.

    The order is that of trec_eval: by score, in single precision, and by name downwards where scores are equal;
    the ranks in the files are not used. The published binary measures count relevance from 2 upwards.
    """
    folder = locate("dl-hard")
    files = files_in(folder / "runs_top100", f"{task}.*.run")
    qrels = read_trec(folder / f"dl_hard-{task}.qrels", "query Q0 item relevance").drop(columns="Q0")
    runs = {path.name.removeprefix(f"{task}.").removesuffix(".run"): read_trec(path, _RUN) for path in files}
    left_out = {f"ranks after {DEPTH}": "of every run the first items are kept"}
    return Rankings(
        f"dl-hard/{task}",
        pd.concat([in_trec_order(run, name) for name, run in runs.items()]),
        qrels.astype({"relevance": int}),
        {"source": str(folder), "relevance_level": 2, "left_out": left_out},
    )


def read_trec(path: Path, names: str) -> pd.DataFrame:
    """Read a TREC run or qrels: fields separated by white space, names as strings."""
    frame = read_fields(path, names)
    for column in {"rank", "score", "relevance"} & set(frame):
        frame[column] = finite(frame[column], path)
    return frame


def in_trec_order(run: pd.DataFrame, system: str) -> pd.DataFrame:
    """Return a run with ranks as trec_eval gives them, cut after 100 items a query."""
    run = run.assign(system=system, single=run["score"].astype(np.float32), query=run["query"].astype(object))
    run = run.sort_values(["query", "single", "item"], ascending=[True, False, False], kind="stable")
    run["rank"] = run.groupby("query", sort=False).cumcount() + 1
    return run.loc[run["rank"] <= DEPTH, ["system", "query", "item", "rank", "score"]]


def load_movielens(_: str) -> Rankings:
    """Load the lists of all recommenders on MovieLens latest-small: trained once, then read from the cache."""
    from ..scoring import train_recommenders

    path = locate("movielens-latest-small/ratings.csv")
    raw = read_text(path)
    used = sorted(f"{d.name} {d.version}" for name in _LIBRARIES for d in metadata.distributions(name=name))
    digest = hashlib.sha256("\n".join([_VERSION, *used, raw]).encode()).hexdigest()
    stored = cache_dir() / "recommenders" / f"{digest[:24]}.parquet"
    try:
        runs = pd.read_parquet(stored, page_checksum_verification=True)
        qrels, provenance = pd.DataFrame(runs.attrs["qrels"]), runs.attrs["provenance"]
    except (OSError, ValueError, KeyError):  # it is not there, or damaged
        ratings = pd.read_csv(StringIO(raw), dtype=str).rename(columns={"userId": "user", "movieId": "item"})
        found = train_recommenders(ratings)
        runs, qrels, provenance = found.runs, found.qrels, found.provenance
        _store(stored, runs, qrels=qrels.to_dict("list"), provenance=provenance)
    return Rankings("movielens-small", runs, qrels, {**provenance, "source": str(path)})


def _store(path: Path, table: pd.DataFrame, **notes: Any) -> None:
    """Store a table in one step; a cache that cannot be written costs time only, and is reported."""
    table = table.copy()
    table.attrs = notes
    try:
        with whole_file(path) as part:
            table.to_parquet(part, write_page_checksum=True)
    except OSError as error:
        warnings.warn(
            f"the recommenders' lists could not be stored in {path.parent} ({error.strerror}): they are trained anew "
            "every time. MTMETA_CACHE names another folder.",
            stacklevel=2,
        )
