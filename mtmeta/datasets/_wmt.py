"""Folder trees in the layout of mt-metrics-eval v2: WMT metrics tasks and sets that follow them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from .._names import counted, names_of, natural, unknown
from ..evalset import EvalSet, Texts
from ._common import Options, choose_annotation, choose_references, finite, read_fields, read_lines

#: Published protocol: standard reference, outlier systems and annotation, by (set, language pair; `*` is any other),
#: where they are not `refA`, or `ref` before 2021, and none, and `mqm`. For WMT20 to WMT24 as in the package
#: mt-metrics-eval (its meta_info.py); for WMT25 as others report it.
STANDARD = {
    (name, lp): (reference, tuple(outliers.split()), annotation or None)
    for name, lp, reference, outliers, annotation in pd.read_csv(
        Path(__file__).parents[1] / "data" / "wmt_protocols.tsv", sep="\t", keep_default_na=False
    ).itertuples(index=False)
}
_UNKNOWN = (None, (), None)
_NO_TRANSLATION = "[No translation supplied]"


def is_tree(root: Path) -> bool:
    """Say whether ``root`` is the top of a tree."""
    return (root / "human-scores").is_dir()


def language_pairs(root: Path) -> list[str]:
    """Return the language pairs that have human segment scores."""
    found = sorted({p.name.split(".")[0] for p in (root / "human-scores").glob("*.*.seg.score")})
    if not found:
        raise ValueError(f"{root} has no human segment scores, human-scores/<lp>.<annotation>.seg.score.")
    return found


def load_tree(root: Path, lp: str, options: Options, name: str, metric_folders: Sequence[Path] = ()) -> EvalSet:
    """Load one language pair of a tree, called ``SET/LP``; ``metric_folders`` hold further ``.seg.score`` files."""
    files, year = (root / "human-scores").glob(f"{lp}.*.seg.score"), name.rpartition("/")[0]
    annotations = {p.name[len(lp) + 1 : -len(".seg.score")]: p for p in sorted(files)}
    standard, outliers, gold = next((STANDARD[key] for key in ((year, lp), (year, "*")) if key in STANDARD), _UNKNOWN)
    annotation = choose_annotation(options.annotation, list(annotations), name, gold)
    sources = _read_texts(root / "sources", lp, "source")
    domains, documents = _read_documents(root / "documents" / f"{lp}.docs", None if sources is None else len(sources))
    known_length = sources if sources is not None else documents
    human = read_scores(annotations[annotation], None if known_length is None else len(known_length), empty=True)
    n = len(next(iter(human.values())))

    references = sorted({p.stem[len(lp) + 1 :] for p in _text_files(root / "references", f"{lp}.*")})
    chosen = choose_references(options.reference, references, standard, name, outliers)
    outputs = {p.stem for p in _text_files(root / "system-outputs" / lp, "*")}
    left_out = _systems_left_out(human, outputs, references, chosen, outliers)
    candidates = tuple(sorted((s for s in human if s not in left_out), key=natural))
    if not candidates:
        raise ValueError(f"{name}: no candidate system has a human score under annotation {annotation!r}.")

    kept = _metrics_of([root / "metric-scores" / lp, *metric_folders], references, chosen, options.metrics, left_out)
    read = partial(_read_candidates, candidates, options, left_out)
    by_human = root / "human-scores" / f"{lp}.{annotation}.sys.score"
    official = {"human": read("system scores of human", by_human, empty=True)}
    scores = {}
    for metric, (_, files) in kept.items():
        scores[metric] = read(f"metric {metric}", files.get("seg"), n)
        if scores[metric] is not None and (gone := int(np.isnan(scores[metric]).sum())) and options.missing == "raise":
            left_out[f"{counted(gone, 'score')} of metric {metric}"] = "None in its file"
        if scores[metric] is not None or "seg" not in files:
            official[metric] = read(f"system scores of metric {metric}", files.get("sys"))
    scores = {metric: values for metric, values in scores.items() if values is not None}
    official = {metric: values[:, 0] for metric, values in official.items() if values is not None}
    variants = {metric: variant for metric, (variant, _) in kept.items() if metric in scores or metric in official}
    about = {
        "language_pair": lp,
        "human_systems": set(candidates) & set(references),
        "system_scores": pd.DataFrame(official, index=list(candidates)) if official else None,
        "provenance": {
            "source": str(root), "annotation": annotation, "reference": ".".join(chosen) or None,
            "variants": variants, "left_out": left_out,
        },
    }  # fmt: skip
    texts = _texts(root, lp, sources, references, chosen, candidates, outputs, n)
    parts = {"documents": documents, "domains": domains, "texts": texts, "about": about}
    return EvalSet([human[s] for s in candidates], scores, systems=candidates, name=name, **parts)


# -- systems ----------------------------------------------------------------------------------


def _text_files(folder: Path, pattern: str) -> list[Path]:
    return [p for p in folder.glob(pattern) if p.suffix in (".txt", ".jsonl")]


def _systems_left_out(human, outputs, references, chosen, outliers) -> dict[str, str]:
    """Return the systems that are not candidates, with the reason."""
    left_out = {}
    for system in dict.fromkeys(chain(human, sorted(outputs), references)):
        if system in chosen:
            left_out[system] = "the reference"
        elif system in outliers:
            left_out[system] = "an outlier under the published protocol"
        elif system not in human or np.isnan(human[system]).all():
            left_out[system] = "no human scores"
    return left_out


# -- score files ------------------------------------------------------------------------------


def read_scores(path: Path, n_segments: int | None, *, empty: bool = False) -> dict[str, np.ndarray]:
    """Read a ``.seg.score`` file, or with one segment a ``.sys.score`` file.

    Parameters
    ----------
    path : pathlib.Path
        Lines ``SYSTEM SCORE``; the k-th line of a system is its segment k. The score ``None`` is read as NaN.
    n_segments : int or None
        Scores expected per system; None takes the number from the file.
    empty : bool
        Whether nothing after a tab (not rated) is allowed, and read as NaN.

    Returns
    -------
    dict of str to numpy.ndarray
        System to its scores, in the order of the file.

    Raises
    ------
    ValueError
        If a line is not a system and a finite number, or a system has too few or too many scores.
    """
    rows = read_fields(path, "SYSTEM SCORE", empty="None" if empty else "")
    numbers = finite(rows["SCORE"], path, none=True)
    codes, names = pd.factorize(rows["SYSTEM"])
    counts = np.bincount(codes)
    n = n_segments or counts[0]
    if (counts != n).any():
        odd = int(np.argmax(counts != n))
        said = f"{path}: system {names[odd]!r} has {counts[odd]} scores; expected {n}"
        raise ValueError(f"{said}. The file may be truncated, or belong to another set.")
    return dict(zip(names, numbers[np.argsort(codes, kind="stable")].reshape(-1, n), strict=True))


# -- metrics ----------------------------------------------------------------------------------


def _split_variant(stem: str, references: Iterable[str]) -> tuple[str, str | None]:
    """Split ``NAME-REF`` or ``NAME-src``; the variant is None where the name carries none."""
    name, dash, tail = stem.rpartition("-")
    parts = tail.split(".")
    if dash and (tail in ("src", "all") or all(p in references or re.fullmatch(r"ref[A-Z]\w*", p) for p in parts)):
        return name, tail
    return stem, None


def _metrics_of(folders, references, chosen, asked, left_out) -> dict[str, tuple[str | None, dict[str, Path]]]:
    """Return variant and files by level of each metric to read: those scored against the chosen references, or none.

    A metric has its own name, or that of its file if two of its variants are kept.
    """
    files: dict[str, dict[str, Path]] = {}
    for path in chain.from_iterable(sorted(folder.glob("*.score")) for folder in folders):
        if match := re.fullmatch(r"(.+)\.(seg|sys)\.score", path.name):
            stem, level = match.groups()
            if old := files.setdefault(stem, {}).get(level):
                raise ValueError(f"metric {stem!r} occurs twice: {old} and {path}. Rename one of them.")
            files[stem][level] = path
    split = {stem: _split_variant(stem, references) for stem in sorted(files)}
    seen = {"all": {*references}, "src": set(), None: set()}
    kept = [stem for stem, (_, v) in split.items() if seen.get(v, {*str(v).split(".")}) <= {*chosen}]
    others = [stem for stem in split if stem not in kept]
    often = Counter(split[stem][0] for stem in kept)
    label = {stem: split[stem][0] if often[split[stem][0]] == 1 else stem for stem in kept}
    found = {label[stem]: (split[stem][1], files[stem]) for stem in kept}
    if asked is None:
        if others:
            why = f"scored against other references than {'.'.join(chosen)}: {', '.join(others)}"
            left_out[counted(len(others), "metric variant")] = why
        return found
    names = names_of((label.get(name, name) for name in asked), "metrics")
    for name in names:
        if name not in found:
            near = [stem for stem in others if stem.startswith(name)]
            against, said = ".".join(chosen), unknown("metric", name, list(found))
            hint = f" It was not scored against {against}; load with reference={split[near[0]][1]!r}." if near else ""
            raise ValueError(f"{said}{hint}")
    return {name: found[name] for name in names}


def _read_candidates(
    systems: tuple[str, ...], options: Options, left_out: dict[str, str], what: str, path: Path | None, n: int = 1,
    *, empty: bool = False,
) -> np.ndarray | None:  # fmt: skip
    """Return scores of segments, or of whole systems, shape (n_systems, n); None if there is no file.

    If it lacks a candidate, list this in ``left_out`` and return None, or raise if metrics were asked for.
    """
    if path is None or not path.exists():
        return None
    found = read_scores(path, n, empty=empty)
    gone = ", ".join(s for s in systems if s not in found)
    if not gone or options.missing == "nan":
        return np.array([found.get(s, np.full(n, np.nan)) for s in systems])
    why = f"no scores for {gone}; missing='nan' would keep it with holes"
    if n > 1 and options.metrics is not None:
        raise ValueError(f"{path}: {what} has {why}.")
    left_out[what] = why
    return None


# -- texts ------------------------------------------------------------------------------------


def _read_texts(folder: Path, stem: str, field: str, n_segments: int | None = None) -> tuple[str | None, ...] | None:
    """Read ``stem.txt`` (one text a line) or ``stem.jsonl`` (``field`` of each line); None if there is neither."""
    path = folder / f"{stem}.txt"
    if path.exists():
        lines = read_lines(path, n_segments)
    elif (path := folder / f"{stem}.jsonl").exists():
        lines = []
        for number, line in enumerate(read_lines(path, n_segments), 1):
            try:
                lines.append(json.loads(line)[field])
            except (ValueError, KeyError, TypeError, RecursionError):
                expected = f"expected a JSON object with the field {field!r}"
                raise ValueError(f"{path}, line {number}: {expected}; found {line[:60]!r}.") from None
    else:
        return None
    return tuple(None if t is None or t == _NO_TRANSLATION else t for t in lines)


def _read_documents(path: Path, n_segments: int | None) -> tuple[tuple | None, tuple | None]:
    """Return domain and document of each segment, from lines ``DOMAIN DOCUMENT``."""
    if not path.exists():
        return None, None
    rows = [line.split(None, 1) for line in read_lines(path, n_segments)]
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise ValueError(f"{path}, line {number}: expected `DOMAIN DOCUMENT`; found {' '.join(row)[:60]!r}.")
    domains, documents = zip(*rows, strict=True)
    return domains, tuple(d.strip() for d in documents)


def _texts(root, lp, sources, references, chosen, candidates, outputs, n) -> Texts | None:
    """Read sources, references (the chosen first) and the candidates' translations."""
    ordered = [*chosen, *(r for r in references if r not in chosen)]
    found = {r: _read_texts(root / "references", f"{lp}.{r}", "target", n) for r in ordered}
    translations = {}
    for system in candidates if outputs else ():
        # only files that were listed: the name of a system may lead out of the tree
        here = system in outputs
        text = _read_texts(root / "system-outputs" / lp, system, "hypothesis", n) if here else found.get(system)
        if text is None:
            raise ValueError(f"{root / 'system-outputs' / lp} has no file for system {system!r}. Fetch it again.")
        translations[system] = text
    if sources is None and not found and not translations:
        return None
    return Texts(sources, found, translations)
