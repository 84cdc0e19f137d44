"""MQM annotations as published by Google: error tables, and tables of average scores."""

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from .._checks import check_number
from .._files import read_text
from .._names import counted, unknown
from .._tables import check_table
from ..evalset import EvalSet
from . import _common
from ._common import Options, canonical_ids, choose_references, from_rows, locate, read_lines

NO_ERROR = "no-error"
_SIDES = ("source", "translation")
_SEGMENT_COLUMNS = ("seg_id", "globalSegId", "global_seg_id")
_REFERENCE_NAME = re.compile(r"ref([A-Z]?)")

#: Language pair to the standard reference of WMT21's TED talks.
_TED = {"en-de": "refA", "zh-en": "refB"}
#: Language pair to the reference. For zh-en WMT21 used refB, whose text is not published with the systems.
_NEWSTEST2021 = {"en-de": "refC", "zh-en": "refA"}
_NEWSTEST2021_FILE_NAMES = {"Nemo": "NVIDIA-NeMo"}


#: Weights by severity, or by severity and the beginning of a category; the longest that fits is taken.
_COMMON = {"neutral": 0.0, NO_ERROR: 0.0, "no error": 0.0, "minor": 1.0, "major": 5.0}
_GOOGLE = {"critical": 25.0, "minor/fluency/punctuation": 0.1}
_GOOGLE |= {f"{severity}/non-translation": 25.0 for severity in ("minor", "major", "critical")}
WEIGHTS = {"google": _COMMON | _GOOGLE, "unbabel": _COMMON | {"critical": 10.0}, "mqm": _COMMON | {"critical": 25.0}}


def mqm_weight(category: str, severity: str, weights: str | Mapping[str, float] = "google") -> float:
    """Return the weight of an MQM error.

    The score of a translation is minus the sum of its weights, averaged over raters.

    Parameters
    ----------
    category, severity : str
        As annotated; upper and lower case are the same.
    weights : {"google", "unbabel", "mqm"} or mapping
        Major errors weigh 5, minor ones 1, neutral ones 0. Google: non-translation 25, minor Fluency/Punctuation 0.1,
        and critical errors, which Google does not annotate, 25. Unbabel: critical 10. MQM's own: critical 25. A mapping
        has weights by severity, or by severity and category: ``{"major": 5, "minor": 1, "minor/style": 0.5}``.

    Returns
    -------
    float
        Penalty, 0 or more; lower is better.

    Raises
    ------
    ValueError
        If the severity has no weight, or there are no weights of this name.

    See Also
    --------
    load : sets with MQM ratings.

    References
    ----------
    Freitag et al. 2021.

    Examples
    --------
    >>> from mtmeta.datasets import mqm_weight
    >>> mqm_weight("Accuracy/Mistranslation", "Major"), mqm_weight("Fluency/Punctuation", "Minor")
    (5.0, 0.1)
    >>> mqm_weight("Accuracy/Mistranslation", "Critical", "unbabel")
    10.0
    """
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise unknown("weights", weights, [*WEIGHTS])
        weights = WEIGHTS[weights]
    else:
        weights = dict.fromkeys(("neutral", NO_ERROR, "no error"), 0.0) | {
            name.strip().casefold(): check_number("weights", weight) for name, weight in weights.items()
        }
    category, severity = category.strip().casefold(), severity.strip().casefold()
    fits = [name for name in weights if f"{severity}/{category}".startswith(f"{name}/" if "/" not in name else name)]
    if not fits:
        raise unknown("severity", severity, [name for name in weights if "/" not in name])
    return float(weights[max(fits, key=len)])


# -- the sets ---------------------------------------------------------------------------------


def load_ted(lp: str, options: Options) -> EvalSet:
    """Load the MQM annotation of WMT21's TED talks."""
    folder = lp.replace("-", "")
    path = locate(f"google-mqm/ted/{folder}/mqm_ted_{folder}.tsv")
    return load_errors(path, options, name=f"ted/{lp}", lp=lp, standard=_TED[lp], rename={"ref": "refA"})


def load_newstest2021(lp: str, options: Options) -> EvalSet:
    """Load the average MQM scores of newstest2021, with the texts of the systems that have them."""
    options.refuse("newstest2021, of which average scores are published", "metrics_from")
    folder = lp.replace("-", "")
    path = locate(f"google-mqm/newstest2021/{folder}/mqm_newstest2021_{folder}.avg_seg_scores.tsv")
    texts = locate("wmt21-news-systems/txt")
    source, target = lp.split("-")
    rows = _read_averages(path)

    def text(kind: str, name: str, language: str) -> dict[int, str] | None:
        file = texts / kind / f"newstest2021.{lp}.{name}.{language}"
        return dict(enumerate(read_lines(file, rows["segment"].nunique()), 1)) if file.exists() else None

    files = {s: ("system-outputs", f"hyp.{_NEWSTEST2021_FILE_NAMES.get(s, s)}") for s in rows["system"].unique()}
    files |= {s: ("references", f"ref.{s[-1]}") for s in files if _REFERENCE_NAME.fullmatch(s)}
    translations = {system: text(*file, target) for system, file in files.items()}
    left_out = {system: "no text is published" for system, own in translations.items() if own is None}
    sources, rows = text("sources", "src", source), rows[~rows["system"].isin(left_out)]
    if sources is None or rows.empty:
        raise ValueError(f"{texts} has no texts of newstest2021 {lp}. Get them with `mtmeta fetch newstest2021`.")
    own = [translations[system][segment] for system, segment in zip(rows["system"], rows["segment"], strict=True)]
    rows = rows.assign(translation=own, source=rows["segment"].map(sources))
    about = {"name": f"newstest2021/{lp}", "lp": lp, "standard": _NEWSTEST2021[lp]}
    return _assemble(rows, path, options, **about, left_out=left_out)


# -- files ------------------------------------------------------------------------------------


def load_errors(
    path: Path, options: Options, *, name=None, lp=None, standard=None, rename=None, weights="google"
) -> EvalSet:
    """Load an MQM error table: one row is one error (or ``No-error``) by one rater."""
    options.refuse("a table of MQM errors", "metrics_from")
    errors, left_out = _read_errors(path, weights)
    errors["system"] = errors["system"].replace(rename or {})
    keys = ["system", "segment"]
    by_rater = errors.groupby([*keys, "rater"], sort=False)["weight"].sum()
    human = -by_rater.groupby(level=keys, sort=False).mean().rename("human") + 0.0
    rows = errors[[c for c in (*keys, "source", "translation", "doc") if c in errors]].drop_duplicates()
    torn = rows.loc[rows.duplicated(keys), keys]
    if len(torn):
        which = "system {!r}, segment {!r}".format(*torn.iloc[0])
        raise ValueError(f"{path}: the texts of {which} differ between rows; expected the same in all.")
    about = {"name": name or path.stem, "lp": lp, "standard": standard, "left_out": left_out}
    return _assemble(rows.join(human, on=keys), path, options, **about)


def _read_averages(path: Path) -> pd.DataFrame:
    """Return the scores, one row per translation; None is NaN."""
    rows = _common.read_fields(path, "SYSTEM SCORE SEGMENT", skip=1)
    human = _common.finite(rows["SCORE"], path, none=True) + 0.0
    segments = pd.Series(canonical_ids(rows["SEGMENT"]), rows.index, dtype=object)
    return pd.DataFrame({"system": rows["SYSTEM"].map(_system_name), "segment": segments, "human": human})


def _read_errors(path: Path, weights: str | Mapping[str, float]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the rows of an error table with weights and texts without marks, and what was left out of it."""
    lines, keys = read_text(path).split("\n"), ["system", "rater", "segment"]
    fields = lines[0].count("\t")
    kept = [line for line in lines if line.count("\t") <= fields]
    left_out = {}
    if len(kept) < len(lines):
        left_out[counted(len(lines) - len(kept), "row")] = "more fields than the header has, such as a comment"
    try:
        text = StringIO("\n".join(kept))
        table = pd.read_csv(text, sep="\t", quoting=csv.QUOTE_NONE, dtype=str, keep_default_na=False)
        segment = next((c for c in _SEGMENT_COLUMNS if c in table), "seg_id")
        table = table.rename(columns={segment: "segment", "target": "translation"})
        kind = table[["severity", "category"]].apply(lambda column: column.str.strip().str.casefold())
        table = table[~(kind == "hotw-test").any(axis=1)].reset_index(drop=True)
        check_table(table.replace(dict.fromkeys(keys, ""), None), [*keys, *_SIDES, *kind], name="the table")
        pairs = [*zip(table["category"], table["severity"], strict=True)]
        weight = {pair: mqm_weight(*pair, weights) for pair in dict.fromkeys(pairs)}
        table["weight"] = [weight[pair] for pair in pairs]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    for side in _SIDES:  # errors are marked <v>so</v>
        table[side] = table[side].str.replace("</?v>", "", regex=True)
    table["system"] = table["system"].map(_system_name)
    table["segment"] = pd.Series(canonical_ids(table["segment"]), dtype=object)
    odd = _odd_texts(table)
    if odd.any():
        left_out[f"{counted(int(odd.sum()), 'row')} of errors"] = "another text than the other rows of the translation"
    return table[~odd].reset_index(drop=True), left_out


def _odd_texts(table: pd.DataFrame) -> np.ndarray:
    """Return which rows have other texts, such as one that a rater edited, than most of a translation, or the first."""
    keys = ["system", "segment"]
    rows = table[[*keys, *_SIDES]].assign(n=table.groupby([*keys, *_SIDES])["rater"].transform("size"))
    usual = rows.sort_values("n", ascending=False, kind="stable").drop_duplicates(keys).drop(columns="n")
    usual = table[keys].merge(usual, on=keys, how="left")
    return (usual[[*_SIDES]].to_numpy() != table[[*_SIDES]].to_numpy()).any(axis=1)


def _system_name(name: str) -> str:
    """Return a system name; a reference is called ``refA``, however its file spells it (``ref-A``, ``ref.A``)."""
    return re.sub(r"^ref[-._]([A-Z])$", r"ref\1", name)


def _assemble(
    rows: pd.DataFrame, path: Path, options: Options, *, name: str, lp=None, standard=None, left_out=None
) -> EvalSet:
    """Build the set from one row per translation: the reference is left out, other humans stay candidates."""
    if options.annotation not in (None, "mqm"):
        raise unknown(f"annotation of {name}", options.annotation, ["mqm"])
    es = from_rows(rows, path, missing="nan", name=name)
    references = list(filter(_REFERENCE_NAME.fullmatch, es.systems))
    chosen = choose_references(options.reference, references, standard, name)
    unrated = [s for s, own in zip(es.systems, es.human, strict=True) if np.isnan(own).all() and s not in chosen]
    found = es.select(systems=[s for s in es.systems if s not in (*chosen, *unrated)])
    found.language_pair = lp
    found.human_systems = frozenset(found.systems) & set(references)
    if es.texts is not None:
        ordered = [*chosen, *(r for r in references if r not in chosen)]
        found.texts = replace(found.texts, references={r: es.texts.translations[r] for r in ordered})
    left_out = dict.fromkeys(chosen, "the reference") | (left_out or {}) | dict.fromkeys(unrated, "no human scores")
    about = {"source": str(path), "annotation": "mqm", "reference": ".".join(chosen) or None}
    found.provenance = about | {"variants": {}, "left_out": left_out}
    return found if options.metrics is None else found.select(metrics=options.metrics)
