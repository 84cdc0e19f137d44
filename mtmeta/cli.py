"""The command line: ``mtmeta validate | rank | correlate | fetch | local-accuracy | sentinel``.

Numbers come from the package; here are options, tables and messages. Results go to stdout and
messages to stderr. Exit codes: 0 done, 1 the data are at fault, 2 wrong usage.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shlex
import sys
import textwrap
import uuid
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__

if TYPE_CHECKING:
    import pandas as pd

    from .evalset import EvalSet

__all__ = ["app", "main"]


# Choices are written out so that --help need not import the statistics; a test compares them with the package.
def _choice(name: str, values: str) -> type[StrEnum]:
    return StrEnum(name, [(value, value) for value in values.split()])


_PROTOCOLS = "wmt23 wmt24 sentinels-segment sentinels-segment-grouped sentinels-pearson sentinels-pearson-grouped"
Protocol = _choice("Protocol", _PROTOCOLS)
Coefficient = _choice("Coefficient", "pearson spearman kendall tau_b tau_a tau_c tau_10 tau_13 tau_14 acc_eq tau_eq")
Grouping = _choice("Grouping", "none segment system")
Degenerate = _choice("Degenerate", "drop zero nan raise")
Ties = _choice("Ties", "half published")
Missing = _choice("Missing", "raise nan")
Format = _choice("Format", "table tsv json latex md")
Sees = _choice("Sees", "source candidate reference")
Kind = _choice("Kind", "light transformer")
Select = _choice("Select", "kendall loss")
ScoreFormat = _choice("ScoreFormat", "csv seg-score table tsv json")
Average = _choice("Average", "segments pairs")
PairTies = _choice("PairTies", "failure half")
Unscored = _choice("Unscored", "raise drop")
Task = _choice("Task", "translation speech")
Part = _choice("Part", "guide accuracy effect order recommended stability")

#: Coefficients that compare no pairs, so that --epsilon has no meaning for them.
_WITHOUT_EPSILON = ("pearson", "spearman", "tau_c")

app = typer.Typer(
    name="mtmeta",
    help="Evaluate metrics of machine translation against human scores.",
    epilog="\b\nExample:\n  mtmeta rank teaching",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# -- tables ------------------------------------------------------------------------------


def _visible(text: str) -> str:
    """Return ``text`` on one line, with control characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _cell(value: Any, places: int) -> str:
    """Return a value as it is read: numbers rounded, nothing where there is none."""
    if isinstance(value, float):
        return f"{value:z.{places}f}"
    return "" if value is None else _visible(str(value))


def _as_table(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    from rich.cells import cell_len, set_cell_size

    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    widths = [max(map(cell_len, [*c, *h.split()])) for h, c in zip(headings, columns, strict=True)]
    stacks = [textwrap.wrap(h, w, break_on_hyphens=False) for h, w in zip(headings, widths, strict=True)]
    height = max(map(len, stacks))
    stacks = [[""] * (height - len(s)) + s for s in stacks]
    lines = [*zip(*stacks, strict=True), ["-" * w for w in widths], *rows]

    def padded(text: str, width: int, right: bool) -> str:
        return " " * (width - cell_len(text)) + text if right else set_cell_size(text, width)

    return "".join("  ".join(map(padded, line, widths, numeric)).rstrip() + "\n" for line in lines)


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}"} | {c: f"\\{c}" for c in "&%$#_{}"}
_MD = {c: f"\\{c}" for c in r"\`*_[]<>|&~$"}


def _escaped(escapes: dict[str, str], lines: list[list[str]]) -> list[list[str]]:
    return [["".join(escapes.get(c, c) for c in cell) for cell in line] for line in lines]


def _as_latex(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    head, *body = (" & ".join(line) + r" \\" for line in _escaped(_LATEX, [headings, *rows]))
    columns = "".join("r" if n else "l" for n in numeric)
    top = (rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule")
    return "\n".join([*top, *body, r"\bottomrule", r"\end{tabular}", ""])


def _as_md(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    head, *body = _escaped(_MD, [headings, *rows])
    rule = ["---:" if n else "---" for n in numeric]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *body))


def _written(frame: pd.DataFrame, how: Format, places: int) -> str:
    """Return a table as text. TSV and JSON keep full precision; what is missing is an empty cell, or null."""
    import pandas as pd

    values = frame.astype(object).where(frame.notna(), None)
    if how is Format.json:
        return json.dumps(values.to_dict("records"), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    rows = list(values.itertuples(index=False, name=None))
    if how is Format.tsv:
        out = io.StringIO()
        csv.writer(out, delimiter="\t", lineterminator="\n").writerows([frame.columns, *rows])
        return out.getvalue()
    rows = [[_cell(value, places) for value in row] for row in rows]
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    write = {Format.table: _as_table, Format.latex: _as_latex, Format.md: _as_md}[how]
    return write([_visible(str(c)) for c in frame.columns], rows, numeric)


def _write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all; what is no regular file (a pipe, a terminal) is written to as it is."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        part.write_text(text, encoding="utf-8")
        if path.exists():
            part.chmod(path.stat().st_mode)
        os.replace(part, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _emit(frame: pd.DataFrame, how: Format, places: int, output: Path | None) -> None:
    _emit_text(_written(frame, how, places), output)


def _emit_text(text: str, output: Path | None) -> None:
    if output is not None:
        _write_file(output, text)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # What is still buffered goes nowhere: Python would fail on it once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _say(quiet: bool, *lines: str) -> None:
    if not quiet:
        for line in lines:
            typer.echo(_visible(line), err=True)


def _together(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return tables by set as one, with a column ``set`` if there are several."""
    import pandas as pd

    for name, frame in tables.items():
        if len(tables) > 1:
            frame.insert(0, "set", name)
    return pd.concat(tables.values(), ignore_index=True)


# -- what commands share -----------------------------------------------------------------


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn faults of the data into one line on stderr and exit code 1; end quietly when told to end."""

    @wraps(command)
    def guarded(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except BrokenPipeError:
            raise typer.Exit(141) from None  # what a shell shows for a command that SIGPIPE ends
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except (ValueError, TypeError, OSError, MemoryError) as error:
            typer.echo(f"mtmeta: error: {_reason(error)}", err=True)
            raise typer.Exit(1) from None

    return guarded


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return _visible(f"{error.filename}: {error.strerror}.")
    if isinstance(error, MemoryError):
        return _visible(f"not enough memory. {error}".strip())
    return _visible(" ".join(str(error).splitlines()))


def _threshold(text: str) -> float | str:
    """Read the value of --epsilon."""
    if text == "calibrate":
        return text
    try:
        epsilon = float(text)
    except ValueError:
        epsilon = math.nan
    if not 0 <= epsilon < math.inf:
        raise typer.BadParameter(f"expected 'calibrate' or a number >= 0; found {text!r}.")
    return epsilon


def _in_a_folder(path: Path | None) -> Path | None:
    """Refuse at once an output file that could not be written in the end."""
    if path is None or str(path) == "-":
        return None
    if not path.exists() and not path.resolve().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}.")
    return path


def _once(names: list[str] | None) -> list[str] | None:
    return list(dict.fromkeys(names)) if names else None


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mtmeta {__version__}")
        raise typer.Exit


Sets = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE|SET",
        help="Tables (.csv, .tsv, .jsonl, .parquet; - reads CSV or TSV from stdin), folders, or names of sets: "
        "teaching, wmt23/zh-en; wmt23 alone means all its language pairs.",
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", callback=_once, help="Only this metric; repeatable.", show_default="all"),
]
MetricsFrom = Annotated[
    list[str] | None,
    typer.Option(metavar="DIR|SET", help="More metrics, from a folder of .seg.score files; repeatable."),
]
HumanProtocol = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which human scores, such as mqm or da-sqm.", show_default="mqm if there is"),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The reference that metrics were scored against; it is no candidate.",
        show_default="the published one",
    ),
]
MissingRows = Annotated[
    Missing, typer.Option("--missing", help="A system lacks a segment: refuse, or leave the cell unscored.")
]
How = Annotated[Format, typer.Option("--format", help="tsv and json keep full precision.")]
Places = Annotated[int, typer.Option(min=0, max=17, metavar="N", help="Decimals in table, latex and md.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        dir_okay=False,
        writable=True,
        callback=_in_a_folder,
        help="Write here.",
        show_default="standard output",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No messages but errors.")]


def _load(
    names: Sequence[str],
    metrics: Sequence[str] | None,
    metrics_from: Sequence[str] | None,
    human_protocol: str | None,
    reference: str | None,
    missing: Missing,
    quiet: bool,
) -> list[EvalSet]:
    """Load all sets that the arguments stand for, and say what was left out of them."""
    from .datasets import load_all
    from .evalset import as_evalset

    if list(names).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once only.")
    sets = [
        as_evalset(es)
        for name in names
        for es in load_all(
            name,
            reference=reference,
            protocol=human_protocol,
            metrics_from=metrics_from or (),
            metrics=metrics,
            missing=missing.value,
        )
    ]
    called = [es.name for es in sets]
    twice = sorted({name for name in called if called.count(name) > 1})
    if twice:
        raise ValueError(f"each set may occur once; found more than once: {', '.join(twice)}. Rename a file.")
    for es in sets:
        left_out = es.provenance.get("left_out", {})
        _say(quiet, *(f"left out of {es.name}: {what} ({why})" for what, why in left_out.items()))
    return sets


# -- commands ----------------------------------------------------------------------------


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


_EXAMPLE = "\b\nExample:\n  mtmeta {}"


@app.command(epilog=_EXAMPLE.format("validate teaching"))
@_guarded
def validate(
    sets: Sets,
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    human_protocol: HumanProtocol = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Check data: what was loaded, what was left out and why, what may be wrong.

    One row is one finding: what it is about, its name, how many there are, and of how many. The exit code is 1
    if these ratings cannot rank any metric: one rated system, or one score throughout.
    """
    loaded = _load(sets, metric, metrics_from, human_protocol, reference, missing, quiet=True)
    _emit(_together({es.name: _findings(es) for es in loaded}), how, places, output)


@app.command(epilog=_EXAMPLE.format("rank teaching"))
@_guarded
def rank(
    context: typer.Context,
    sets: Sets,
    protocol: Annotated[
        Protocol | None,
        typer.Option(help="Rank by a published protocol, over all sets together.", show_default="wmt24"),
    ] = None,
    coefficient: Annotated[
        Coefficient | None,
        typer.Option(help="Instead of a protocol: rank by one coefficient, each set alone.", show_default="pearson"),
    ] = None,
    grouping: Annotated[
        Grouping | None,
        typer.Option(
            help="Goes with --coefficient: compare any translations, those of a segment, or those of a system.",
            show_default="segment",
        ),
    ] = None,
    ties: Annotated[
        Ties | None,
        typer.Option(
            help="Goes with --protocol wmt24: what a tied pair of systems counts, one half or as published.",
            show_default="half",
        ),
    ] = None,
    n_resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Goes with --protocol: draws of the test that forms clusters of metrics; 0 forms none.",
            show_default="1000",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Seed of these draws.", show_default="0")] = None,
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    human_protocol: HumanProtocol = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Rank metrics by a published protocol or one statistic.

    The best metric comes first. Higher values are better.
    """
    by_statistic = coefficient is not None or grouping is not None
    of_protocols = {"--protocol": protocol, "--n-resamples": n_resamples, "--seed": seed, "--ties": ties}
    given = [option for option, value in of_protocols.items() if value is not None]
    if by_statistic and given:
        raise typer.BadParameter(
            "cannot go with --coefficient or --grouping.", ctx=context, param_hint=", ".join(given)
        )
    from .protocols import PROTOCOLS
    from .protocols import rank as rank_sets

    plan = str(protocol or Protocol.wmt24)
    has_spa = any(task.statistic == "spa" for task in PROTOCOLS[plan].tasks)
    if ties is not None and not has_spa:
        raise typer.BadParameter(
            "goes only with a protocol that has soft pairwise accuracy, such as wmt24.",
            ctx=context,
            param_hint="--ties",
        )
    loaded = _load(sets, metric, metrics_from, human_protocol, reference, missing, quiet)
    if by_statistic:
        statistic = {"coefficient": str(coefficient or "pearson"), "grouping": str(grouping or "segment")}
        frame = _together({es.name: _ranked(es, metric, statistic) for es in loaded})
        signature = f"coefficient:{statistic['coefficient']}|grouping:{statistic['grouping']}|degenerate:drop"
    else:
        options = {"n_resamples": n_resamples, "rng": seed, "ties": ties and ties.value}
        options = {name: value for name, value in options.items() if value is not None}
        if has_spa and n_resamples != 0:
            _say(quiet, "forming clusters; on large sets this takes minutes, and --n-resamples 0 does without")
        result = rank_sets(loaded, protocol=plan, metrics=metric, **options)
        _say(quiet, *(f"left out of the ranking: {what} ({why})" for what, why in result.left_out.items()))
        frame, signature = result.to_frame(), result.signature
    _say(quiet, f"{signature}|mtmeta:{__version__}")
    _emit(frame, how, places, output)


@app.command(epilog=_EXAMPLE.format("correlate teaching --coefficient kendall --grouping segment --grouping none"))
@_guarded
def correlate(
    context: typer.Context,
    sets: Sets,
    coefficient: Annotated[list[Coefficient], typer.Option(help="Repeatable.")] = [Coefficient.pearson],  # noqa: B006
    grouping: Annotated[
        list[Grouping],
        typer.Option(help="Compare any translations, those of a segment, or those of a system; repeatable."),
    ] = [Grouping.segment],  # noqa: B006
    degenerate: Annotated[
        Degenerate, typer.Option(help="What a group counts where humans or metric give one score throughout.")
    ] = Degenerate.drop,
    epsilon: Annotated[
        Any,
        typer.Option(
            parser=_threshold,
            metavar="NUMBER|calibrate",
            help="Metric scores this close are tied; calibrate takes the best value for acc_eq and tau_eq, 0 for "
            "the others.",
        ),
    ] = "calibrate",
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    human_protocol: HumanProtocol = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Correlate metrics with human scores.

    One row per coefficient, grouping and metric.
    """
    coefficients, groupings = (list(dict.fromkeys(map(str, given))) for given in (coefficient, grouping))
    pairless = [c for c in coefficients if c in _WITHOUT_EPSILON]
    if epsilon != "calibrate" and pairless:
        raise typer.BadParameter(
            f"has no meaning for {', '.join(pairless)}: no pairs are compared there.",
            ctx=context,
            param_hint="--epsilon",
        )
    import pandas as pd

    from .agreement import correlate as correlate_set

    tables = {}
    for es in _load(sets, metric, metrics_from, human_protocol, reference, missing, quiet):
        options = {"degenerate": degenerate.value, "epsilon": epsilon}
        blocks = [
            correlate_set(es, metric, coefficient=c, grouping=g, **options) for c in coefficients for g in groupings
        ]
        tables[es.name] = pd.concat(blocks, ignore_index=True)
    _say(quiet, f"degenerate:{degenerate.value}|epsilon:{epsilon}|mtmeta:{__version__}")
    _emit(_together(tables), how, places, output)


@app.command(epilog=_EXAMPLE.format("fetch --list"))
@_guarded
def fetch(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Sets to download.", show_default=False)
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List what can be downloaded, and download nothing.")] = False,
    mirror: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Download from a filled cache that is served here.", show_default=False),
    ] = None,
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Download public data sets into the cache.

    The output says where they are, under which licence, and what to cite. Files are checked by sha256. A download
    that was interrupted goes on when the command is given again.
    """
    if bool(names) == show:
        raise typer.BadParameter("give names of sets, or --list.", ctx=context, param_hint="NAME")
    import pandas as pd

    from .datasets._fetch import available
    from .datasets._fetch import fetch as fetch_set

    known = available()
    rows = []
    for name in dict.fromkeys(known if show else names):
        folder = None if show else fetch_set(name, base_url=mirror, progress=not quiet)
        terms = known[name]
        size = f"{terms.size / 1e6:.1f} MB, {len(terms.files)} files"
        facts = {"title": terms.title, "size": size, "licence": terms.licence}
        facts |= {"restriction": terms.restriction, "note": terms.note}
        rows += [(name, what, text) for what, text in facts.items() if text]
        rows += [(name, "cite", text) for text in terms.cite]
        rows += [] if folder is None else [(name, "folder", str(folder))]
    _emit(pd.DataFrame(rows, columns=["set", "what", "text"]), how, places, output)


# -- local accuracy ----------------------------------------------------------------------

#: Parts of the guide, in the order in which they are printed, with their titles.
_PARTS = {
    "accuracy": "Accuracy: share of pairs whose better text scores higher (± half the 95 % interval)",
    "effect": "Does accuracy depend on the context? (Cramér's V, beside what chance gives)",
    "order": "Does the order of metrics? (tau_AP, beside what chance gives)",
    "recommended": "Which metric for which context",
    "stability": "How stable is each metric over contexts? (sd_noise: what sampling alone gives)",
}
_TEXT_COLUMNS = {"translation": "translation", "speech": "transcript"}


@app.command("local-accuracy", epilog=_EXAMPLE.format("local-accuracy teaching-ranking --metric map --metric P_10"))
@_guarded
def local_accuracy(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SET",
            help="Pairs: segment, system, and for each metric M the columns M and M_perturbed, higher is better. Or "
            "texts: segment, system, reference, and translation or transcript; they are perturbed and scored. Or the "
            "name of a set with texts or rankings.",
            show_default=False,
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="COLUMN",
            callback=_once,
            help="Its values are the contexts; several are combined.",
            show_default="system",
        ),
    ] = None,
    metric: Metrics = None,
    part: Annotated[Part, typer.Option("--table", help="All tables, or one.")] = Part.guide,
    task: Annotated[
        Task | None, typer.Option(help="Goes with texts: what they are.", show_default="as the columns say")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Goes with texts: their language.", show_default="that of the set, or en"),
    ] = None,
    perturbation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", callback=_once, help="Goes with texts: only this; repeatable.", show_default="all"
        ),
    ] = None,
    average: Annotated[
        Average, typer.Option(help="What counts the same: each segment of a context, or each pair.")
    ] = Average.segments,
    ties: Annotated[
        PairTies, typer.Option(help="What equal scores count: nothing, or one half (in accuracy and stability).")
    ] = PairTies.failure,
    missing: Annotated[
        Unscored, typer.Option(help="A metric lacks a score: refuse, or leave the pair out for this metric.")
    ] = Unscored["raise"],
    unit: Annotated[
        str, typer.Option(metavar="COLUMN", help="What is resampled whole, such as doc or speaker.")
    ] = "segment",
    n_resamples: Annotated[int, typer.Option(min=99, metavar="N", help="Of bootstrap and permutations.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of perturbations and resamples.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes that score texts; -1 for all cores.")] = 1,
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Say which metric to use in which context: local metric accuracy.

    A metric is right about a pair if it scores the text above its degraded version. Per context: accuracies with
    intervals, whether the context matters, the best metric and those that cannot be told apart from it, and stability.
    """
    if how is Format.tsv and part is Part.guide:
        raise typer.BadParameter(
            "tsv holds one table; choose one with --table, or --format json for all.",
            ctx=context,
            param_hint="--format",
        )
    if jobs == 0:
        raise typer.BadParameter(
            "expected a number of processes, or -1 for all cores.", ctx=context, param_hint="--jobs"
        )
    texts = {"task": task, "language": language, "perturbation": perturbation}
    pairs = _pairs(file, metric, texts, seed, jobs, quiet)
    options = {"metrics": metric, "missing": missing.value, "unit": unit, "rng": seed, "n_resamples": n_resamples}
    wanted = list(_PARTS) if part is Part.guide else [part.value]
    tables = _local_tables(pairs, columns or ["system"], wanted, average.value, ties.value, options)
    _say(quiet, f"average:{average}|ties:{ties}|unit:{unit}|draws:{n_resamples}|seed:{seed}|mtmeta:{__version__}")
    if part is not Part.guide:
        _emit(tables[part.value], how, places, output)
        return
    if how is Format.json:
        written = {name: json.loads(_written(frame, how, places)) for name, frame in tables.items()}
        _emit_text(json.dumps(written, ensure_ascii=False, indent=2) + "\n", output)
        return
    tables["accuracy"] = _by_context(tables["accuracy"], places)
    title = {Format.table: "{}\n\n", Format.md: "## {}\n\n", Format.latex: "% {}\n"}[how]
    blocks = [title.format(_PARTS[name]) + _written(frame, how, places) for name, frame in tables.items()]
    _emit_text("\n".join(blocks), output)


def _pairs(name: str, metrics: Sequence[str] | None, texts: dict[str, Any], seed: int, jobs: int, quiet: bool):
    """Return pairs from a file or a set; perturb and score them where they are texts or rankings."""
    from .datasets import load
    from .datasets._common import Options
    from .datasets._tables import SUFFIXES, read_table
    from .evalset import EvalSet, Rankings

    is_file = name == "-" or Path(name).suffix.lower() in SUFFIXES
    loaded = read_table(name, Options())[0] if is_file else load(name)
    language = None
    if isinstance(loaded, EvalSet):
        language = (loaded.language_pair or "").rpartition("-")[2]
        loaded = loaded.to_frame().drop(columns=list(loaded.metrics))
    is_pairs = isinstance(loaded, Rankings) or any(f"{c}_perturbed" in loaded for c in loaded)
    if is_pairs and (given := [what for what, value in texts.items() if value]):
        raise ValueError(f"{name} holds no texts to perturb, so --{given[0]} has no meaning.")
    if isinstance(loaded, Rankings):
        from .perturb import perturb_rankings
        from .scoring import RANKING_MEASURES, score_ranking_pairs

        swapped = perturb_rankings(loaded.runs, rng=seed)
        return score_ranking_pairs(loaded.runs, swapped, loaded.qrels, metrics or RANKING_MEASURES)
    if is_pairs:
        return loaded
    texts = texts | {"language": texts["language"] or language or "en"}
    return _scored_pairs(loaded, name, metrics, texts, seed, jobs, quiet)


def _scored_pairs(frame, name, metrics, texts, seed, jobs, quiet) -> pd.DataFrame:
    """Perturb and score texts."""
    from .perturb import perturb_table
    from .scoring import score_pairs

    wanted = texts["task"] and str(texts["task"])
    tasks = [t for t, column in _TEXT_COLUMNS.items() if column in frame and t == (wanted or t)]
    if "reference" not in frame or not tasks:
        column = _TEXT_COLUMNS[wanted] if wanted else "translation or transcript"
        raise ValueError(
            f"{name} has neither pairs (for a metric M the columns M and M_perturbed) nor texts ({column}, and "
            f"reference). Found: {', '.join(map(str, frame.columns))}."
        )
    task, column = tasks[0], _TEXT_COLUMNS[tasks[0]]
    whole = frame[[column, "reference"]].notna().all(axis=1)
    if not whole.all():
        _say(quiet, f"left out of {name}: {(~whole).sum()} of {len(frame)} rows (no {column} or no reference)")
    rows = frame[whole].reset_index(drop=True)
    options = {"language": texts["language"], "kinds": texts["perturbation"], "rng": seed, "n_jobs": jobs}
    perturbed = perturb_table(rows, task=task, **options)
    _say(quiet, f"perturbed {len(rows)} texts, {len(perturbed)} pairs; scoring them")
    return score_pairs(perturbed, metrics, task=task, n_jobs=jobs, progress=not quiet and sys.stderr.isatty())


def _local_tables(
    pairs: pd.DataFrame, columns: list[str], wanted: list[str], average: str, ties: str, options: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """Return the wanted parts of the guide; those that compare are left out where there is nothing to compare."""
    from . import local_accuracy as la

    several_contexts = len(pairs[[c for c in columns if c in pairs]].drop_duplicates()) > 1
    several_metrics = len(options["metrics"] or la.metrics_of(pairs)) > 1
    possible = {"effect": several_contexts, "stability": several_contexts}
    possible |= dict.fromkeys(("order", "recommended"), several_contexts and several_metrics)
    counted = options | {"context": columns}
    averaged = counted | {"average": average}
    make = {
        "accuracy": lambda: la.local_accuracy(pairs, **averaged, ties=ties),
        "effect": lambda: la.context_effect(pairs, **counted).drop(columns=["p_value", "n_contexts", "n_resamples"]),
        "order": lambda: la.ranking_effect(pairs, **counted).drop(columns="n_resamples"),
        "recommended": lambda: _recommended(la.recommend(pairs, **averaged, ties=ties)),
        "stability": lambda: la.stability(pairs, **averaged, ties=ties),
    }
    # what was asked for alone is computed, or fails with its reason
    return {name: make[name]() for name in wanted if len(wanted) == 1 or possible.get(name, True)}


def _recommended(result: Any) -> pd.DataFrame:
    """Return one row a context: the best metric, those like it, and what the global winner loses."""
    import pandas as pd

    rows = []
    for name, part in result.table.groupby("context", sort=False):
        best = part[part["verdict"] == "best"]
        alike = part.loc[part["verdict"] == "cannot be told apart", "metric"]
        loss = float(part.loc[part["metric"] == result.global_winner, "loss"].iloc[0])
        rows.append((name, ", ".join(best["metric"]), float(best["accuracy"].iloc[0]), ", ".join(alike), loss))
    columns = ["context", "best", "accuracy", "cannot be told apart", f"loss of {result.global_winner}"]
    return pd.DataFrame(rows, columns=columns)


def _by_context(table: pd.DataFrame, places: int) -> pd.DataFrame:
    """Return accuracies as they are read: one row a context, one column a metric."""
    half = (table["high"] - table["low"]) / 2
    texts = [f"{a:.{places}f} ±{h:.{places}f}" for a, h in zip(table["accuracy"], half, strict=True)]
    wide = table.assign(text=texts).pivot(index="context", columns="metric", values="text")
    order = dict.fromkeys(table["metric"])
    sizes = table.groupby("context", sort=False)["n_pairs"].max()
    wide = wide.loc[sizes.index, list(order)].reset_index().rename_axis(columns=None)
    return wide.assign(n_pairs=sizes.to_numpy())


# -- sentinels ---------------------------------------------------------------------------

sentinel = typer.Typer(
    name="sentinel",
    help="Train metrics that see one text only, and score with them.",
    epilog="\b\nExample:\n  mtmeta sentinel train teaching --sees source --save my-sentinel",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(sentinel)


@sentinel.command("train", epilog=_EXAMPLE.format("sentinel train teaching --sees source --save my-sentinel"))
@_guarded
def train_sentinel(
    context: typer.Context,
    stages: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|SET",
            help="What to train on, in this order: CSV or TSV with source, candidate, reference (what --sees needs) "
            "and score, used as they are; or names of sets, whose scores are standardised. A plus sign joins several "
            "into one stage: wmt17-da ted+newstest2021.",
            show_default=False,
        ),
    ],
    sees: Annotated[Sees, typer.Option(help="The one text that it sees.", show_default=False)],
    save: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="Where the sentinel is saved.", show_default=False)
    ],
    kind: Annotated[
        Kind, typer.Option(help="A ridge regression, or a transformer (pip install 'mtmeta[sentinel]').")
    ] = Kind.light,
    validation: Annotated[
        str | None,
        typer.Option(metavar="FILE|SET", help="Keep the checkpoint that is best on this.", show_default="the last"),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="A Hugging Face checkpoint or a folder; scratch-small, scratch-base or scratch-large for random "
            "weights.",
            show_default="FacebookAI/xlm-roberta-large",
        ),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="Of RAdam.", show_default="1e-06")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(metavar="N", help="Texts per batch.", show_default="8")] = None,
    accumulation: Annotated[int | None, typer.Option(metavar="N", help="Batches per step.", show_default="2")] = None,
    epochs: Annotated[int | None, typer.Option(metavar="N", help="Per stage.", show_default="1")] = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens; longer texts are cut.", show_default="512")
    ] = None,
    select: Annotated[
        Select | None, typer.Option(help="What makes a checkpoint the best.", show_default="kendall")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Seed.", show_default="12")] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Checkpoints; the same command goes on from there.",
            show_default="none kept",
        ),
    ] = None,
    peak_flops: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="What the device can do a second in bf16, for the report.", show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            callback=_in_a_folder,
            help="Speed, memory and losses, as JSON.",
            show_default=False,
        ),
    ] = None,
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Train a sentinel: a metric that predicts the human score from one text.

    Options from --validation to --report go with --kind transformer; its defaults are the published recipe.
    """
    settings = {"encoder": encoder, "learning_rate": learning_rate, "batch_size": batch_size, "epochs": epochs}
    settings |= {"accumulation": accumulation, "max_length": max_length, "select": select and str(select), "seed": seed}
    settings = {name: value for name, value in settings.items() if value is not None}
    others = {"validation": validation, "checkpoints": checkpoints, "peak_flops": peak_flops, "report": report}
    given = [f"--{n.replace('_', '-')}" for n in (*settings, *(n for n, v in others.items() if v is not None))]
    if given and kind is Kind.light:
        raise typer.BadParameter("goes only with --kind transformer.", ctx=context, param_hint=", ".join(given))
    from . import sentinel as package
    from .sentinel._sentinel import check_target

    check_target(save)
    frames = [_to_learn(stage) for stage in stages]
    options: dict[str, Any] = {}
    if kind is Kind.transformer:
        options = {"config": package.TransformerConfig(**settings), "progress": not quiet and sys.stderr.isatty()}
        options |= {"checkpoints": checkpoints, "peak_flops": peak_flops}
        options["validation"] = None if validation is None else _to_learn(validation)
    trained = package.fit(frames, sees=str(sees), kind=str(kind), **options)
    trained.save(save)
    if report is not None:
        trained.report.write(report, command=shlex.join(["mtmeta", *sys.argv[1:]]))
    _say(quiet, f"{trained.signature}|mtmeta:{__version__}")
    _emit(_facts(trained, save, sum(map(len, frames))), how, places, output)


@sentinel.command(
    "score",
    epilog=_EXAMPLE.format(
        "sentinel train teaching --sees source --save my-sentinel && mtmeta sentinel score my-sentinel teaching"
    ),
)
@_guarded
def score_with_sentinel(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A saved sentinel.", show_default=False)],
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SET",
            help="CSV or TSV with the column that the sentinel sees (source, candidate or reference); or the name of a "
            "set.",
            show_default=False,
        ),
    ],
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of a set: the reference that it sees.", show_default="the published one"),
    ] = None,
    how: Annotated[
        ScoreFormat,
        typer.Option("--format", help="seg-score: system and score, as in .seg.score files of mt-metrics-eval."),
    ] = ScoreFormat.csv,
    places: Places = 3,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Score texts with a sentinel.

    One row per translation: system, segment and score for a set; for a table what it has of these, else its row
    number.
    """
    from .sentinel import load as load_sentinel

    loaded = load_sentinel(folder)
    if _is_file(what):
        if reference is not None:
            raise typer.BadParameter("goes only with the name of a set.", ctx=context, param_hint="--reference")
        frame = _scored_table(loaded, what)
    else:
        frame = _scored_set(loaded, what, reference, quiet)
    _say(quiet, f"{loaded.signature}|mtmeta:{__version__}")
    _emit_text(_scores_written(frame, how, places), output)


def _is_file(what: str) -> bool:
    return Path(what).suffix.lower() in (".csv", ".tsv")


def _to_learn(stage: str) -> pd.DataFrame:
    """Return one stage: tables as they are, and sets with standardised scores."""
    import pandas as pd

    from .datasets import load_all
    from .sentinel import read_table, training_frame

    parts = stage.split("+")
    return pd.concat(
        [read_table(part) if _is_file(part) else training_frame(load_all(part)) for part in parts], ignore_index=True
    )


def _facts(trained: Any, folder: Path, n: int) -> pd.DataFrame:
    """Return what was trained, as a table."""
    import pandas as pd

    rows: list[tuple[str, float | None, str | None]] = [("saved", None, str(folder)), ("texts", float(n), None)]
    if trained.kind == "light":
        best = trained.validation.set_index("alpha").loc[trained.alpha]
        rows += [("penalty", trained.alpha, "alpha with the smallest error in validation")]
        rows += [("mean squared error", float(best["mse"]), "in validation, of each text's mean score")]
        rows += [("Pearson", float(best["pearson"]), "in validation, no grouping")]
    else:
        done = trained.report
        losses = done.to_frame()["loss"].dropna()
        rows += [("loss", float(losses.iloc[-1]), "mean squared error, last logged")]
        rows += [("parameters", float(done.n_parameters), done.encoder)]
        rows += [("texts a second", done.texts_per_second, f"{done.device}, {done.precision}")]
        rows += [("tokens a second", done.tokens_per_second, "without padding")]
        if done.share_of_peak is not None:
            rows += [("share of peak", done.share_of_peak, f"of {done.peak_flops:g} operations a second")]
    return pd.DataFrame(rows, columns=["what", "value", "note"])


def _scored_table(loaded: Any, path: str) -> pd.DataFrame:
    import pandas as pd

    from .sentinel import read_table

    frame = read_table(path)
    kept = [c for c in ("system", "segment") if c in frame]
    scores = loaded.score_frame(frame)
    return (frame[kept] if kept else pd.DataFrame({"row": range(1, len(frame) + 1)})).assign(score=scores)


def _scored_set(loaded: Any, name: str, reference: str | None, quiet: bool) -> pd.DataFrame:
    es = _load([name], None, None, None, reference, Missing["raise"], quiet)
    if len(es) > 1:
        raise ValueError(f"{name!r} stands for {len(es)} sets; name one of them: {', '.join(e.name for e in es)}.")
    scored = es[0].with_metrics({"score": loaded.score_set(es[0])})
    return scored.to_frame()[["system", "segment", "score"]]


def _scores_written(frame: pd.DataFrame, how: ScoreFormat, places: int) -> str:
    if how is ScoreFormat.csv:
        return frame.to_csv(index=False, lineterminator="\n")
    if how is not ScoreFormat["seg-score"]:
        return _written(frame, Format(str(how)), places)
    if "system" not in frame:
        raise ValueError("the format seg-score needs a column 'system'; the table has none. Take --format csv.")
    lines = zip(frame["system"], frame["score"].tolist(), strict=True)
    return "".join(f"{system}\t{'None' if math.isnan(score) else score}\n" for system, score in lines)


# -- findings ----------------------------------------------------------------------------


def _ranked(es: EvalSet, metrics: Sequence[str] | None, statistic: dict[str, str]) -> pd.DataFrame:
    """Return `correlate`'s table with a column ``rank``, best first; equal values share the better rank."""
    from .agreement import correlate

    frame = correlate(es, metrics, **statistic)
    places = frame["value"].rank(ascending=False, method="min").astype(int)
    frame.insert(frame.columns.get_loc("value") + 1, "rank", places)
    return frame.sort_values(["rank", "metric"], ignore_index=True)


def _findings(es: EvalSet) -> pd.DataFrame:
    """Return what is in a set, what was left out of it, and what may be wrong with it.

    Raises
    ------
    ValueError
        If its ratings cannot rank any metric.
    """
    import numpy as np
    import pandas as pd

    _refuse_useless(es)
    rated = ~np.isnan(es.human)
    rows: list[tuple] = []

    def add(what: str, name: Any = None, count: int | None = None, of: int | None = None, note: str = "") -> None:
        rows.append((what, None if name is None else str(name), count, of, note or None))

    about = es.provenance
    add("set", es.name, note=about.get("source", ""))
    for what, name in (
        ("language pair", es.language_pair),
        ("human protocol", about.get("protocol")),
        ("reference", about.get("reference")),
    ):
        if name:
            add(what, name)
    add("systems", count=es.shape[0])
    for system in sorted(es.human_systems):
        add("human translator", system, note="a candidate like the others")
    add("segments", count=es.shape[1])
    add("comparable segments", None, int((rated.sum(axis=0) > 1).sum()), es.shape[1], "two systems or more are rated")
    add("rated translations", None, int(rated.sum()), rated.size, f"{rated.mean():.1%}")
    scores = es.human[rated]
    spread = f"from {scores.min():zg} to {scores.max():zg}, {len(np.unique(scores))} distinct"
    add("human scores", note=f"{spread}; higher is better")
    for what, values in (("documents", es.documents), ("domains", es.domains)):
        if values is not None:
            distinct = list(dict.fromkeys(v for v in values if v is not None))
            add(what, count=len(distinct), note=", ".join(map(str, distinct)) if len(distinct) <= 8 else "")
    if es.texts is not None:
        for what, name, texts in (
            ("sources", None, es.texts.sources),
            *(("references", name, texts) for name, texts in es.texts.references.items()),
            ("translations", None, [t for system in es.texts.translations.values() for t in system]),
        ):
            if texts:
                whole = es.human.size if what == "translations" else es.shape[1]
                add(what, name, sum(t is not None for t in texts), whole)
    for metric in es.metrics:
        add("metric", metric, *_coverage(es, metric))
    for metric in es.system_scores.columns.drop("human"):
        if metric not in es:
            add("metric", metric, note="system scores only")
    for what, why in about.get("left_out", {}).items():
        add("left out", what, note=why)
    for name, text in _doubts(es):
        add("warning", name, note=text)
    frame = pd.DataFrame(rows, columns=["what", "name", "count", "of", "note"], dtype=object)
    return frame.astype({"count": "Int64", "of": "Int64"})


def _coverage(es: EvalSet, metric: str) -> tuple[int, int, str]:
    """Return how many translations a metric scored, of how many, and what it is."""
    import numpy as np

    holes = int(np.isnan(es[metric]).sum())
    variant = es.provenance.get("variants", {}).get(metric)
    notes = [f"{holes} hole{'s' * (holes > 1)}"] if holes else []
    if metric in es.reference_free:
        notes.append("reference-free")
    elif variant:
        notes.append(f"scored against {variant}")
    return es.human.size - holes, es.human.size, ", ".join(notes)


def _refuse_useless(es: EvalSet) -> None:
    """Raise if the ratings of a set cannot rank any metric."""
    import numpy as np

    rated = ~np.isnan(es.human)
    systems = int(rated.any(axis=1).sum())
    if systems < 2:
        raise ValueError(
            f"set {es.name!r}: metrics cannot be ranked with {systems} rated system (of {es.shape[0]}). There is "
            "nothing to compare at system level or within a segment; expected two rated systems or more."
        )
    scores = es.human[rated]
    if scores.min() == scores.max():
        raise ValueError(
            f"set {es.name!r}: every human score is {scores[0]:g}, so no metric can agree or disagree with them."
        )


def _doubts(es: EvalSet) -> list[tuple[str | None, str]]:
    """Return what may be wrong with a set: the name of what it is about, if any, and the doubt."""
    import numpy as np

    from .agreement import correlate

    rated = ~np.isnan(es.human)
    doubts: list[tuple[str | None, str]] = [
        (system, "not one translation is rated: it counts nowhere")
        for system, some in zip(es.systems, rated.any(axis=1), strict=True)
        if not some
    ]
    if len(es.system_scores.columns) == 1:
        doubts.append((None, "no metric: there is nothing to rank or correlate"))
    if rated.any(axis=1).sum() == 2:
        doubts.append((None, "two rated systems make one pair: a correlation of system scores is 1 or -1 by force"))
    if not (rated.sum(axis=0) > 1).any():
        doubts.append((None, "no segment has two rated systems: nothing can be compared within a segment"))
    by_system = es.system_scores.corr()["human"]
    against = []
    for metric in es.metrics:
        both = int((rated & ~np.isnan(es[metric])).sum())
        if both < 2:
            doubts.append((metric, f"has scores for {both} of the rated translations"))
        elif np.nanmin(es[metric]) == np.nanmax(es[metric]):
            doubts.append((metric, "constant: all its scores are equal, so it ranks nothing"))
        else:
            r = correlate(es, metric, grouping="none")["value"].iloc[0]
            # Two standard errors of a correlation that is 0: a metric of pure noise is rarely accused.
            if r < -2 / math.sqrt(both) and by_system[metric] < 0:
                found = f"{r:.3f} over translations, {by_system[metric]:.3f} over systems"
                against.append((metric, f"correlates negatively with humans ({found}): is a high score good?"))
    if len(against) == len(es.metrics) > 1:
        return [*doubts, (None, "every metric correlates negatively with humans: is a high human score good?")]
    return doubts + against


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app(prog_name="mtmeta")
