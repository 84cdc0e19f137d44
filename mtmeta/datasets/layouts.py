"""Layouts that other tools write, read as a tidy table: one layout is one function."""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._checks import check_choice, number_column, to_numbers
from .._delimited import text_of
from .._names import counted, listed, natural, some_of, unknown
from ..evalset import RESERVED, is_rating, is_reference
from . import _find, _tables
from ._common import Options, canonical_ids
from ._mqm import load_errors, mqm_weight
from ._tables import is_dimension, is_no_score, renames_of, widened

#: How several ratings of a translation become its human score.
RATERS = {"mean": "their mean", "standardise": "the mean of each rater's z-scores"}
RATERS["apart"] = "the first, and human_2 … are the others"
_KEYS = ["lp", "system", "segment"]
_FIRST = [*_KEYS, "doc", "domain", "source", "reference", "translation", "human"]


@dataclass
class _Input:
    """One file or object: its content, the names by which its layout is recognised, and messages about it."""

    what: str
    form: str
    content: Any
    fields: set[str]
    path: Path | None = None
    weights: str | Mapping[str, float] = "google"
    by_position: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """The name of the file without its endings, which stands for a system or a metric."""
        return re.sub(r"(\.(csv|tsv|jsonl?|txt|gz|xz|out|log|hyp|parquet|xlsx))+$", "", Path(self.what).name)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of a table."""
        return self.content.to_dict("records")


def layouts() -> pd.DataFrame:
    """Return the layouts that `read` knows.

    Returns
    -------
    pandas.DataFrame
        One row per layout: its name (``layout``), ``made_by``, its ``form`` (rows are CSV, TSV, JSON lines, a JSON
        list, Parquet, Excel or a data frame), and the ``fields`` by which it is recognised.

    See Also
    --------
    read : read a file in one of these layouts.

    Examples
    --------
    >>> from mtmeta.datasets import layouts
    >>> layouts().query("layout == 'comet-json'").iloc[0].to_dict()
    {'layout': 'comet-json', 'made_by': 'comet-score --to_json', 'form': 'lists by file', 'fields': 'src, mt'}
    """
    return _LAYOUTS.drop(columns="read").reset_index()


def read(
    paths: Any,
    layout: str = "auto",
    *,
    human: str | None = None,
    raters: str = "mean",
    columns: Mapping[str, str] | None = None,
    weights: str | Mapping[str, float] = "google",
) -> pd.DataFrame:
    """Read files that other tools wrote as one tidy table: one row is one translation.

    Parameters
    ----------
    paths : path, table, or list of them
        Files, folders, or tables in memory (pandas, or anything with ``to_pandas``, as Hugging Face and polars have).
        Several are joined by system and segment: humans from one, metrics from others.
    layout : str
        A name from `layouts`, for all files; by default the layout is recognised.
    human : str, optional
        The column that holds the human scores, for example one of several dimensions. Other dimensions are left out.
    raters : {"mean", "standardise", "apart"}
        Several ratings of a translation become their mean; or their mean after each rater's were turned to z-scores; or
        the columns ``human, human_2, …`` in the order of the names of raters, as `mtmeta.raters.ceiling` needs them.
    columns : mapping of str to str, optional
        Our name of a column to its name in the files, such as ``{"system": "Engine"}``.
    weights : str or mapping
        For MQM errors, as for `mqm_weight`.

    Returns
    -------
    pandas.DataFrame
        Columns ``system, segment, human`` and one per metric, where known also ``lp, doc, domain, source, reference,
        translation``. Higher is better: metrics that count errors are turned. ``attrs["notes"]`` lists what was turned,
        left out and joined.

    Raises
    ------
    TypeError, ValueError
        If a layout is unknown or damaged, files have no system in common, or there are several human dimensions.

    See Also
    --------
    layouts : the layouts.
    load : load a tidy table as a checked set; it refuses what `read` would leave out.
    mtmeta.EvalSet.from_frame : make a set of the result.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.datasets import read
    >>> ratings = pd.DataFrame({"sys": list("AABB"), "seg_id": 1, "annotator": [1, 2, 1, 2], "rating": [3, 4, 1, 1]})
    >>> scores = pd.DataFrame({"system_id": ["A", "B"], "segment_id": 1, "prediction": [2.5, 20.0]})
    >>> table = read([ratings, scores])
    >>> table.to_dict("records")[0]
    {'system': 'A', 'segment': 1, 'human': 3.5, 'MetricX': -2.5}
    """
    check_choice("raters", raters, RATERS)
    if layout not in ("auto", *_LAYOUTS.index):
        raise unknown("layout", layout, _LAYOUTS.index)
    several = isinstance(paths, (list, tuple)) and not all(isinstance(path, dict) for path in paths)
    inputs = [_open(path) for path in (paths if several else [paths])]
    tables = []
    for given in inputs:
        given.weights = weights
        one = _recognised(given, columns or {}) if layout == "auto" else _LAYOUTS.loc[layout]
        if given.form != one.form:
            raise ValueError(f"{given.what}: layout {one.name} has the form {one.form!r}; found {given.form!r}.")
        given.notes.append(f"read as {one.name} ({one.made_by})")
        try:
            frame = one.read(given)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            if isinstance(error, ValueError) and given.what in str(error):  # its message says already what is wrong
                raise
            expected = f"expected the layout {one.name} with the fields {one.fields}"
            raise ValueError(f"{given.what}: {expected}; the file seems damaged ({error!r}).") from None
        tables.append(_tidied(frame, given, human, raters, columns or {}, alone=len(inputs) == 1))
    notes = [f"{given.what}: {note}" for given in inputs for note in given.notes]
    table = _joined(tables, inputs, notes)
    if human is not None and not any(f"human scores are {human!r}" in note for note in notes):
        raise unknown("column for the human scores", human, sorted(set().union(*(given.fields for given in inputs))))
    if "human" not in table or table["human"].isna().all():
        notes.append("no human scores: add the file that has them, or name their column with human=…")
    table.attrs["notes"] = notes
    return table


# -- files and objects ------------------------------------------------------------------------


def _open(given: Any) -> _Input:
    """Return the content of a file or object."""
    if not isinstance(given, (str, Path)):
        return _rows_input("table in memory", _frame_of(given), None)
    path = Path(given)
    what = str(given)
    if path.is_dir() or (not path.exists() and (path.parent / "human-scores").is_dir()):
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else []
        names = _open(files[0]).fields if files else set()
        names |= {"human-scores"} if (path / "human-scores").is_dir() or not path.exists() else set()
        return _Input(what, "folder", files, names, path)
    if not path.is_file():
        raise ValueError(f"there is no file or folder {path}.")
    suffix = Path(what.removesuffix(".gz").removesuffix(".xz")).suffix.lower()
    if suffix in (".csv", ".tsv", ".parquet", ".xlsx"):
        return _rows_input(what, _tables.read_raw(path), path)
    with _tables.PACKED.get(path.suffix.lower(), open)(path, "rb") as stream:
        text = text_of(stream.read(), path)
    if text.lstrip()[:1] not in ("{", "["):
        return _Input(what, "text", text, {"Segment", "score:"} if _COMET.search(text) else set(), path)
    try:
        content = json.loads(text)
    except ValueError:
        content = [row for _, row in _tables.json_lines(text, path)]
    if isinstance(content, dict) and content and all(isinstance(v, list) for v in content.values()):
        first = next(iter(content.values()), [])
        names = {*first[0]} if first and isinstance(first[0], dict) else set()
        return _Input(what, "lists by file", content, names, path)
    rows = content if isinstance(content, list) else [content]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{what}: expected JSON objects; found {text.strip()[:40]!r}.")
    return _rows_input(what, pd.DataFrame(rows, dtype=object), path)


def _frame_of(given: Any) -> pd.DataFrame:
    """Return a table in memory as a data frame."""
    if isinstance(given, Mapping) and any(hasattr(part, "to_pandas") for part in given.values()):
        if len(given) > 1:
            raise ValueError(f"expected one table; found the parts {listed(given)}. Choose one, such as data['test'].")
        given = next(iter(given.values()))
    frame = given.to_pandas() if hasattr(given, "to_pandas") else given
    if not isinstance(frame, pd.DataFrame | Mapping | list | tuple):
        raise TypeError(f"expected a path or a table; found {type(given).__name__}.")
    return pd.DataFrame(frame).reset_index(drop=True)


def _rows_input(what: str, frame: pd.DataFrame, path: Path | None) -> _Input:
    """Return a table with the names of its columns; those that have another name are listed by ours as well."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if {*frame.columns} & {"TGT", "REF", "BAD", "CHK"}:
        return _Input(what, "no header", frame, {"TGT"}, path)
    first = frame.iloc[0].to_dict() if len(frame) else {}
    scored = any(isinstance(value, dict) and "score" in value for value in first.values())
    fields = {*frame, *renames_of(frame, {}), *(["*.score"] if scored else [])}
    if isinstance(first.get("metric_scores"), dict):
        fields.add("metric_scores")
    return _Input(what, "rows", frame, fields, path)


def _recognised(given: _Input, columns: Mapping[str, str]) -> pd.Series:
    """Return the first layout whose fields are all there."""
    for _, one in _LAYOUTS.iterrows():
        if one.form == given.form and {*one.fields.split(", ")} <= given.fields | {*columns}:
            return one
    found = listed(sorted(given.fields), 20) or "no known field"
    known = "See mtmeta.datasets.layouts() for the known layouts, or name columns with columns=…"
    raise ValueError(f"{given.what}: unknown layout ({given.form}); found {found}. {known}")


# -- layouts ----------------------------------------------------------------------------------


def _appraise(given: _Input) -> pd.DataFrame:
    """Read user, system, item, type, languages, score, document, whether it is of a document; TGT rows only."""
    names = "rater system segment kind sl tl human doc whole".split()
    body = [list(given.content.columns), *given.content.to_numpy().tolist()]
    rows = pd.DataFrame([row[: len(names)] for row in body], columns=names)
    whole = rows["whole"].astype(str).str.casefold() == "true"
    target = rows["kind"] == "TGT"
    if whole.any():
        given.notes.append(f"left out {counted(int(whole.sum()), 'score')} of documents")
    if (~target).any():
        kinds = ", ".join(sorted(rows.loc[~target, "kind"].astype(str).unique()))
        given.notes.append(f"left out {counted(int((~target).sum()), 'control item')} ({kinds})")
    rows = rows[target & ~whole]
    return rows.assign(lp=rows["sl"] + "-" + rows["tl"]).drop(columns=["kind", "sl", "tl", "whole"])


def _wmt25_humeval(given: _Input) -> pd.DataFrame:
    """Read one segment a line, with the ratings human1, human2 of each system."""
    rows = []
    for line in given.rows:
        lp, domain, doc, number = line["doc_id"].split("_#_")
        about = {"lp": lp, "domain": domain, "doc": doc, "segment": f"{doc}_#_{number}", "source": line.get("src_text")}
        texts = line["tgt_text"]
        about["reference"] = texts.get("refA")
        for system, ratings in line["scores"].items():
            numbers = [key.removeprefix("human") for key in ratings if re.fullmatch(r"human\d*", key)]
            for k in numbers:
                rater = ratings.get(f"annotator{k}") or f"rater{k}"
                own = {"system": system, "translation": texts.get(system), "rater": rater}
                rows.append(about | own | {"human": ratings[f"human{k}"]})
    return pd.DataFrame(rows)


def _wmt25_folder(given: _Input) -> pd.DataFrame:
    """Read the files of all systems of a folder."""
    parts = [_open(path) for path in given.content]
    given.notes.append(f"{counted(len(parts), 'system')}, named as their files")
    return pd.concat([_wmt25_automatic(part) for part in parts], ignore_index=True)


def _wmt25_automatic(given: _Input) -> pd.DataFrame:
    """Read one document a line, with a list of scores by metric, one score a segment."""
    rows = []
    for line in given.rows:
        doc = line["document_id"]
        lengths = {len(scores) for scores in line["metric_scores"].values() if isinstance(scores, list)}
        for k in range(max(lengths, default=0)):
            scores = {m: s[k] for m, s in line["metric_scores"].items() if isinstance(s, list) and len(s) > k}
            about = {"lp": line.get("language_pair"), "domain": line.get("domain"), "doc": doc}
            rows.append(about | {"system": given.stem, "segment": f"{doc}_#_{k}"} | scores)
    return pd.DataFrame(rows)


def _tree(given: _Input) -> pd.DataFrame:
    """Read all language pairs of a tree, or the one after the last slash."""
    frames = []
    for load_part in _find.parts(str(given.path), Options()).values():
        es = load_part()
        given.notes += [f"left out {what} ({why})" for what, why in es.provenance["left_out"].items()]
        frames.append(es.to_frame().assign(lp=es.language_pair))
    return pd.concat(frames, ignore_index=True)


def _mtme_ratings(given: _Input) -> pd.DataFrame:
    """Read one rating a line, with its errors; the weights of MQM make scores of them."""
    rows = given.content
    weights = [
        sum(mqm_weight(e.get("category") or "", e.get("severity") or "", given.weights) for e in errors or [])
        for errors in rows["errors"]
    ]
    given.notes.append("human scores are minus the weights of the errors (MQM)")
    if {"src_lang", "tgt_lang"} <= {*rows}:
        rows = rows.assign(lp=rows["src_lang"] + "-" + rows["tgt_lang"])
    rows = rows.drop(columns=["errors", "src_lang", "tgt_lang"], errors="ignore")
    return rows.assign(human=[0.0 - weight for weight in weights])


def _subset2evaluate(given: _Input) -> pd.DataFrame:
    """Read one segment a row, with translations and scores by system."""
    rows = []
    for number, line in enumerate(given.rows):
        about = {"segment": line.get("i", number), "doc": line.get("doc"), "domain": line.get("domain")}
        about |= {"source": line["src"], "reference": line.get("ref")}
        for system, scores in line["scores"].items():
            rows.append(about | {"system": system, "translation": line["tgt"].get(system)} | dict(scores))
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def _metricx(given: _Input) -> pd.DataFrame:
    """Read one translation a row; the prediction is an error, so lower is better."""
    rows = given.content.rename(columns={"prediction": "MetricX"})
    rows["MetricX"] = 0.0 - to_numbers(rows["MetricX"])
    given.notes.append("MetricX predicts an error, lower is better: turned, so that higher is better")
    if "label" in rows:
        label = to_numbers(rows["label"])
        if label.between(0, 25).all() and label.nunique() > 1 and label.corr(rows["MetricX"]) < 0:
            label = 0.0 - label
            given.notes.append("the labels rise with the predicted error, so they count errors: turned as well")
        rows = rows.assign(human=label).drop(columns="label")
    return _by_position(rows, given)


def _by_position(rows: pd.DataFrame, given: _Input) -> pd.DataFrame:
    """Return rows with the file as system and the number of the row as segment, where they are not named."""
    renames = renames_of(rows, {})
    if "system" not in rows and "system" not in renames:
        rows = rows.assign(system=given.stem)
        given.notes.append(f"one system, named as the file: {given.stem}")
    if "segment" not in rows and "segment" not in renames:
        system = rows[renames.get("system", "system")]
        rows = rows.assign(segment=rows.groupby(system).cumcount())
        given.by_position = True
    return rows


def _comet_json(given: _Input) -> pd.DataFrame:
    """Read the segments of each file of translations, which stands for a system."""
    parts = []
    for file, rows in given.content.items():
        part = pd.DataFrame(rows, dtype=object).drop(columns=["errors", "f_score"], errors="ignore")
        parts.append(part.assign(system=_system(file), segment=range(len(part))))
    given.by_position = True
    names = {"src": "source", "mt": "translation", "ref": "reference"}
    return pd.concat(parts, ignore_index=True).rename(columns=names)


def _system(file: str) -> str:
    """Return the system that a file of translations stands for."""
    return re.sub(r"\.(txt|out|hyp|mt|tok|detok)$", "", Path(file.replace("\\", "/")).name)


_COMET = re.compile(r"^(.+?)\t?\s*Segment (\d+)\s+score: (-?[\d.]+(?:e-?\d+)?)\s*$", re.MULTILINE)


def _comet_text(given: _Input) -> pd.DataFrame:
    """Read lines FILE, Segment K, score: NUMBER; the means of systems are left out."""
    found = _COMET.findall(given.content)
    rows = [{"system": _system(f.strip()), "segment": int(k), "COMET": float(score)} for f, k, score in found]
    given.by_position = True
    return pd.DataFrame(rows)


def _sacrebleu(given: _Input) -> pd.DataFrame:
    """Read one score a row, of a whole system, which is named as the file."""
    given.notes.append(f"scores of one whole system, named as the file: {given.stem}")
    return _turned([{row["name"]: float(row["score"]) for row in given.rows} | {"system": given.stem}], given)


def _sacrebleu_systems(given: _Input) -> pd.DataFrame:
    """Read one system a row, with the score of each metric."""
    rows = []
    for row in given.rows:
        scores = {m: v["score"] for m, v in row.items() if isinstance(v, dict) and "score" in v}
        rows.append(scores | {"system": _system(row["system"].removeprefix("Baseline: "))})
    given.notes.append("scores of whole systems")
    return _turned(rows, given)


def _turned(rows: list[dict[str, Any]], given: _Input) -> pd.DataFrame:
    """Return scores of sacreBLEU as a table, in which higher is better."""
    table = pd.DataFrame(rows)
    if "TER" in table:
        given.notes.append("TER counts errors, lower is better: turned, so that higher is better")
        table["TER"] = 0.0 - table["TER"]
    return table


def _label_studio_json(given: _Input) -> pd.DataFrame:
    """Read tasks with the ratings of each annotation that was not cancelled."""
    rows = []
    for task in given.rows:
        for annotation in [one for one in task["annotations"] if not one.get("was_cancelled")]:
            by = annotation.get("completed_by")
            own = {"rater": by.get("email", by.get("id")) if isinstance(by, dict) else by}
            for result in annotation["result"]:
                value = result["value"]
                known = [value[k] for k in ("rating", "number") if k in value]
                known += [choice for choice in value.get("choices", [])[:1] if re.fullmatch(r"-?[\d.]+", str(choice))]
                own |= dict.fromkeys([result["from_name"]] if known else [], known[0] if known else None)
            rows.append({**task["data"], **own})
    return _one_dimension(pd.DataFrame(rows, dtype=object), given)


def _label_studio(given: _Input) -> pd.DataFrame:
    """Read one annotation a row, with its ratings in columns named as their controls."""
    own = "annotation_id created_at id lead_time updated_at project file_upload inner_id total_annotations".split()
    return _one_dimension(given.content.drop(columns=own, errors="ignore"), given)


def _one_dimension(rows: pd.DataFrame, given: _Input) -> pd.DataFrame:
    """Return ratings; a single column of numbers is the human score, whatever its name."""
    rows = rows.rename(columns={theirs: ours for ours, theirs in renames_of(rows, {}).items()})
    numeric = [c for c in rows if c not in (*RESERVED, "rater") and to_numbers(rows[c]).notna().any()]
    numeric = [c for c in numeric if not is_no_score(c)]
    if "human" not in rows and len(numeric) == 1:
        given.notes.append(f"human scores are {numeric[0]!r}")
        return rows.rename(columns={numeric[0]: "human"})
    return rows


def _mqm_errors(given: _Input) -> pd.DataFrame:
    """Read one error a row; the score is minus the sum of the weights, averaged over raters."""
    if given.path is None:
        raise ValueError("tables of MQM errors are read from files only. Save it as .tsv.")
    es = load_errors(given.path, Options(), weights=given.weights)
    given.notes += [f"left out {what} ({why})" for what, why in es.provenance["left_out"].items()]
    return es.to_frame()


def _long(given: _Input) -> pd.DataFrame:
    """Read one score a row, of the metric that it names; the human score is one of these."""
    rows = given.content.rename(columns={theirs: ours for ours, theirs in renames_of(given.content, {}).items()})
    rows["score"] = _numbers(rows["score"], "score", given)
    return widened(rows, given.what)


def _table(given: _Input) -> pd.DataFrame:
    """Read one translation a row, or one rating a row with a column rater."""
    return given.content


def _wide(given: _Input) -> pd.DataFrame:
    """Read one segment a row; each column of numbers is a system, or SCORE_SYSTEM for several kinds of scores."""
    rows = given.content.rename(columns={theirs: ours for ours, theirs in renames_of(given.content, {}).items()})
    kept = [c for c in rows if c in _FIRST or is_reference(c) or is_rating(c)]
    systems = [c for c in rows if c not in kept and not is_no_score(c) and to_numbers(rows[c]).notna().any()]
    if len(systems) < 2:
        raise ValueError(
            f"{given.what}: expected a column 'system', or a column of scores for each system; found {listed(rows)}."
        )
    tall = rows.melt(kept, systems, "column", "score")
    names, parts = tall["column"], tall["column"].str.partition("_")
    kinds, own = parts[0], parts[2]
    if not own.all() or own.nunique() < 2 or kinds.nunique() * own.nunique() != len(systems):
        kinds, own = "human" if re.search("human|mqm|esa|rating", given.stem.casefold()) else given.stem, names
    given.notes.append(f"{counted(own.nunique(), 'system')}, a column each: {some_of(own.unique())}")
    tall = tall.assign(kind=kinds, system=own).drop(columns="column")
    return tall.pivot(index=[*kept, "system"], columns="kind", values="score").rename_axis(columns=None).reset_index()


#: By name: what writes a layout, its form, the fields that show it, and what reads it. The first whose fields are all
#: there is taken.
_LAYOUTS = pd.DataFrame(
    {
        "appraise": ("Appraise's export", "no header", "TGT", _appraise),
        "wmt25-humeval": ("WMT25's human evaluation", "rows", "doc_id, scores, tgt_text", _wmt25_humeval),
        "wmt25-automatic": ("WMT25's scores, a file a system", "folder", "document_id, metric_scores", _wmt25_folder),
        "wmt25-automatic-file": ("WMT25's scores of a system", "rows", "document_id, metric_scores", _wmt25_automatic),
        "mt-metrics-eval": ("a tree of mt-metrics-eval, WMT19 to WMT25", "folder", "human-scores", _tree),
        "mtme-ratings": ("ratings of mt-metrics-eval", "rows", "hypothesis, errors, segment_id", _mtme_ratings),
        "subset2evaluate": ("subset2evaluate", "rows", "src, tgt, scores", _subset2evaluate),
        "metricx": ("MetricX, predict or evaluate", "rows", "prediction", _metricx),
        "comet-json": ("comet-score --to_json", "lists by file", "src, mt", _comet_json),
        "comet-text": ("comet-score on standard output", "text", "Segment, score:", _comet_text),
        "sacrebleu": ("sacrebleu --format json, one system", "rows", "name, score, signature", _sacrebleu),
        "sacrebleu-systems": ("sacrebleu --format json, systems", "rows", "system, *.score", _sacrebleu_systems),
        "label-studio-json": ("Label Studio, JSON", "rows", "annotations, data", _label_studio_json),
        "label-studio": ("Label Studio, CSV or JSON-MIN", "rows", "annotation_id, annotator, lead_time", _label_studio),
        "mqm": ("MQM errors of Google", "rows", "system, rater, source, category, severity", _mqm_errors),
        "long": ("a table with a row a score", "rows", "system, segment, metric, score", _long),
        "table": ("a table with a row a translation", "rows", "system, segment", _table),
        "wide": ("a table with a column a system", "rows", "segment", _wide),
    },
    index=["made_by", "form", "fields", "read"],
).T.rename_axis("layout")


# -- one file, tidied ---------------------------------------------------------------------------


def _numbers(column: pd.Series, name: str, given: _Input) -> pd.Series:
    """Return a column as numbers, empty where it is; raise if it holds text."""
    try:
        return number_column(column, name)
    except ValueError as error:
        raise ValueError(f"{given.what}: {error}") from None


def _tidied(frame, given: _Input, human: str | None, raters: str, columns: Mapping[str, str], *, alone: bool):
    """Return a table with our names, numbers and one row a translation; list in the notes what was left out."""
    for theirs in columns.values():
        if theirs not in frame and alone:
            raise unknown(f"column of {given.what}", theirs, list(frame))
    columns = {ours: theirs for ours, theirs in columns.items() if theirs in frame}
    renames = {ours: theirs for ours, theirs in renames_of(frame, columns).items() if theirs != ours}
    if human is not None and human in frame:
        renames = {ours: theirs for ours, theirs in renames.items() if ours != "human" and theirs != human}
        frame = frame.drop(columns="human", errors="ignore") if human != "human" else frame
        given.notes.append(f"human scores are {human!r}")
    if renames:
        given.notes.append("renamed " + ", ".join(f"{theirs!r} to {ours!r}" for ours, theirs in renames.items()))
    if human is not None and "human" not in frame:
        renames |= {"human": human}
    frame = frame.rename(columns={theirs: ours for ours, theirs in renames.items()})
    if "system" not in frame:
        raise ValueError(f"{given.what}: no column 'system'; found {listed(frame)}. Name it with columns=….")
    whole = "segment" not in frame
    frame = frame.assign(system=frame["system"].astype(str), segment="all" if whole else frame["segment"].astype(str))
    frame = _scores_only(frame, given, human)
    if "human" not in frame and alone and (names := [c for c in frame if c == given.stem]):
        frame = frame.rename(columns={names[0]: "human"})
        given.notes.append("took the only scores for those of humans")
    frame = _one_a_translation(frame, given, raters)
    return frame.assign(segment=np.nan) if whole else frame


def _scores_only(frame: pd.DataFrame, given: _Input, human: str | None) -> pd.DataFrame:
    """Return the columns of keys, texts and scores; those of scores as numbers."""
    left_out, dimensions = {}, []
    for name in [c for c in frame if c not in (*_FIRST[:-1], "rater") and not is_reference(c)]:
        column = frame[name]
        if name != "human" and not is_rating(name):
            with suppress(ValueError):
                column = number_column(column, name)
            if not pd.api.types.is_numeric_dtype(column):
                left_out[name] = "holds no numbers"
            elif column.isna().all():
                left_out[name] = "is empty"
            elif is_no_score(name):
                left_out[name] = "seems not to be a score"
            elif is_dimension(name):
                dimensions.append(name)
        if name not in left_out:
            frame[name] = _numbers(column, name, given)
    if dimensions and "human" not in frame and human is None:
        what = f"{given.what}: no column 'human', but {listed(dimensions)}, which people rate"
        raise ValueError(f"{what}. Name the one to compare metrics with: human='{dimensions[0]}'. Others are left out.")
    left_out |= dict.fromkeys(dimensions, "another human dimension")
    given.notes += [f"left out column {name!r}: {why}" for name, why in left_out.items()]
    return frame.drop(columns=[*left_out])


def _one_a_translation(frame: pd.DataFrame, given: _Input, raters: str) -> pd.DataFrame:
    """Return one row a translation: several ratings become one, or human, human_2 and so on."""
    keys = [c for c in _KEYS if c in frame]
    again = frame.duplicated(keys, keep=False)
    if not again.any() and raters != "standardise":
        return frame.drop(columns="rater", errors="ignore")
    if "human" not in frame or ("rater" not in frame and not again.any()):
        if again.any():
            row = ", ".join(f"{key} {frame.loc[again, key].iloc[0]!r}" for key in keys)
            raise ValueError(f"{given.what} has several rows of {row}, and no human scores; expected one row.")
        return frame
    if "rater" not in frame:
        given.notes.append("several rows of a translation and no column 'rater': each counts as a further rating")
        frame = frame.assign(rater=frame.groupby(keys).cumcount().map("row {}".format))
    ratings = frame.groupby([*keys, "rater"], sort=False, dropna=False)["human"].mean().rename("human").reset_index()
    if raters == "standardise":
        by = ratings.groupby("rater", dropna=False)["human"]
        ratings["human"] = (ratings["human"] - by.transform("mean")) / by.transform("std", ddof=0).replace(0.0, 1.0)
    n, most = ratings["rater"].nunique(dropna=False), int(ratings.groupby(keys, dropna=False).size().max())
    others = frame.drop(columns=["human", "rater"])
    scores = [c for c in others if c not in _FIRST and not is_reference(c)]
    how = dict.fromkeys((c for c in others if c not in keys), "first") | dict.fromkeys(scores, "mean")
    table = (
        others.groupby(keys, sort=False, dropna=False).agg(how).reset_index() if how else others.drop_duplicates(keys)
    )
    if raters == "apart":
        ratings = ratings.dropna(subset="human").sort_values("rater", key=lambda names: names.map(natural))
        number = ratings.groupby(keys, dropna=False).cumcount() + 1
        ratings["name"] = number.map(lambda k: "human" if k == 1 else f"human_{k}")
        pivot = ratings.pivot(index=keys, columns="name", values="human").rename_axis(columns=None)
        pivot = pivot[sorted(pivot, key=natural)]
    else:
        pivot = ratings.groupby(keys, sort=False, dropna=False)["human"].mean()
    given.notes.append(
        f"{counted(n, 'rater')}, up to {counted(most, 'rating')} of a translation: human is {RATERS[raters]}"
    )
    return table.join(pivot, on=keys)


# -- several files, joined ----------------------------------------------------------------------


def _joined(tables: list[pd.DataFrame], inputs: list[_Input], notes: list[str]) -> pd.DataFrame:
    """Return one table of all files, joined by system and segment, with its columns and rows in order."""
    pairs = [(table, given) for table, given in zip(tables, inputs, strict=True) if table["segment"].notna().all()]
    pairs.sort(key=lambda pair: "human" not in pair[0])
    whole = [(table, given) for table, given in zip(tables, inputs, strict=True) if table["segment"].isna().any()]
    joined = reduce(lambda one, two: (_join(one, two, notes), one[1]), pairs)[0] if pairs else None
    for table, given in whole:
        table = table.assign(segment="all")
        if joined is not None and (joined["segment"] != "all").any():
            keys = [c for c in ("lp", "system") if c in joined]
            scores = joined.select_dtypes("number").columns
            joined = joined.groupby(keys, sort=False)[[*scores]].mean().reset_index().assign(segment="all")
            notes.append(f"{given.what} has scores of whole systems only, so the others became means of systems")
        joined = table if joined is None else _join((joined, inputs[0]), (table, given), notes)
    names = [c for c in _FIRST if c in joined]
    names += [c for c in joined if is_rating(c) and c not in names]
    if "lp" in joined and joined["lp"].isna().all():
        joined, names = joined.drop(columns="lp"), [c for c in names if c != "lp"]
    joined = joined[[*names, *(c for c in joined if c not in names)]].reset_index(drop=True)
    return joined.assign(segment=pd.Series(canonical_ids(joined["segment"].tolist()), dtype=object).infer_objects())


def _join(one: tuple[pd.DataFrame, _Input], two: tuple[pd.DataFrame, _Input], notes: list[str]) -> pd.DataFrame:
    """Return two tables as one."""
    (left, first), (right, second) = one, two
    if "lp" in left and "lp" in right and not {*left["lp"]} & {*right["lp"]}:
        given, other = (f"{listed(sorted({*table['lp'].astype(str)}), 4)}" for table in (left, right))
        notes.append(f"{second.what}: its language pair, {other}, is taken for {given} of {first.what}")
        right = right.drop(columns="lp")
    systems = {*left["system"]} & {*right["system"]}
    if not systems and not {*left.columns} & {*right.columns} - {*_FIRST[:-1]}:
        names = f"{listed(left['system'].unique(), 4)}, and {listed(right['system'].unique(), 4)}"
        raise ValueError(f"{first.what} and {second.what} have no system in common: {names}. Rename those of one.")
    right = _aligned(left, right, first, second, notes) if systems else right
    keys = [c for c in _KEYS if c in left and c in right]
    if systems and "source" in left and "source" in right:
        sides = (table.groupby("segment")["source"].first().str.strip() for table in (left, right))
        both = pd.concat(sides, axis=1, keys=["one", "two"]).dropna()
        differ = int((both["one"] != both["two"]).sum())
        if differ:
            raise ValueError(
                f"{first.what} and {second.what}: the sources of {differ} of {len(both)} segments differ. Do both "
                "number the segments alike?"
            )
    merged = left.merge(right, on=keys, how="outer", suffixes=("", "\0"), indicator="\0from", sort=False)
    for name in [c for c in right if c not in keys and c in left]:
        both = merged[name].notna() & merged[f"{name}\0"].notna()
        if is_reference(name) or name in _FIRST[:-1] or not (merged[name] != merged[f"{name}\0"])[both].any():
            merged[name] = merged[name].where(merged[name].notna(), merged[f"{name}\0"])
        elif name == "human":
            notes.append(f"{second.what}: left out its human scores, which differ from those of {first.what}")
        else:
            merged[f"{name}_{second.stem}"] = merged[f"{name}\0"]
            notes.append(f"{second.what}: {name!r} is there already, so it is called '{name}_{second.stem}'")
        merged = merged.drop(columns=f"{name}\0")
    origin = merged.pop("\0from").value_counts()
    notes.append(
        f"joined {first.what} and {second.what} by {' and '.join(keys)}: {origin['both']} translations in both, "
        f"{origin['left_only']} only in the first, {origin['right_only']} only in the second"
    )
    return merged


def _aligned(left, right, first: _Input, second: _Input, notes: list[str]) -> pd.DataFrame:
    """Return the right table with the segments of the left one, if it only counts them otherwise."""
    here, there = (sorted(table["segment"].unique(), key=natural) for table in (left, right))
    if here == there or len(here) != len(there):
        return right
    if second.by_position or first.by_position or (not {*here} & {*there}) or (_from(here) and _from(there)):
        span = f"{there[0]} to {there[-1]} are {here[0]} to {here[-1]} of {first.what}"
        notes.append(f"{second.what}: segments were matched by position, {span}")
        return right.assign(segment=right["segment"].map(dict(zip(there, here, strict=True))))
    return right


def _from(segments: Iterable[str]) -> bool:
    """Say whether segments are numbered one by one."""
    numbers = [int(s) if re.fullmatch(r"\d{1,9}", s) else -1 for s in segments]
    return numbers == [*range(numbers[0], numbers[0] + len(numbers))] and numbers[0] >= 0
