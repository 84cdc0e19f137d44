# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Command lines that are wrong in themselves, or ask for what is not there."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """A command line that is refused, with exit code 2, and what it says."""

    line: tuple[str, ...]
    says: str

    @property
    def name(self):
        """Return the line as it is typed, cut where it is long."""
        return " ".join(word if word else "''" for word in self.line)[:90]


def _usage(says, *lines):
    """Return cases from lines with words apart by blanks; `@` is an empty word."""
    return [Usage(tuple("" if w == "@" else w for w in line.split(" ")), says) for line in lines]


_SETS = ("validate", "report")

OPTIONS: tuple[Usage, ...] = (
    *_usage("No such command", "frobnicate", "rank; teaching", "@", "../rank"),
    *_usage("No such option", *(f"{c} teaching --frobnicate" for c in _SETS), "fetch --all"),
    *_usage("Missing (argument|option)", *_SETS, "sentinel score x", "run --scores teaching", "difference chrF", "run 1"),
    *_usage("Invalid value for '--[a-z-]+'", *(f"rank teaching --seed {v}" for v in ("1.5", "@")),
            *(f"{c} teaching --places {v}" for c in ("rank", "correlate") for v in (-1, 18)), "local-accuracy x.csv --n-resamples 98",
            *(f"{c} teaching --format {v}" for c in _SETS for v in ("html5", "@")), "run 1 --scores teaching --jobs 0",
            "rank teaching --protocol wmt99",
            "validate teaching --missing drop", "local-accuracy x.csv --table all",
            "sentinel train teaching --sees all --save x"),
    *_usage("Invalid value for 'DELTA'", "difference chrF x", "difference chrF -- -1"),
    *_usage("unknown metric in WMT23: 'chrf'. Did you mean 'chrF'", "difference chrf 1"),
    *_usage("only for all .* its system scores are no means.*--set my_scores.csv.*, such as COMET",
            "difference chrF 1.2 --segments 30", "difference BLEU 1 --segments 100"),
    *_usage("gives all systems of a set one score", "difference SourceOnly 1 --set teaching"),
    *_usage("must be (at least|at most|one of)", "rank teaching --n-resamples -1", "report teaching --n-resamples 39", "rank teaching --seed -1",
            "difference chrF 1 --segments 0", "correlate teaching --grouping both",
            *(f"{line} 1{'0' * 20}" for line in ("rank teaching --n-resamples", "rank teaching --seed", "report teaching --n-resamples", "report teaching --seed"))),
    *_usage("is a directory", *(f"{c} teaching -o ." for c in _SETS)),
    *_usage("go(es)? only with --kind transformer", "sentinel train teaching --sees source --save x --encoder x"),
    *_usage("give names of sets, or --list", "fetch", "fetch wmt23 --list"),
    *_usage("[ct]sv holds one table", "local-accuracy teaching-ranking --format tsv", "local-accuracy teaching-ranking -o x.csv"),
    *_usage("expected two metrics", "compare teaching Judge", "compare teaching Judge Judge", "compare teaching Judge chrF TER"),
    *_usage("nothing would be left: the list of systems is empty", "rank teaching --system Fjord --exclude-system Fjord"),
    *_usage("systems can be chosen in sets of translations only", "run 8 --scores teaching-ranking --system A"),
    *_usage(r"Unsupported output format '\.(pdf|XLSX|yaml)'. Use one of", *(f"{c} teaching -o x.{e}" for c in _SETS for e in ("pdf", "XLSX"))),
    *_usage("give a plan, or --example", "sweep", "sweep x.yaml --example"),
    *_usage("Got unexpected extra argument", "sentinel score a b c", "local-accuracy a.csv b.csv"),
    *_usage("unknown data set 'wmt32'. Did you mean 'wmt23'", "fetch wmt32"),
    *_usage("unknown data set", *(f"fetch {v}" for v in ("@", "../../etc", "a\nb"))),
    *_usage("sets are fetched whole: ask for 'wmt23'", "fetch wmt23/zh-en", "fetch wmt23/../x"),
    *_usage("names of sets must be distinct", "validate teaching teaching"),
    *_usage("unknown metric", *(f"{c} teaching --metric {v}" for c in _SETS for v in ("nope", "@"))),
    *_usage("unknown set 'teachin'.*Did you mean 'teaching'", *(f"{c} teachin" for c in _SETS)),
    *_usage("there is no file no-such.csv", *(f"{c} no-such.csv" for c in _SETS)),
    *_usage("wmt23 is not on this computer", *(f"{c} wmt23/xx-yy" for c in _SETS)),
    *_usage("is a folder without human-scores/", *(f"{c} ." for c in _SETS)),
    *_usage("--metrics-from does not apply to the teaching set", *(f"{c} teaching --metrics-from ." for c in _SETS)),
    *_usage("--reference does not apply to the teaching set", *(f"{c} teaching --reference refA" for c in _SETS)),
    *_usage("--annotation does not apply to the teaching set", *(f"{c} teaching --annotation mqm" for c in _SETS)),
    *_usage("there is no chapter '.*'; expected all, or a number or name of: 01_scores_and_agreement, 02_significance",
            *(f"run {v} --scores teaching" for v in ("99", "../../x", "@"))),
    *_usage("(contains no sentinel|cannot read)", *(f"sentinel score {v} teaching" for v in (".", "gone", "/dev/null"))),
    *_usage("unknown set|No such file", "local-accuracy gone.csv", "local-accuracy nope", "sentinel train nope --sees source --save x"),
    *_usage("holds (rankings|transcripts); expected translations", *(f"{c} {v}" for c in _SETS for v in ("teaching-ranking", "teaching-speech"))),
)  # fmt: skip
