"""Rankings: DL-HARD's runs of document and passage rankers."""

from pathlib import Path

import numpy as np
import pandas as pd

from ..rankings import Rankings
from ._common import Options, files_in, finite, locate, read_fields

TASKS = ("doc", "passage")
DEPTH = 100
_RUN = "query Q0 item rank score tag"


def load_dl_hard(task: str, options: Options) -> Rankings:
    """Load the first 100 items of every run of a task, with the judgements.

    The order is that of trec_eval: by score, in single precision, and by name downwards where scores are equal;
    the ranks in the files are not used. The published binary measures count relevance from 2 upwards.
    """
    options.refuse_all("dl-hard")
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
