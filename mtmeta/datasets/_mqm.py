"""MQM annotations as published by Google: error tables, and tables of average scores."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from .._names import natural, unknown
from ..evalset import EvalSet, Texts
from ._common import Options, canonical_ids, choose_references, finished, finite, read_lines
from ._locate import locate

__all__ = ["mqm_weight"]

NO_ERROR = "no-error"
SPAN_COLUMNS = (
    "system", "segment", "rater", "category", "severity", "weight", "start", "end", "text", "is_source_error",
)  # fmt: skip
_AVERAGE_HEADER = ["system", "mqm_avg_score", "seg_id"]
_ERROR_COLUMNS = ("system", "rater", "source", "target", "category", "severity")
_SEGMENT_COLUMNS = ("seg_id", "globalSegId", "global_seg_id")
_REFERENCE_NAME = re.compile(r"ref([A-Z]?)")

_TED = {"en-de": "refA", "zh-en": "refB"}
"""Language pair to the standard reference of WMT21's TED talks."""

_NEWSTEST2021 = {"en-de": "refC", "zh-en": "refA"}
"""Language pair to the reference. For zh-en WMT21 used refB, whose text is not published with the systems."""

_NEWSTEST2021_FILE_NAMES = {"Nemo": "NVIDIA-NeMo"}


def mqm_weight(category: str, severity: str) -> float:
    """Return the weight of an MQM error.

    Non-translation 25; major 5; minor 1, but minor Fluency/Punctuation 0.1; neutral and no error 0.
    The score of a translation is minus the sum of its weights, averaged over raters.

    Parameters
    ----------
    category, severity : str
        As annotated; upper and lower case are the same.

    Returns
    -------
    float
        Penalty, 0 or more; lower is better.

    Raises
    ------
    ValueError
        If the severity is unknown.

    Examples
    --------
    >>> from mtmeta.datasets import mqm_weight
    >>> mqm_weight("Accuracy/Mistranslation", "Major"), mqm_weight("Fluency/Punctuation", "Minor")
    (5.0, 0.1)
    """
    category, severity = category.strip().casefold(), severity.strip().casefold()
    if severity in ("neutral", NO_ERROR, "no error"):
        return 0.0
    if severity not in ("major", "minor"):
        raise unknown("severity", severity, ["major", "minor", "neutral", NO_ERROR])
    if category.startswith("non-translation"):
        return 25.0
    if severity == "major":
        return 5.0
    return 0.1 if category.startswith("fluency/punctuation") else 1.0


def is_error_table(header: str) -> bool:
    """Say whether the first line of a file is that of an MQM error table."""
    return {"system", "rater", "target", "category", "severity"} <= set(header.rstrip("\r\n").split("\t"))


def is_average_table(header: str) -> bool:
    """Say whether the first line of a file is that of a table of average MQM scores."""
    return header.split() == _AVERAGE_HEADER


# -- the sets ---------------------------------------------------------------------------------


def load_ted(lp: str, options: Options) -> EvalSet:
    """Load the MQM annotation of WMT21's TED talks."""
    folder = lp.replace("-", "")
    path = locate(f"google-mqm/ted/{folder}/mqm_ted_{folder}.tsv")
    return load_errors(path, options, name=f"ted/{lp}", lp=lp, standard=_TED[lp], rename={"ref": "refA"})


def load_newstest2021(lp: str, options: Options) -> EvalSet:
    """Load the average MQM scores of newstest2021, with the texts of the systems that have them."""
    options.refuse("newstest2021, of which average scores are published", "metrics_from", "spans")
    folder = lp.replace("-", "")
    path = locate(f"google-mqm/newstest2021/{folder}/mqm_newstest2021_{folder}.avg_seg_scores.tsv")
    texts = locate("wmt21-news-systems/txt")
    source, target = lp.split("-")
    scores = _read_averages(path)
    n = scores.shape[1]
    if list(scores.columns) != list(range(1, n + 1)):
        raise ValueError(f"{path}: segment ids must count from 1 to {n}, in every system. The file may be truncated.")

    def text(kind: str, name: str, language: str) -> tuple[str, ...] | None:
        file = texts / kind / f"newstest2021.{lp}.{name}.{language}"
        return tuple(read_lines(file, n)) if file.exists() else None

    translations = {}
    for system in scores.index:
        if _REFERENCE_NAME.fullmatch(system):
            lines = text("references", f"ref.{system[-1]}", target)
        else:
            lines = text("system-outputs", f"hyp.{_NEWSTEST2021_FILE_NAMES.get(system, system)}", target)
        if lines is not None:
            translations[system] = lines
    sources = text("sources", "src", source)
    if sources is None or not translations:
        raise ValueError(f"{texts} has no texts of newstest2021 {lp}. Get them with `mtmeta fetch newstest2021`.")
    left_out = {s: "no text is published" for s in scores.index if s not in translations}
    return _assemble(
        scores.loc[list(translations)], sources, translations, options,
        name=f"newstest2021/{lp}", lp=lp, standard=_NEWSTEST2021[lp], source=path, left_out=left_out,
    )  # fmt: skip


# -- files ------------------------------------------------------------------------------------


def load_averages(path: Path, options: Options) -> EvalSet:
    """Load a table of average MQM scores: ``system mqm_avg_score seg_id``."""
    options.refuse("a table of average scores", "metrics_from", "spans")
    return _assemble(_read_averages(path), None, {}, options, name=path.name.split(".")[0], source=path)


def load_errors(path: Path, options: Options, *, name=None, lp=None, standard=None, rename=None) -> EvalSet:
    """Load an MQM error table: one row is one error (or ``No-error``) by one rater."""
    options.refuse("a table of MQM errors", "metrics_from")
    rows = _read_errors(path)
    rows["system"] = rows["system"].replace(rename or {})
    sums = rows.groupby(["system", "segment", "rater"], sort=False)["weight"].sum()
    scores = -sums.groupby(level=["system", "segment"], sort=False).mean().unstack("segment") + 0.0
    segments = rows["segment"].drop_duplicates().tolist()
    segments = sorted(segments) if isinstance(segments[0], int) else segments
    scores = scores.reindex(index=rows["system"].drop_duplicates(), columns=segments)
    cells = _one_text(rows, ["system", "segment"], "target", path)
    sources = _one_text(rows, ["segment"], "source", path)
    translations = {s: tuple(cells.get((s, k)) for k in segments) for s in scores.index}
    by_segment = _one_text(rows, ["segment"], "doc", path) if "doc" in rows else None
    documents = by_segment and tuple(by_segment[k] for k in segments)
    return _assemble(
        scores, tuple(sources[k] for k in segments), translations, options,
        name=name or path.stem, lp=lp, standard=standard, source=path, documents=documents, errors=rows,
    )  # fmt: skip


def _read_averages(path: Path) -> pd.DataFrame:
    """Return the scores, one row per system and one column per segment; None is NaN."""
    lines = read_lines(path)
    if not lines or not is_average_table(lines[0]):
        found = "".join(lines[:1])[:60]
        raise ValueError(f"{path}: expected the header {' '.join(_AVERAGE_HEADER)!r}; found {found!r}.")
    found: dict[tuple[str, int], float] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            system, score, segment = line.split()
            key, value = (_system_name(system), int(segment)), finite(score) + 0.0
        except ValueError:
            raise ValueError(f"{path}, line {number}: expected `SYSTEM SCORE SEGMENT`; found {line[:60]!r}.") from None
        if np.isnan(value) and score != "None":
            raise ValueError(f"{path}, line {number}: {score[:40]!r} is not a finite number.")
        if key in found:
            raise ValueError(f"{path}, line {number}: {key} occurs twice; expected one score per system and segment.")
        found[key] = value
    if not found:
        raise ValueError(f"{path} has a header and no scores.")
    table = pd.Series(found).unstack()
    return table.reindex(index=list(dict.fromkeys(system for system, _ in found)))


def _read_errors(path: Path) -> pd.DataFrame:
    """Return the rows of an error table, checked, with weights, texts without marks, and span offsets."""
    lines = read_lines(path)
    header = lines[0].split("\t") if lines else []
    absent = [c for c in _ERROR_COLUMNS if c not in header]
    segment_column = next((c for c in _SEGMENT_COLUMNS if c in header), None)
    if absent or segment_column is None:
        raise ValueError(
            f"{path}: an MQM error table needs the columns {', '.join(_ERROR_COLUMNS)} and seg_id; found {header[:12]}."
        )
    at = {c: header.index(c) for c in (*_ERROR_COLUMNS, segment_column, *(["doc"] if "doc" in header else []))}
    rows = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if not max(at.values()) < len(fields) <= len(header):
            raise ValueError(
                f"{path}, line {number}: expected {len(header)} tab-separated fields; found {len(fields)}. "
                "The file may be truncated."
            )
        row = {c: fields[i] for c, i in at.items()}
        if "hotw-test" in (row["severity"].strip().casefold(), row["category"].strip().casefold()):
            continue
        for column in ("system", "rater", segment_column):
            if not row[column].strip():
                raise ValueError(f"{path}, line {number}: {column} is empty.")
        try:
            row["weight"] = mqm_weight(row["category"], row["severity"])
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        row["source"], source_span = _unmark(row["source"])
        row["target"], target_span = _unmark(row["target"])
        row["is_source_error"] = target_span is None and source_span is not None
        row["start"], row["end"] = target_span or source_span or (None, None)
        rows.append(row)
    if not rows:
        raise ValueError(f"{path} has no rows with ratings.")
    frame = pd.DataFrame(rows).rename(columns={segment_column: "segment"})
    frame["system"] = frame["system"].map(_system_name)
    frame["segment"] = pd.Series(canonical_ids(frame["segment"].tolist()), dtype=object)
    return frame


def _system_name(name: str) -> str:
    """Return a system name; a reference is called ``refA``, however its file spells it (``ref-A``, ``ref.A``)."""
    return re.sub(r"^ref[-._]([A-Z])$", r"ref\1", name)


def _unmark(text: str) -> tuple[str, tuple[int, int] | None]:
    """Return a text without its ``<v>…</v>`` marks, and the marked span.

    Offsets count characters of the returned text; the end is exclusive. A mark that is not
    closed runs to the end of the text; of several marks the outermost limits are given.

    >>> _unmark("Ein <v>rote</v> Haus")
    ('Ein rote Haus', (4, 8))
    """
    if "<v>" not in text and "</v>" not in text:
        return text, None
    before, opened, rest = text.partition("<v>")
    inside, closed, after = rest.rpartition("</v>") if opened else ("", "", "")
    if not opened:
        before, inside, after = "", *text.rpartition("</v>")[::2]
    elif not closed:
        inside, after = rest, ""
    inside = inside.replace("<v>", "").replace("</v>", "")
    after = after.replace("<v>", "")
    return before + inside + after, (len(before), len(before) + len(inside))


def _one_text(rows: pd.DataFrame, keys: list[str], column: str, path: Path) -> dict:
    """Return one value of ``column`` per key; refuse contradictions."""
    distinct = rows[[*keys, column]].drop_duplicates()
    torn = distinct.duplicated(keys)
    if torn.any():
        where = distinct.loc[torn].iloc[0]
        which = ", ".join(f"{k} {where[k]!r}" for k in keys)
        raise ValueError(f"{path}: the {column} of {which} differs between rows; expected the same text in all.")
    index = [tuple(k) if len(keys) > 1 else k[0] for k in distinct[keys].itertuples(index=False)]
    return dict(zip(index, distinct[column], strict=True))


def _assemble(
    scores: pd.DataFrame, sources, translations: dict, options: Options, *,
    name: str, source: Path, lp=None, standard=None, documents=None, errors=None, left_out=None,
) -> EvalSet:  # fmt: skip
    """Build the set: the reference out, other human translations stay candidates."""
    if options.annotation not in (None, "mqm"):
        raise unknown(f"annotation of {name}", options.annotation, ["mqm"])
    left_out = left_out or {}
    references = sorted(filter(_REFERENCE_NAME.fullmatch, scores.index))
    chosen = choose_references(options.reference, references, standard, name)
    candidates = [s for s in sorted(scores.index, key=natural) if s not in chosen]
    left_out = dict.fromkeys(chosen, "the reference") | left_out
    for system in [s for s in candidates if scores.loc[s].isna().all()]:
        left_out[system] = "no human scores"
        candidates.remove(system)
    ordered = [*chosen, *(r for r in references if r not in chosen)]
    texts = None
    if translations:
        texts = Texts(sources, {r: translations[r] for r in ordered}, {s: translations[s] for s in candidates})
    es = EvalSet(
        scores.loc[candidates].to_numpy(dtype=np.float64),
        {},
        systems=candidates,
        segments=list(scores.columns),
        name=name,
        language_pair=lp,
        documents=documents,
        texts=texts,
        human_systems=set(candidates) & set(references),
        spans=_spans(errors, candidates, texts) if options.spans else None,
        provenance={
            "source": str(source),
            "annotation": "mqm",
            "reference": ".".join(chosen) or None,
            "variants": {},
            "left_out": left_out,
        },
    )
    return finished(es, options)


def _spans(errors: pd.DataFrame, candidates: list[str], texts: Texts) -> pd.DataFrame:
    """Return the error rows of the candidates in the columns of `EvalSet.spans`."""
    frame = errors[errors["system"].isin(candidates)].copy()
    free = frame["severity"].str.strip().str.casefold().isin([NO_ERROR, "no error"])
    frame.loc[free, ["category", "severity"]] = NO_ERROR
    shown = frame["target"].where(~frame["is_source_error"], frame["source"])
    frame["text"] = [
        None if pd.isna(start) else text[int(start) : int(end)]
        for text, start, end in zip(shown, frame["start"], frame["end"], strict=True)
    ]
    frame = frame[list(SPAN_COLUMNS)].reset_index(drop=True)
    return frame.astype({"start": "Int64", "end": "Int64", "weight": float})
