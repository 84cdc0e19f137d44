"""Compute the registry of downloadable sets from a data directory, but for archives, whose lines are written by hand.

    python tools/make_registry.py DATA_DIR [OUT_DIR]

``DATA_DIR`` has the layout of ``MTMETA_DATA``; ``OUT_DIR`` is ``mtmeta/datasets/registry`` by default.
The format is described in ``mtmeta/datasets/_registry.py``. Run it when a pinned commit changes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

GITHUB = "https://raw.githubusercontent.com"
GOOGLE_MQM = f"{GITHUB}/google/wmt-mqm-human-evaluation/7fadea281aff8db61cc72fc3d469a4dca78b82a6/"
ESA = f"{GITHUB}/wmt-conference/ErrorSpanAnnotation/e7f88b51a5d36dd5a9c9c1d80556f69637716cd4/"
GUARDIANS = f"{GITHUB}/SapienzaNLP/guardians-mt-eval/ead3b494c88f6e015d921348596568a5120f82ff/"
HUMAN_PARITY = f"{GITHUB}/SapienzaNLP/human-parity-mt-eval/542fafa2a69d4434413a6cc53bacca6956382da5/"
WMT21 = f"{GITHUB}/wmt-conference/wmt21-news-systems/f41750dadbf2ba6ab01ca5380347d253298a3427/"
WMT23 = f"{GITHUB}/wmt-conference/wmt23-news-systems/99b5b9de2a535c2c5542fd4ec404682903299894/"
XMOVER = f"{GITHUB}/AIPHES/ACL20-Reference-Free-MT-Evaluation/2026e18c8874e5659ea6c03f82ec3e600d0feac1/"
MSLC = f"{GITHUB}/nrc-cnrc/MSLC/2d2e57f5f3c701debd797616abb9622d8608d543/"
FBAI = f"{GITHUB}/facebookresearch/fbai-speech/43cdb3ca9644a755d5c6cc55cbcc91132f85ed44/"
DL_HARD = f"{GITHUB}/grill-lab/DL-Hard/2be6435c2b1f8131dfa23f3c0dee72f9dd47d849/"
GROUPLENS = "https://files.grouplens.org/datasets/movielens/"

FREITAG_2021 = (
    "Freitag et al. (2021). Experts, Errors, and Context: A Large-Scale Study of Human Evaluation for Machine "
    "Translation. TACL 9."
)
WMT21_METRICS = (
    "Freitag et al. (2021). Results of the WMT21 Metrics Shared Task: Evaluating Metrics with Expert-based Human "
    "Evaluations on TED and News Domain. WMT."
)
WMT21_FINDINGS = "Akhbardeh et al. (2021). Findings of the 2021 Conference on Machine Translation (WMT21). WMT."
WMT23_METRICS = (
    "Freitag et al. (2023). Results of WMT23 Metrics Shared Task: Metrics Might Be Guilty but References Are Not "
    "Innocent. WMT."
)
WMT23_FINDINGS = (
    "Kocmi et al. (2023). Findings of the 2023 Conference on Machine Translation (WMT23): LLMs Are Here but Not "
    "Quite There Yet. WMT."
)
PERRELLA_2024 = (
    "Perrella et al. (2024). Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics Fall In! ACL."
)
PROIETTI_2025 = (
    "Proietti, Perrella and Navigli (2025). Has Machine Translation Evaluation Achieved Human Parity? The Human "
    "Reference and the Limits of Progress. ACL."
)
WMT17_METRICS = "Bojar, Graham and Kamran (2017). Results of the WMT17 Metrics Shared Task. WMT."
ZHAO_2020 = (
    "Zhao et al. (2020). On the Limitations of Cross-lingual Encoders as Exposed by Reference-Free Machine "
    "Translation Evaluation. ACL."
)
WMT24_METRICS = "Freitag et al. (2024). Are LLMs Breaking MT Metrics? Results of the WMT24 Metrics Shared Task. WMT."
KNOWLES_2024 = (
    "Knowles, Larkin and Lo (2024). MSLC24: Further Challenges for Metrics on a Wide Landscape of Translation Quality. "
    "WMT."
)
LE_2021 = (
    "Le et al. (2021). Contextualized Streaming End-to-End Speech Recognition with Trie-Based Deep Biasing and "
    "Shallow Fusion. Interspeech."
)
PANAYOTOV_2015 = "Panayotov et al. (2015). Librispeech: An ASR corpus based on public domain audio books. ICASSP."
MACKIE_2021 = (
    "Mackie, Dalton and Yates (2021). How Deep is your Learning: the DL-HARD Annotated Deep Learning Dataset. SIGIR."
)
HARPER_2015 = "Harper and Konstan (2015). The MovieLens Datasets: History and Context. ACM TiiS 5(4), 19."


@dataclass(frozen=True)
class Upstream:
    """How one file is made from upstream: path there, recipe, and our copy of the upstream file."""

    path: str
    recipe: str = ""
    copy: str = ""


@dataclass(frozen=True)
class Block:
    """Files below ``folder`` that match ``patterns`` and come from below ``url``."""

    url: str
    folder: str
    patterns: tuple[str, ...]
    upstream: Callable[[str], Upstream] = Upstream


@dataclass(frozen=True)
class Spec:
    """A set: what its registry says before the files, and the files."""

    title: str
    licence: str
    cite: tuple[str, ...]
    blocks: tuple[Block, ...]
    restriction: str = ""
    note: str = ""


def sentinel_pickle(path: str) -> Upstream:
    """``zh-en/SENTINEL-REF-DA-refA.seg.score`` comes from ``zh-en/SENTINEL_REF_DA/seg_scores.pickle``."""
    pair, name = path.split("/")
    pickle = f"{pair}/{'_'.join(name.split('-')[:3])}/seg_scores.pickle"
    return Upstream(pickle, "sentinel", f"wmt23-sentinels/upstream/{pickle}")


def dl_hard_file(path: str) -> Upstream:
    """``runs_top100/doc.X.run`` is the top of ``baselines/doc/X.run``; ``evals/doc.X.run.eval`` is a copy."""
    folder, _, name = path.rpartition("/")
    if not folder:
        return Upstream(path)
    task, _, run = name.partition(".")
    return Upstream(f"baselines/{task}/{run}", "top:100" if folder == "runs_top100" else "")


def librispeech_reference(path: str) -> Upstream:
    """``ref/test-clean.ref_rare.tsv`` is ``ref/test-clean.biasing_100.tsv`` without its list of distractors."""
    return Upstream(path.replace("ref_rare", "biasing_100"), "columns:3")


def movielens_member(path: str) -> Upstream:
    """Every file is a member of the one archive."""
    return Upstream("ml-latest-small.zip", f"member:ml-latest-small/{path}")


WMT21_TEXTS = Block(
    WMT21,
    "wmt21-news-systems",
    ("README.md", "README.humaneval.txt", "txt/*/*"),
    lambda path: Upstream("humaneval/README.txt" if path == "README.humaneval.txt" else path),
)
WMT23_RENAMED = {
    "scores/CSV-format.md": "humaneval/DA+SQM/CSV-format.md",
    "scores/WMT23.results.txt": "humaneval/DA+SQM/WMT23.results.txt",
}

SETS = {
    "wmt23": Spec(
        "WMT23 metrics task in mt-metrics-eval v2 layout: en-de, he-en, zh-en; texts, human and metric scores",
        "Apache-2.0 (mt-metrics-eval); the WMT data are free for research",
        (WMT23_METRICS, WMT23_FINDINGS),
        (Block(f"{ESA}data/mt-metrics-eval-v2/wmt23/", "mt-metrics-eval-v2/wmt23", ("*/*", "*/*/*")),),
        restriction="WMT texts and scores: research use, cite",
    ),
    "wmt23-sentinels": Spec(
        "Segment scores of the six published sentinel metrics on WMT23",
        "CC BY-NC-SA 4.0",
        (PERRELLA_2024,),
        (
            Block(
                f"{GUARDIANS}data/metrics_results/metrics_outputs/wmt23/",
                "wmt23-sentinels",
                ("??-??/*.seg.score",),
                sentinel_pickle,
            ),
        ),
        restriction="not for commercial use; what is built on it must carry the same licence",
        note="Upstream serves pickles; they are read without running anything in them and kept as text.",
    ),
    "human-parity": Spec(
        "Three sets of MQM ratings of segments of WMT23, en-de and zh-en; the metrics come with wmt23",
        "CC BY-NC-SA 4.0",
        (PROIETTI_2025,),
        (
            Block(HUMAN_PARITY, "human-parity", ("README.md",)),
            Block(f"{HUMAN_PARITY}data/annotations/wmt23/", "human-parity/wmt23", ("*/mqm-col?.pickle",)),
        ),
        restriction="not for commercial use; what is built on it must carry the same licence",
        note="The files are pickles; they are read without running anything in them.",
    ),
    "generalmt2023-sxs": Spec(
        "Google MQM of segments of WMT23, three ratings in pairs of systems, en-de and zh-en; metrics come with wmt23",
        "Apache-2.0",
        (FREITAG_2021, WMT23_METRICS),
        (
            Block(GOOGLE_MQM, "google-mqm", ("LICENSE", "README.md")),
            Block(f"{GOOGLE_MQM}generalMT2023/", "google-mqm/generalmt2023-sxs", ("*/*",)),
        ),
    ),
    "ted": Spec(
        "Google MQM annotations of TED talks (WMT21), en-de and zh-en",
        "Apache-2.0",
        (FREITAG_2021, WMT21_METRICS),
        (Block(GOOGLE_MQM, "google-mqm", ("LICENSE", "README.md", "ted/*/*")),),
    ),
    "newstest2021": Spec(
        "Google MQM scores of newstest2021 with the texts of WMT21, en-de and zh-en",
        "Apache-2.0 (scores); the WMT texts are free for research",
        (FREITAG_2021, WMT21_METRICS, WMT21_FINDINGS),
        (Block(GOOGLE_MQM, "google-mqm", ("LICENSE", "README.md", "newstest2021/*/*")), WMT21_TEXTS),
        restriction="WMT texts: research use, cite",
    ),
    "wmt17-da": Spec(
        "WMT17 direct assessments of segments, seven pairs into English",
        "Apache-2.0",
        (WMT17_METRICS, ZHAO_2020),
        (
            Block(XMOVER, "wmt17-da", ("LICENSE", "README.md")),
            Block(f"{XMOVER}WMT17/", "wmt17-da", ("*.csv", "testset/*")),
        ),
    ),
    "wmt23-news-systems": Spec(
        "WMT23 general translation task: texts of all 14 pairs (one archive), results and automatic scores",
        "none stated",
        (WMT23_FINDINGS,),
        (
            Block(
                WMT23,
                "wmt23-news-systems",
                ("README.md", "txt.tar.xz", "scores/*"),
                lambda path: Upstream(WMT23_RENAMED.get(path, path)),
            ),
        ),
        restriction="no licence is stated upstream; WMT data: research use, cite",
    ),
    "wmt24-news": Spec(
        "WMT24 metrics task, news: MQM and the scores of 24 metrics, en-de and en-es, in the tables of MSLC24",
        "CC BY 4.0",
        (KNOWLES_2024, WMT24_METRICS),
        (Block(f"{MSLC}docs/2024/interactive/", "mslc2024", ("hum-*",)),),
    ),
    "librispeech": Spec(
        "LibriSpeech test-clean and test-other: references and 22 sets of hypotheses each, with published WER",
        "MIT (hypotheses and results); LibriSpeech CC BY 4.0",
        (LE_2021, PANAYOTOV_2015),
        (
            Block(FBAI, "librispeech-rnnt", ("LICENSE",)),
            Block(f"{FBAI}is21_deep_bias/", "librispeech-rnnt", ("README.md", "hyp/*", "results/*")),
            Block(f"{FBAI}is21_deep_bias/", "librispeech-rnnt", ("ref/*",), librispeech_reference),
        ),
        note="Of the two reference files (about 7 MB) the lists of distractors are dropped; 0.8 MB are kept.",
    ),
    "dl-hard": Spec(
        "DL-HARD: 14 document and 6 passage rankers on 50 topics, human judgements, trec_eval output",
        "none stated",
        (MACKIE_2021,),
        (
            Block(DL_HARD, "dl-hard", ("README.md",)),
            Block(f"{DL_HARD}dataset/", "dl-hard", ("*.qrels", "topics.tsv", "evals/*", "runs_top100/*"), dl_hard_file),
        ),
        restriction="no licence is stated upstream",
        note="Of every run the first 100 documents a topic are kept; about ten times as much is downloaded.",
    ),
    "movielens-small": Spec(
        "MovieLens latest-small: 100,836 ratings of 9,724 films by 610 users",
        "GroupLens terms of use",
        (HARPER_2015,),
        (Block(GROUPLENS, "movielens-latest-small", ("*.csv",), movielens_member),),
        restriction="not for commercial use; redistribution under the same terms only",
        note="Upstream may replace the archive under the same name; the files in it are checked, a change is an error.",
    ),
}


COLUMNS = "sha256, bytes, path; where needed: path upstream, recipe, sha256 of the file upstream"


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lines(spec: Spec, data: Path) -> list[str]:
    """Return the lines of a registry."""
    about = {"title": spec.title, "licence": spec.licence, "restriction": spec.restriction, "note": spec.note}
    out = [f"# {key}: {text}" for key, text in about.items() if text]
    out += [f"# cite: {text}" for text in spec.cite]
    out.append(f"# columns: {COLUMNS}")
    for block in spec.blocks:
        out.append(f"@\t{block.url}\t{block.folder}")
        root = data / block.folder
        found = {p.relative_to(root).as_posix(): p for pattern in block.patterns for p in root.glob(pattern)}
        found = {name: path for name, path in sorted(found.items()) if path.is_file()}
        if not found:
            raise SystemExit(f"{root} holds no file that matches {', '.join(block.patterns)}.")
        for name, path in found.items():
            upstream = block.upstream(name)
            fields = [sha256(path), str(path.stat().st_size), name]
            fields += ["" if upstream.path == name else upstream.path, upstream.recipe]
            fields.append(sha256(data / upstream.copy) if upstream.copy else "")
            out.append("\t".join(fields).rstrip("\t"))
    return out


def main(data: str, out: str = "") -> None:
    """Write one registry a set."""
    folder = Path(out) if out else Path(__file__).parents[1] / "mtmeta" / "datasets" / "registry"
    folder.mkdir(parents=True, exist_ok=True)
    for name, spec in SETS.items():
        content = lines(spec, Path(data))
        (folder / f"{name}.tsv").write_text("\n".join(content) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
