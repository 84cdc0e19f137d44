"""`validate`, `rank`, `correlate`, `difference`, `compare`, `power`, `drivers`, `fetch`: whole sets of scores."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._limits import MAX_COUNT, MAX_SEED
from . import _choices as choose
from ._common import Loading, Printing, Source, command, in_options
from ._options import Sets, argument, flag, number, option, several, threshold, wrong
from ._output import Alike, Best, together

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet


_COMPARED = "compare any translations, those of a segment, or those of a system"


@command("validate teaching")
def validate(sets: Sets, *, loading: Loading, printing: Printing) -> None:
    """Check data: what was loaded, what was left out and why, what may be wrong.

    Each row is a finding: its subject, its name, how many there are, and of how many. The exit code is 1 if these
    ratings cannot rank any metric: one rated system, or one score throughout.
    """
    from ..datasets import validate as findings

    table = together({es.name: findings(es) for es in loading.rated(sets, quiet=True, unrated=True)})
    printing.table(table.assign(note=table["note"].map(in_options, na_action="ignore")))


@command("rank teaching")
def rank(
    sets: Sets,
    protocol: option(choose.Protocol, "Which published ranking to compute, over all sets together.") = "wmt23",
    ties: option(
        choose.Ties | None,
        "Count a tied pair of systems (SPA) as one half, or as published, which also calibrates acc_eq so.",
        default="half",
    ) = None,
    n_resamples: number(int, "Draws of the test that says which ranks are possible; 0 skips it.", 0, MAX_COUNT) = 1000,
    method: option(
        choose.Method,
        "Exchange documents or segments to get rank confidence sets, or test as published to get clusters.",
    ) = "exchange",
    seed: number(int, "Seed of these draws.", 0, MAX_SEED) = 0,
    *,
    loading: Loading,
    printing: Printing,
) -> None:
    """Rank metrics by a published protocol.

    The best metric comes first. Higher values are better. The column decided_by names the systems each of which alone
    decides over the sign of a value of the metric at system level, or over its being first there. To rank by one
    coefficient, see mtmeta correlate --wide.
    """
    from ..evalset import UNRATED
    from ..protocols import PROTOCOLS, decided_by_one, deciding_systems, without_each_system
    from ..protocols import rank as rank_sets

    if ties is not None and not any(task.statistic in ("spa", "acc_eq") for task in PROTOCOLS[protocol].tasks):
        raise wrong("--ties", "goes only with a protocol that counts ties (SPA or acc_eq), such as wmt24.")
    loaded = loading.rated(sets, printing.quiet)
    printing.say(*(_partly_rated(es, protocol) for es in loaded))
    options = {"n_resamples": n_resamples, "method": method, "rng": seed, "ties": ties or "half"}
    result = rank_sets(loaded, protocol=protocol, metrics=loading.metric, **options)
    left_out = {what: why for what, why in result.left_out.items() if why != UNRATED}  # said already
    printing.say(*(f"left out of the ranking: {what} ({why})" for what, why in left_out.items()))
    without = without_each_system(loaded, loading.metric, protocol, ties=ties or "half")
    printing.say(*decided_by_one(without))
    printing.say(in_options(result.note), f"{result.signature}|mtmeta:{__version__}")
    table, decided = result.to_frame(), deciding_systems(without)
    if decided or printing.how in ("json", "csv", "tsv"):
        table.insert(len(result.table.columns), "decided_by", table["metric"].map(decided).astype(object))
    printing.table(table)


def _partly_rated(es: EvalSet, protocol: str) -> str:
    """Say what a protocol compares where segments are rated for some systems only."""
    from ..protocols import PROTOCOLS

    rated = es.human == es.human  # NaN is not rated
    here, whole = rated.any(axis=0), rated[rated.any(axis=1)].all(axis=0)
    of_systems = [task.statistic for task in PROTOCOLS[protocol].tasks if task.level == "system"]
    if not of_systems or whole[here].all():
        return ""
    how = "a system's score is the mean over those rated for it"
    how = "a pair of systems is compared where both are rated" if of_systems[0] == "spa" else how
    n = (here & ~whole).sum()
    return f"{es.name}: {n} of the {here.sum()} rated segments are rated for some systems only; {how}"


@command("correlate teaching --coefficient kendall --grouping segment --grouping none")
def correlate(
    sets: Sets,
    coefficient: option(list[choose.Coefficient], "How agreement is measured; repeatable.") = ["pearson"],  # noqa: B006
    grouping: option(list[choose.Grouping], f"{_COMPARED.capitalize()}; repeatable.") = ["segment"],  # noqa: B006
    degenerate: option(
        choose.Degenerate,
        "What to do where humans or metric give a group one score: leave it out, count 0 or nan, or refuse.",
    ) = "drop",
    epsilon: option(
        Any,
        "Tie metric scores this close; calibrate: the best for acc_eq and tau_eq, otherwise 0; published: the same "
        "without a tolerance for rounding.",
        "NUMBER|calibrate|published",
        parser=threshold,
    ) = "calibrate",
    level: option(choose.Level, "Compare translations, or the scores of systems.") = "segment",
    interval: flag("Add 95 % intervals, and p-values of the difference to the best metric.", "--interval") = False,
    wide: flag("Print a row per metric; * or bold: the best, =: no worse by --interval.", "--wide") = False,
    *,
    loading: Loading,
    printing: Printing,
) -> None:
    """Correlate metrics with human scores.

    One row per coefficient, grouping and metric. --interval redraws and exchanges documents if 20 are rated, otherwise
    segments; with --level system, it leaves out systems one at a time and exchanges them. The p-value is about the
    translations that all metrics scored.
    """
    coefficients, groupings = (list(dict.fromkeys(map(str, given))) for given in (coefficient, grouping))
    if interval and epsilon != "calibrate":
        raise wrong("--interval", "goes with --epsilon calibrate.")
    import pandas as pd

    from ..agreement import correlate as correlate_set
    from ..protocols import Task, decided_by_one, without_each_system

    tables = {}
    for es in loading.rated(sets, printing.quiet):
        if level == "system":
            if "pearson" in coefficients:
                decided = without_each_system(es, loading.metric or es.metrics, Task("pearson", "system"))
                printing.say(*decided_by_one(decided))
            es, groupings = _means(es), ["none"]
        blocks = []
        for c, g in ((c, g) for c in coefficients for g in groupings):
            seconds, hint = _correlating(es, c, g, epsilon, interval)
            seconds *= len(loading.metric or es.metrics)
            printing.say(_long(f"{c} of {es.name} with {g} grouping", seconds, 0, hint))
            settings = {"coefficient": c, "grouping": g, "degenerate": degenerate}
            table = correlate_set(es, loading.metric, epsilon=epsilon, **settings)
            blocks.append(_with_interval(es, table, settings, level) if interval else table)
        printing.say(f"{es.name}: cannot be told: {_few(es, level)}" if interval and _few(es, level) else "")
        tables[es.name] = pd.concat(blocks, ignore_index=True).drop(columns=["grouping"] * (level == "system"))
    drawn = "|level:0.95|draws:1000|seed:0" if interval else ""
    printing.say(f"degenerate:{degenerate}|epsilon:{epsilon}{drawn}|mtmeta:{__version__}")
    printing.table(_wide(together(tables)) if wide else together(tables))


def _means(es: EvalSet) -> EvalSet:
    """Return the scores of systems as a set of one segment."""
    from ..evalset import Computed

    scores = es.system_scores
    metrics = {metric: scores[[metric]] for metric in scores.columns.drop("human")}
    return Computed(
        scores[["human"]], metrics, systems=es.systems, name=es.name, about={"language_pair": es.language_pair}
    )


def _with_interval(es: EvalSet, table: pd.DataFrame, settings: dict[str, str], level: str) -> pd.DataFrame:
    """Add the interval of each metric, and the p-value against the best one."""
    import pandas as pd

    from ..significance import compare as test
    from ..significance import intervals

    names, unit = table["metric"].tolist(), "system" if level == "system" else _units(es)
    found = pd.concat([intervals(es, [name], unit=unit, **settings) for name in names])
    table = table.assign(low=found["low"].to_numpy(), high=found["high"].to_numpy(), p_value=float("nan"))
    if len(names) > 1:
        p = test(es, names, unit=unit, **settings).p_values.iloc[0]
        table["p_value"] = table["metric"].map(p)
    return table


def _few(es: EvalSet, level: str) -> str:
    """Say that there are too few systems, segments or documents for an interval, if there are."""
    from .._enough import too_few
    from ..significance import exchange_units

    if level == "system":
        return too_few(int((es.human == es.human).any(axis=1).sum()), "system")
    units = exchange_units(es)
    return too_few(units.n, units.unit)


def _units(es: EvalSet, unit: str | None = None) -> str:
    """Return what is exchanged and redrawn; raise if there are no two of them."""
    from ..significance import exchange_units

    units = exchange_units(es, unit)
    if units.n < 2:
        raise ValueError(
            f"{es.name}: one {units.unit} is rated, so there is nothing to exchange or redraw. An interval and a test "
            "need ratings of two or more."
        )
    return units.unit


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row a metric and one column a correlation; marks show the best number and those as good."""
    import pandas as pd

    keys = [key for key in ("set", "coefficient", "grouping") if key in table and table[key].nunique() > 1]
    columns = {}
    for name, part in table.groupby(keys or ["coefficient"], sort=False):
        best, cells = part["value"].max(), zip(part["value"], part.get("p_value", part["value"] * 0), strict=True)
        cells = [Best(v) if v == best else Alike(v) if p > _ALPHA else float(v) for v, p in cells]
        columns[" ".join(name)] = pd.Series(cells, index=part["metric"], dtype=object)
    wide = pd.concat(columns, axis=1)
    order = wide.iloc[:, 0].astype(float).sort_values(ascending=False, kind="stable").index
    return wide.loc[order].rename_axis("metric").reset_index()


@command("difference chrF 1.2")
def difference(
    name: argument(str, "METRIC", "The metric, as the scores call it."),
    delta: argument(float, "DELTA", "How much it prefers one system.", min=0),
    sets: several("Fit the curve to these scores", "FILE|SET", "WMT23's curve", "--set") = None,
    segments: number(int | None, "How many segments are averaged.", 1, MAX_COUNT, "all of the set") = None,
    *,
    loading: Source,
    printing: Printing,
) -> None:
    """Say how often humans prefer the system that a metric prefers by this much.

    Prints the chance, by a logistic curve through 1/2 at 0, its 95 % interval for other systems, and the difference at
    which the chance is .8. The curves of WMT23 have 249 pairs of systems and MQM ratings. They are for 30, 100, 300 and
    all segments (557 or more; 0 in the column n_segments), and the next smaller one counts. BLEU, chrF and other
    metrics whose system scores are no means of segment scores have only the curve for all. The interval is too narrow
    for a new campaign, because only systems are redrawn. With a human translation a curve does not hold.
    """
    import numpy as np
    from scipy.special import expit, logit

    from ..differences import curve, wmt23_curve

    if sets:
        row = curve(loading.rated(sets, printing.quiet), name, n_segments=segments).to_frame()
        row.insert(1, "n_segments", segments or 0)
    else:
        row = wmt23_curve(name, n_segments=segments)
    slopes = row.loc[0, ["slope", "low", "high"]].to_numpy(dtype=float)
    largest = row.at[0, "largest"]
    n_human, agreed = row.at[0, "n_human"], row.at[0, "human_agreement"]
    told = f"no two systems of the curve differ by more than {largest:.4g}. Is this the same scale?"
    printing.say(
        f"{told} Beyond that the chance is an extrapolation." if delta > largest else "",
        "The curve is for two machine translations. If one of the two is a human translation, do not use it: "
        + (f"there humans agreed with {agreed:.0%} of {n_human} differences." if n_human else "it has no such pair."),
        "The interval redraws systems, not campaigns; for a new campaign it is too narrow.",
    )
    (chance, low, high), needed = expit(slopes * delta), logit(0.8) / slopes[0] if slopes[0] > 0 else np.inf
    found = row[["metric", "n_segments"]].assign(difference=delta, chance=chance, low=low, high=high, needed_80=needed)
    printing.table(found.join(row[["n_pairs", "n_systems", "n_sets"]]))


#: Level of the test that marks a metric as no worse than the best.
_ALPHA = 0.05


@dataclass(frozen=True)
class Duel:
    """Two metrics of one set, and the measure of their agreement with humans."""

    file: argument(str, "FILE|SET", "A table, a folder, or the name of a set.")
    metrics: argument(list[str], "METRIC METRIC", "The two metrics.")
    coefficient: option(choose.Coefficient, "How agreement with humans is measured.") = "pearson"
    grouping: option(choose.Grouping, f"{_COMPARED.capitalize()}.") = "segment"

    def sets(self, loading: Source, quiet: bool) -> list[EvalSet]:
        """Load the sets that the name stands for."""
        if len(set(self.metrics)) != 2:
            raise wrong("METRIC", f"expected two metrics; found {len(set(self.metrics))}.")
        return loading.rated([self.file], quiet, self.metrics)

    @property
    def options(self) -> dict[str, str]:
        """Return what functions of the package call these options."""
        return {"coefficient": self.coefficient, "grouping": self.grouping}


Draws = number(int, "Draws of the test, and of the interval.", 40, MAX_COUNT)
Seed = number(int, "Seed of these draws.", 0, MAX_SEED)


@command("compare teaching Judge chrF")
def compare(
    *,
    duel: Duel,
    unit: option(
        choose.Exchanged | None,
        "What to exchange and redraw; a block is a run of neighbouring segments.",
        default="document where 20 are rated, else segment",
    ) = None,
    n_resamples: Draws = 1000,
    seed: Seed = 0,
    loading: Source,
    printing: Printing,
) -> None:
    """Say whether one metric is better than another by more than luck.

    One row per set: the difference in agreement with its 95 % interval (units redrawn), and the two-sided p-value of
    the test that exchanges units between the metrics. The verdict is about these systems.
    """
    import pandas as pd

    from .._enough import interval_of
    from ..significance import compare as test

    rows = []
    for es in duel.sets(loading, printing.quiet):
        options = duel.options | {"n_resamples": n_resamples, "rng": seed}
        found = test(es, duel.metrics, unit=_units(es, unit), **options)
        (better, worse), (upper, lower) = found.table["metric"], found.table["value"]
        of, n = found.table.loc[0, ["unit", "n_units"]]
        redrawn = test(es, [better, worse], unit=of, method="bootstrap", keep_draws=True, **options)
        low, high = interval_of(upper - lower, redrawn.draws[0], 0.95, n, (-2, 2))
        p = found.p_values.loc[better, worse]
        verdict = f"{better} is better" if p <= 0.05 else "cannot be told"
        ends = f", 95 % from {low:.3f} to {high:.3f}" if low == low else ""
        lead = f"{better} is ahead of {worse} by {upper - lower:.3f}{ends}"
        assumed = "; if segments are independent" * (of == "segment")
        printing.say(f"{es.name}: {verdict}: {lead} (p = {p:.3f}, {n} {of}s exchanged{assumed})")
        printing.say(in_options(f"{es.name}: {found.note}") if found.note else "")
        rows.append((es.name, verdict, better, worse, upper - lower, low, high, p, of, n))
    columns = ["set", "verdict", "better", "worse", "difference", "low", "high", "p_value", "unit", "n_units"]
    printing.table(pd.DataFrame(rows, columns=columns))


@command("power teaching Judge RegressorQE --coefficient acc_eq")
def power(*, duel: Duel, n_resamples: Draws = 1000, seed: Seed = 0, loading: Source, printing: Printing) -> None:
    """Say how many segments and how many systems it takes to show a difference of this size.

    Four rows per set: how often the difference is found with the segments and systems at hand, and how many are needed
    for a power of .8, with its 95 % interval; first for these systems, then for others of their kind. An empty number
    means that more systems alone are not enough, an empty "high" that no upper limit is known. The difference at hand
    counts as the true one. A pilot with fewer segments than the column "pilot" says is too small to plan with.
    """
    from ..significance import power as found

    options = duel.options | {"n_resamples": n_resamples, "rng": seed}
    sets = {es.name: es for es in duel.sets(loading, printing.quiet) if _units(es)}
    tables = {name: found(es, duel.metrics, **options) for name, es in sets.items()}
    for name, table in tables.items():
        n, pilot = table.at[0, "n_segments"], table.at[0, "pilot"]
        small = f"{name}: {n} segments are too few for a pilot, so the numbers needed are unreliable; take at least"
        printing.say(f"{small} {pilot}, if the difference is as large as it looks." if n < pilot else "")
    printing.table(together(tables).replace(float("inf"), float("nan")))  # JSON has no infinity


@command("drivers teaching Judge chrF --top 10")
def drivers(
    *,
    duel: Duel,
    top: number(int, "How many segments to show.", 1, MAX_COUNT) = 20,
    loading: Source,
    printing: Printing,
) -> None:
    """Show the segments that drive the difference between two metrics, the most influential first.

    Each row says what a segment adds to the agreement of each metric with humans, the better metric first. The
    differences sum to the lead. A table on the screen has the beginning of each source; csv and json have all of it.
    """
    from ..significance import drivers as found

    tables = {}
    for es in duel.sets(loading, printing.quiet):
        table = found(es, duel.metrics, **duel.options)
        lead, (better, worse) = table["difference"].sum(), table.columns[-3:-1]
        without = f"without the {min(top, len(table))} segments by {table['difference'].iloc[top:].sum():z.3f}"
        printing.say(f"{es.name}: {better} is ahead of {worse} by {lead:.3f}; {without}")
        if "source" in table and printing.how == "table":
            table["source"] = table["source"].map(lambda text: shorten(text or "", 60, placeholder=" ..."))
        tables[es.name] = table.head(top)
    printing.table(together(tables))


@command("fetch --list")
def fetch(
    names: argument(list[str] | None, "NAME", "Sets to download.") = None,
    show: flag("List what can be downloaded, and download nothing.", "--list") = False,
    mirror: option(str | None, "Download from this address, which serves a filled cache.", "URL") = None,
    *,
    printing: Printing,
) -> None:
    """Download public data sets into the cache.

    The output names their place, their licence, and what to cite. Files are checked by sha256. To continue an
    interrupted download, give the command again. The archive mt-metrics-eval has 0.9 GB; name the part of it that you
    want to unpack: mt-metrics-eval/wmt24, or mt-metrics-eval/wmt24/en-de.
    """
    if bool(names) == show:
        raise wrong("NAME", "give names of sets, or --list.")
    import pandas as pd

    from ..datasets import available
    from ..datasets import fetch as fetch_set

    known = available()
    rows = []
    for name in dict.fromkeys(known if show else names):
        folder = None if show else fetch_set(name, base_url=mirror, progress=not printing.quiet)
        terms = known[name.partition("/")[0]]
        size = f"{terms.size / 1e6:.1f} MB, {len(terms.files)} files"
        facts = [("title", terms.title), ("size", size), ("licence", terms.licence), ("restriction", terms.restriction)]
        facts += [("note", terms.note), *(("cite", text) for text in terms.cite), ("folder", folder and str(folder))]
        rows += [(name, what, text) for what, text in facts if text]
    printing.table(pd.DataFrame(rows, columns=["set", "what", "text"]))


def _correlating(es: EvalSet, coefficient: str, grouping: str, epsilon: Any, interval: bool) -> tuple[float, str]:
    """Return about how many seconds a metric takes, and how it would take less; an interval takes 1,000 values."""
    import numpy as np

    if coefficient in choose.CALIBRATED and epsilon in choose.THRESHOLDS:  # all pairs are compared
        sizes = np.sum(~np.isnan(es.human), axis={"none": None, "segment": 0, "system": 1}[grouping])
        each, hint = 6e-8 * np.sum(sizes * (sizes - 1) / 2), "; with --epsilon 0, which calibrates nothing, a moment"
    else:
        each, hint = np.sum(~np.isnan(es.human)) * (4e-8 if coefficient == "pearson" else 3e-7), ""
    return (1000 * each, "; without --interval a thousandth of it") if interval else (each, hint)


def _long(what: str, seconds: float, size: float, hint: str) -> str:
    """Say how much time and memory something takes, if it is more than a little."""
    if seconds < _LONG and size < _LARGE:
        return ""
    number, unit = next((seconds / s, unit) for s, unit in _UNITS if seconds < 100 * s or unit == "hours")
    memory = f" and {size / 1e9:.0f} GB of memory" if size >= _LARGE else ""
    return f"{what} takes about {number:.0f} {unit}{memory} with two cores{hint}"


#: From how many seconds and bytes on the command says what it will take.
_LONG, _LARGE = 10, 2e9
_UNITS = ((1, "seconds"), (60, "minutes"), (3600, "hours"))
