"""Sets with tables of their own: direct assessments of WMT17, the news of WMT24, and two of other fields.

These are LibriSpeech's transcripts, and DL-HARD's runs of document and passage rankers.
"""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from .._delimited import read_file
from .._names import natural
from .._tables import check_once
from ..evalset import EvalSet
from ..rankings import Rankings
from ._common import Options, canonical_ids, choose_annotation, files_in, finite, from_rows, locate, read_fields
from ._tables import read_table

WMT17_PAIRS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
_WMT17_NAMES = {"LP": "lp", "SYSTEM": "system", "SID": "segment", "HUMAN_score": "human"}
WMT24_PAIRS = ("en-de", "en-es")
_DATA = Path(__file__).parents[1] / "data"
LIBRISPEECH_PARTS = ("test-clean", "test-other")
DL_HARD_TASKS = ("doc", "passage")
DEPTH = 100
_RUN = "query Q0 item rank score tag"


def load_wmt17_da(lp: str, options: Options) -> EvalSet:
    """Load one language pair of the WMT17 direct assessments.

    The texts carry neither system nor segment. Both are found through the human score: within a language pair no two
    scores agree to nine decimals, so each text matches exactly one row of the official list. Loading checks this, and
    that a segment has one source and one reference.
    """
    options.refuse("wmt17-da, which has one reference and no further scores", "reference", "metrics_from")
    choose_annotation(options.annotation, ["da"], f"wmt17-da/{lp}")
    official = pd.read_csv(locate("wmt17-da/DA-seglevel.csv"), sep=" ", dtype=str)
    official = official.loc[official["LP"] == lp, ["HUMAN", "SYSTEM", "SID"]]
    path = locate(f"wmt17-da/testset/testset_{lp}.tsv")
    texts = read_file(path, "\t")
    official["key"], texts["key"] = map(_nine_decimals, (official.pop("HUMAN"), texts["HUMAN_score"]))
    rows = texts.merge(official, how="left", on="key", validate="one_to_one")
    rows = rows.drop(columns="key").rename(columns=_WMT17_NAMES)
    if rows["system"].isna().any():
        raise ValueError(f"{path}: data row {rows['system'].isna().argmax() + 1} matches no row of DA-seglevel.csv.")
    rows["segment"] = canonical_ids(rows["segment"])
    rows = rows.astype({"human": float, "sentBLEU": float})
    es = from_rows(rows, path, metrics=options.metrics, missing="nan", name=f"wmt17-da/{lp}")
    joint = sum("+" in s for s in es.systems)
    es.provenance.update(source=str(path), annotation="da", reference="reference", variants={"sentBLEU": "reference"})
    es.provenance["note"] = (
        f"{joint} of the system names are joint (A+B): systems that gave the same translation, rated once; "
        "translations and references are tokenised and lower-cased upstream."
    )
    if len(official) > len(rows):
        es.provenance["left_out"][f"{len(official) - len(rows)} rated translations"] = "no text in this collection"
    return es


def _nine_decimals(scores: pd.Series) -> pd.Series:
    return scores.astype(float).map("{:.9f}".format)


def load_wmt24_news(lp: str, options: Options) -> EvalSet:
    """Load one language pair of the news part of WMT24, which comes with the package.

    ``refB``, a human translation into German, is a candidate.
    """
    options.refuse("wmt24-news, whose metrics saw refA", "reference", "metrics_from", "columns")
    choose_annotation(options.annotation, ["mqm"], f"wmt24-news/{lp}")
    about = tomllib.loads((_DATA / "wmt24_news.toml").read_text(encoding="utf-8"))
    table = read_table(_DATA / "wmt24_news.csv.xz")
    es = EvalSet.from_frame(table[table["lp"] == lp], metrics=options.metrics, name=f"wmt24-news/{lp}")
    left_out = es.provenance["left_out"] | {about["left_out"][lp]: "trained to be bad; they took no part in WMT24"}
    es.provenance.update(source=about["source"], licence=about["licence"], annotation="mqm", reference="refA")
    es.provenance["left_out"] = left_out
    return es._changed(human_systems={"refB"} & {*es.systems})


def load_librispeech(part: str, options: Options) -> pd.DataFrame:
    """Load the references and all transcripts of one test set, as recognised by variants of one system.

    A segment is an utterance; its speaker is the first field of its id. Texts are lower-cased without
    punctuation upstream, and an empty transcript is an empty string: nothing was recognised.
    """
    options.refuse("librispeech")
    folder = locate("librispeech-rnnt")
    references = _read_texts(folder / "ref" / f"{part}.ref_rare.tsv", "UTTERANCE TEXT RARE")
    segments = sorted(references, key=natural)
    rows = []
    for path in files_in(folder / "hyp", f"{part}.*.tsv"):
        transcripts = _read_texts(path, "UTTERANCE TEXT")
        if odd := sorted(transcripts.keys() ^ references.keys()):
            raise ValueError(f"{path} and the references differ in {len(odd)} utterances, such as {odd[0]!r}.")
        system = path.name.removeprefix(f"{part}.").removesuffix(".tsv")
        quality = part.removeprefix("test-")
        rows += [(system, s, s.split("-")[0], quality, references[s], transcripts[s]) for s in segments]
    table = pd.DataFrame(rows, columns=["system", "segment", "speaker", "quality", "reference", "transcript"])
    table.attrs = {"name": f"librispeech/{part}", "provenance": {"source": str(folder), "left_out": {}}}
    return table


def _read_texts(path: Path, names: str) -> dict[str, str]:
    """Read ``{utterance: text}`` from a table without header."""
    rows = read_fields(path, names, "\t")
    check_once(rows, ["UTTERANCE"], str(path))
    return dict(zip(rows["UTTERANCE"], rows["TEXT"], strict=True))


def load_dl_hard(task: str, options: Options) -> Rankings:
    """Load the first 100 items of every run of a task, with the judgements.

    The order is that of trec_eval: by score, in single precision, and by name downwards where scores are equal;
    the ranks in the files are not used. The published binary measures count relevance from 2 upwards.
    """
    options.refuse("dl-hard")
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
