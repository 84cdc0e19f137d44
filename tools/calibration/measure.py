"""Measure how often tests reject a true null hypothesis, intervals hold the true value, and effects are found.

python tools/calibration/measure.py [--jobs 2] [--campaigns 50] [--only "H1"]   simulate, and write the results
python tools/calibration/measure.py --only "nulls from real scores"             those of WMT23; they need MTMETA_DATA
python tools/calibration/measure.py --only "published ranking"                  those of whole rankings, as published
python tools/calibration/measure.py --write                                     write table and figures from the results
"""

import argparse
import datetime
import json
import platform
import time
import tomllib
import zlib
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import published_ranking
import real_nulls
from joblib import Parallel, delayed
from null_campaigns import PROCEDURES, Claim, Interval, Procedure, PValue
from scipy import stats

import mtmeta as mm

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "book" / "_static"
SEED = 9
LEVELS = (0.01, 0.05, 0.1)
#: What may be called nominal: rejections of a test at .05, and intervals of level .95 that hold the true value.
BANDS = {"test": (0.03, 0.08), "interval": (0.93, 0.97)}
#: A claim may be made as much too often as a test may reject too often, and more rarely without harm.
MOST_CLAIMS = 1.6
#: A verdict is what both limits of an interval of 90 % say: two tests at .05, one against each end of the band.
TWO_SIDES = 0.1

#: Which verdicts against which labels (patterns) have an explanation, and what the figure of power shows.
VERDICTS = tomllib.loads((HERE / "verdicts.toml").read_text(encoding="utf-8"))


def points(procedure: Procedure, limit: int | None) -> list[tuple[int, float, int]]:
    """Return sizes, effects and numbers of campaigns; effect 0 is the null."""
    return [
        (size, effect, min(n, limit or n))
        for size in procedure.sizes
        for effect, n in [(0.0, procedure.n), *((e, procedure.n_power) for e in procedure.effects)]
    ]


def simulate(procedure: Procedure, size: int, effect: float, n: int, seed: int) -> tuple[list[dict], float]:
    """Return one summary a label, and the processor time; seeds do not depend on the other procedures."""
    began = time.process_time()
    key = [seed, zlib.crc32(procedure.name.encode()), size, round(1000 * effect)]
    found: dict[str, list] = {}
    for k in range(n):
        for label, outcome in procedure.simulate(np.random.default_rng([*key, k]), size, effect).items():
            found.setdefault(label, []).append(outcome)
    about = {"procedure": procedure.name, "size": size, "effect": effect}
    return [{**about, "label": label, **summary(own)} for label, own in found.items()], time.process_time() - began


def summary(outcomes: list) -> dict:
    """Return counts and what they are compared with."""
    kind = type(outcomes[0])
    return {PValue: of_tests, Interval: of_intervals, Claim: of_claims}[kind](outcomes)


def of_tests(outcomes: list[PValue]) -> dict:
    """Count small p-values; compare with the uniform distribution."""
    p = np.array([o.value for o in outcomes])
    known = all(o.randomised is not None for o in outcomes)
    compared = np.array([o.randomised for o in outcomes]) if known else p
    ks = stats.kstest(compared, "uniform", alternative="two-sided" if known else "greater")
    counts = {f"{level:g}": int((p <= level + 1e-9).sum()) for level in LEVELS}
    sides = "two-sided" if known else "one-sided"
    return {"kind": "test", "n": len(p), "rejected": counts, "ks": ks.statistic, "ks_p": ks.pvalue, "ks_sides": sides}


def of_intervals(outcomes: list[Interval]) -> dict:
    """Count on which side intervals miss the true value."""
    low, high, truth = np.array([(o.low, o.high, o.truth) for o in outcomes]).T
    below, above = int((high < truth - 1e-9).sum()), int((low > truth + 1e-9).sum())
    n = len(truth)
    ends = {"below": below, "above": above, "undefined": int(np.isnan(low).sum())}
    covered = n - below - above - ends["undefined"]
    return {"kind": "interval", "n": n, "covered": covered, **ends, "width": float(np.nanmean(high - low))}


def of_claims(outcomes: list[Claim]) -> dict:
    """Count false claims."""
    made = int(sum(o.made for o in outcomes))
    return {"kind": "claim", "n": len(outcomes), "made": made, "level": outcomes[0].level}


def measure(jobs: int, limit: int | None, only: str, seed: int) -> dict:
    """Simulate all procedures whose name holds ``only``."""
    chosen = [p for p in PROCEDURES if only in p.name]
    tasks = [(p, *point, seed) for p in chosen for point in points(p, limit)]
    done = Parallel(n_jobs=jobs, verbose=1)(delayed(simulate)(*task) for task in tasks)
    rows = [row for part, _ in done for row in part]
    procedures = []
    for p in chosen:
        own = [(task[3], seconds) for task, (_, seconds) in zip(tasks, done, strict=True) if task[0] is p]
        cost = {"campaigns": sum(n for n, _ in own), "cpu_seconds": sum(seconds for _, seconds in own)}
        about = {"name": p.name, "area": p.area, "null": p.null, "unit": p.unit, "effect": p.effect}
        procedures.append(about | cost | {"date": datetime.date.today().isoformat()})
    real, ranking = (
        part.measure(jobs, limit) if only in part.NAME else None for part in (real_nulls, published_ranking)
    )
    return {
        "about": {
            "seed": seed,
            "command": "make calibration",
            "python": platform.python_version(),
            "versions": {"mtmeta": mm.__version__, **{n: version(n) for n in ("numpy", "numba", "scipy", "pandas")}},
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "real": real or [],
        "ranking": ranking or [],
        "procedures": procedures,
        "null": [row for row in rows if not row["effect"]],
        "power": [row for row in rows if row["effect"] and row["kind"] != "interval"],
    }


def merged(old: dict, new: dict) -> dict:
    """Return results with those of the new procedures in the place of the old ones, in the order of all."""
    fresh = {p["name"] for p in new["procedures"]}
    order = {p.name: k for k, p in enumerate(PROCEDURES)}
    found = {"about": new["about"], **{key: new[key] or old.get(key, []) for key in ("real", "ranking")}}
    for key, name in (("procedures", "name"), ("null", "procedure"), ("power", "procedure")):
        rows = [row for row in old[key] if row[name] not in fresh and row[name] in order] + new[key]
        found[key] = sorted(rows, key=lambda row, name=name: order[row[name]])
    return found


# -- judge -------------------------------------------------------------------------------


def binomial_interval(k: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson."""
    return tuple(map(float, stats.binomtest(k, n).proportion_ci(1 - alpha)))


def share_of(row: dict) -> tuple[int, float]:
    """Return how often it happened, and how often it should or may."""
    if row["kind"] == "test":
        return row["rejected"]["0.05"], 0.05
    return (row["covered"], 0.95) if row["kind"] == "interval" else (row["made"], row["level"])


def verdict(row: dict) -> str:
    """Say whether the 90 % interval of a share lies inside its band, wholly outside, or neither."""
    count, nominal = share_of(row)
    low, high = binomial_interval(count, row["n"], TWO_SIDES)
    least, most = BANDS.get(row["kind"], (0.0, MOST_CLAIMS * nominal))
    if low > most:
        return "too wide" if row["kind"] == "interval" else "too often"
    if high < least:
        return "too short" if row["kind"] == "interval" else "too rarely"
    return HOLDS if least <= low and high <= most else OPEN


HOLDS, OPEN = "holds", "not settled"


def why(row: dict) -> str | None:
    """Return the explanation of the verdict against a row."""
    known = (one for one in VERDICTS["known"] if one["verdict"] == verdict(row))
    return next((one["why"] for one in known if fnmatchcase(row["label"], one["labels"])), None)


def unexplained(results: dict) -> list[str]:
    """Return the labels with a verdict against them that nothing explains."""
    return sorted({row["label"] for row in results["null"] if verdict(row) not in (HOLDS, OPEN) and why(row) is None})


# -- write -------------------------------------------------------------------------------


def number(value: float, places: int = 3) -> str:
    """Return a share without a leading zero."""
    return f"{value:.{places}f}".lstrip("0") if value < 1 else f"{value:.{places}f}"


def with_interval(count: int, n: int) -> str:
    """Return a share and its interval of 95 %."""
    low, high = binomial_interval(count, n)
    return f"{number(count / n)} ({number(low)} to {number(high)})"


def p_words(p: float) -> str:
    return "< .001" if p < 0.001 else number(p)


HEADS = {
    "test": ("test", "p ≤ .05", "p of KS"),
    "interval": ("interval", "holds the true value", "too low / too high"),
    "claim": ("claim", "made", "allowed"),
}


def beside(row: dict) -> str:
    """Return what stands beside the share."""
    if row["kind"] == "test":
        return p_words(row["ks_p"]) + ("" if row["ks_sides"] == "two-sided" else " (one-sided)")
    return f"{row['below']} / {row['above']}" if row["kind"] == "interval" else number(row["level"])


def table(header: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def area_lines(results: dict, area: str) -> list[str]:
    """Return the tables of an area, and the list of its nulls that they refer to."""
    own = {p["name"]: p for p in results["procedures"] if p["area"] == area}
    nulls = list(dict.fromkeys(p["null"] for p in own.values()))
    lines = [f"## {area}", ""]
    for kind, (name, share, other) in HEADS.items():
        rows = sorted_rows([r for r in results["null"] if r["procedure"] in own and r["kind"] == kind])
        body = []
        for small, large in zip(rows[::2], rows[1::2], strict=True):
            procedure, verdicts = own[small["procedure"]], list(dict.fromkeys([verdict(small), verdict(large)]))
            shares = [with_interval(share_of(row)[0], row["n"]) for row in (small, large)]
            null = str(nulls.index(procedure["null"]) + 1)
            size = f"{small['size']}, {large['size']} {procedure['unit']}"
            others = ", ".join(dict.fromkeys([beside(small), beside(large)]))
            body.append([small["label"], null, size, str(small["n"]), *shares, others, "; ".join(verdicts)])
        if rows:
            lines += table((name, "null", "sizes", "n", f"{share}, small", "large", other, "verdict"), body)
    return [*lines, "What is simulated:", "", *(f"{k}. {null}." for k, null in enumerate(nulls, 1)), ""]


def sorted_rows(rows: list[dict]) -> list[dict]:
    """Put the sizes of a label together, labels in the order of their first row."""
    first = {label: k for k, label in enumerate(dict.fromkeys(row["label"] for row in rows))}
    return sorted(rows, key=lambda row: (first[row["label"]], row["size"]))


def curves(results: dict) -> dict[tuple[str, int], list[tuple[float, int, int]]]:
    """Return effect, count and n of each label and size, from no effect on."""
    found: dict[tuple[str, int], list] = {}
    for row in [*results["null"], *results["power"]]:
        if row["kind"] != "interval":
            found.setdefault((row["label"], row["size"]), []).append((row["effect"], share_of(row)[0], row["n"]))
    return {key: sorted(points) for key, points in found.items() if len(points) > 1}


def power_lines(results: dict) -> list[str]:
    about = {row["label"]: row["procedure"] for row in results["null"]}
    effects = {p["name"]: (p["effect"], p["unit"]) for p in results["procedures"]}
    by_effect: dict[str, dict] = {}
    for (label, size), curve in curves(results).items():
        name, unit = effects[about[label]]
        shown = ", ".join(f"{e:g}" for e, _, _ in curve)
        by_effect.setdefault(f"{name}: {shown}", {})[label, size] = (unit, curve)
    lines = ["## Power", "", "Share of campaigns with p ≤ .05, or with the claim, by effect; 0 is the null.", ""]
    for effect, rows in by_effect.items():
        heads = [f"{e:g}" for e, _, _ in next(iter(rows.values()))[1]]
        body = [
            [label, f"{size} {unit}", str(curve[1][2]), *(number(k / n, 2) for _, k, n in curve)]
            for (label, size), (unit, curve) in sorted(rows.items(), key=lambda item: list(rows).index(item[0]))
        ]
        lines += [f"Effect: {effect.split(':')[0]}.", "", *table(("test or claim", "size", "n", *heads), body)]
    return lines


def finding_lines(results: dict) -> list[str]:
    """Return what was found, in words that the numbers decide."""
    rows = results["null"]
    verdicts = pd.Series([verdict(row) for row in rows]).value_counts()
    off = [row for row in rows if verdict(row) not in (HOLDS, OPEN)]
    counts = pd.Series([row["kind"] for row in rows]).value_counts()
    lines = [
        "## What was found",
        "",
        f"Of {len(rows)} rows ({counts.get('test', 0)} of tests, {counts.get('interval', 0)} of intervals, "
        f"{counts.get('claim', 0)} of claims), {verdicts.get(HOLDS, 0)} hold, {verdicts.get(OPEN, 0)} are not settled, "
        f"and {len(off)} are off:",
        "",
    ]
    groups: dict[str, list[dict]] = {}
    for row in off:
        groups.setdefault(why(row) or "Not explained.", []).append(row)
    for reason, own in groups.items():
        shown = [f"{row['label']}, {row['size']} {unit_of(results, row)}: {measured(row)}" for row in sorted_rows(own)]
        lines += [f"- {reason}", *(f"  - {line}" for line in shown)]
    there = {p["name"] for p in results["procedures"]}
    if absent := "; ".join(p.name for p in PROCEDURES if p.name not in there):
        lines += ["", f"These results lack, until `make calibration` is run in full: {absent}."]
    return [*lines, ""]


def unit_of(results: dict, row: dict) -> str:
    return next(p["unit"] for p in results["procedures"] if p["name"] == row["procedure"])


def measured(row: dict) -> str:
    count, nominal = share_of(row)
    share = f"{number(count / row['n'])} instead of {number(nominal, 2 if nominal >= 0.05 else 3)}"
    return f"{share}, {verdict(row)} (n = {row['n']:,})"


# -- nulls from real scores --------------------------------------------------------------

PUBLISHED, DEFAULT, RANKS = "published", "new default", "rank sets"


def pooled(rows: list[dict], **fixed: str) -> dict | None:
    """Return the row of all counts with these values."""
    own = [row for row in rows if all(row[key] == value for key, value in fixed.items())]
    count, n = (sum(sum(row[key]) for row in own) for key in ("rejected", "n"))
    about = {"label": ", ".join(fixed.values()), "n": n}
    if fixed.get("test") == RANKS:
        return about | {"kind": "claim", "made": count, "level": 0.05} if n else None
    return about | {"kind": "test", "rejected": {"0.05": count}} if n else None


def real_lines(results: dict) -> list[str]:
    """Return the tables of nulls from real scores."""
    rows, lines = results["real"], ["## Nulls from real scores", ""]
    if not rows:
        return [*lines, "Left out: these rows need the scores of WMT23, which were not there.", ""]
    pairs = list(dict.fromkeys(row["language_pair"] for row in rows))
    ranked = "Share of campaigns in which a rank set lacks a true rank of its metric; .05 is allowed."
    for title, tests, name in (
        ("Share of campaigns with two-sided p ≤ .05.", (DEFAULT, PUBLISHED, "Williams"), "agreement"),
        (ranked, (RANKS,), "ranked by"),
    ):
        body = []
        for label in dict.fromkeys(row["label"] for row in rows if row["test"] in tests):
            for test in tests:
                for unit in real_nulls.MADE:
                    fixed = {"label": label, "test": test, "unit": unit}
                    whole = pooled(rows, **fixed)
                    if whole is None:
                        continue
                    parts = [pooled(rows, **fixed, language_pair=pair) for pair in pairs]
                    shares = [number(share_of(part)[0] / part["n"]) for part in parts if part]
                    share = with_interval(share_of(whole)[0], whole["n"])
                    body.append([label, test, f"{unit}s", f"{whole['n']:,}", share, ", ".join(shares), verdict(whole)])
        lines += [title, "", *table((name, "test", "exchanged", "n", "share", ", ".join(pairs), "verdict"), body)]
    return lines


def ranking_lines(results: dict) -> list[str]:
    """Return the tables of how wide null distributions are, and of whole published rankings."""
    rows, lines = results.get("ranking", []), ["## Whole published rankings", ""]
    if not rows:
        return [*lines, "Left out: these rows need the scores of WMT23 and WMT24, which were not there.", ""]
    spreads, rates = [], []
    for row in rows:
        about = [row["year"], row["label"], row["test"]]
        if "ratios" in row:
            low, middle, high = np.quantile(row["ratios"], [0.1, 0.5, 0.9])
            shown = f"{number(middle, 2)} ({number(low, 2)} to {number(high, 2)})"
            level = number(published_ranking.implied_level(np.array(row["ratios"])))
            spreads.append([*about, str(len(row["ratios"])), shown, level])
        if "n" in row:
            found = {"kind": "test", "n": row["n"], "rejected": {"0.05": row["rejected"]}}
            rates.append([*about, f"{row['n']:,}", with_interval(row["rejected"], row["n"]), verdict(found)])
    return [
        *lines,
        "Standard deviation of the null differences of a test over that of the difference itself when documents are "
        "drawn again: median over pairs of neighbouring metrics and language pairs (first to last tenth), and how "
        "often a test at .05 rejects with a null of such widths, if differences are normal.",
        "",
        *table(("year", "agreement", "test", "pairs", "ratio", "implied level"), spreads),
        "Share of campaigns with two-sided p ≤ .05 if metrics exchange whole documents (WMT24: segments) at random.",
        "",
        *table(("year", "agreement or ranking", "test", "n", "share", "verdict"), rates),
    ]


def markdown(results: dict) -> str:
    """Return the page of tables."""
    about = results["about"]
    versions = ", ".join(f"{name} {v}" for name, v in about["versions"].items())
    campaigns = sum(p["campaigns"] for p in results["procedures"])
    dates = sorted({p["date"] for p in results["procedures"]})
    minutes = sum(p["cpu_seconds"] for p in results["procedures"]) / 60
    lines = [
        "# Measured calibration",
        "",
        "Written by `make calibration`; do not edit.",
        "",
        f"{' and '.join(dates)}. Python {about['python']}, {versions}; {about['machine']}. Seed {about['seed']}, "
        f"`{about['command']}`: {campaigns:,} campaigns, {minutes:.0f} minutes of one core.",
        "",
        *real_lines(results),
        *ranking_lines(results),
        *finding_lines(results),
    ]
    for area in dict.fromkeys(p["area"] for p in results["procedures"]):
        lines += area_lines(results, area)
    lines += power_lines(results)
    return "\n".join(lines).rstrip() + "\n"


# -- figures -----------------------------------------------------------------------------


def real_figure(results: dict) -> None:
    """Draw how often the published tests and the default reject on nulls from real scores."""
    mm.plots.use_style()
    rows = results["real"]
    labels = list(dict.fromkeys(row["label"] for row in rows if row["test"] == DEFAULT))
    axes = plt.subplots(2, 1, figsize=(5.2, 5.6), sharex=True)[1]  # one above the other, for phones
    for ax, unit in zip(axes, real_nulls.MADE, strict=True):
        ax.axvspan(*BANDS["test"], color="0.87", linewidth=0)
        ax.axvline(0.05, color="black", linewidth=0.8, linestyle=":")
        for k, test in enumerate((DEFAULT, PUBLISHED)):
            style = {"marker": mm.plots.MARKERS[k], "color": mm.plots.COLOURS[k], "linestyle": ""}
            for y, label in enumerate(labels):
                whole = pooled(rows, label=label, test=test, unit=unit)
                share = share_of(whole)[0] / whole["n"]
                at = y + (k - 0.5) * 0.3
                ax.plot(binomial_interval(share_of(whole)[0], whole["n"]), [at, at], color=mm.plots.COLOURS[k])
                ax.plot(share, at, **style, markersize=6)
            ax.plot([], [], **style, label={DEFAULT: "default test", PUBLISHED: "published test"}[test])
        ax.set_title(f"scores of whole {unit}s exchanged", fontsize=9)
        ax.set_yticks(range(len(labels)), labels)
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.set_xlabel("share of campaigns with p ≤ .05")
    axes[0].set_xlim(-0.01, None)
    axes[0].legend(fontsize=8, loc="lower right")
    axes[0].figure.savefig(STATIC / "calibration_real.png", dpi=110)
    plt.close(axes[0].figure)


def coverage_figure(results: dict) -> None:
    """Draw how often each interval holds the true value."""
    mm.plots.use_style()
    rows = [r for r in results["null"] if r["kind"] == "interval"]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    ax = plt.subplots(figsize=(7.6, 0.6 + 0.19 * len(labels)))[1]
    ax.axvspan(*BANDS["interval"], color="0.87", linewidth=0)
    for row in rows:
        k = sorted({r["size"] for r in rows if r["label"] == row["label"]}).index(row["size"])
        y, colour = labels.index(row["label"]) + (k - 0.5) * 0.32, mm.plots.COLOURS[k]
        ax.plot(binomial_interval(row["covered"], row["n"], TWO_SIDES), [y, y], color=colour, linewidth=1)
        face = "white" if verdict(row) not in (HOLDS, OPEN) else colour
        ax.plot(row["covered"] / row["n"], y, mm.plots.MARKERS[k], color=colour, markersize=4.5, markerfacecolor=face)
    ax.axvline(0.95, color="black", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(labels)), labels, fontsize=7.5)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(None, 1.003)
    ax.set_xlabel("share of intervals that hold the true value")
    for k, text in enumerate(("small campaign", "large campaign")):
        ax.plot([], [], mm.plots.MARKERS[k], color=mm.plots.COLOURS[k], label=text)
    ax.legend(fontsize=8, loc="lower left")
    ax.figure.savefig(STATIC / "calibration_coverage.png", dpi=110)
    plt.close(ax.figure)


def power_figure(results: dict) -> None:
    """Draw rejections against the effect, one panel a test, one line a size."""
    mm.plots.use_style()
    found, about = curves(results), {row["label"]: row for row in results["null"]}
    shown = {label: title for label, title in VERDICTS["power"].items() if label in about}
    n_rows = -(-len(shown) // 2)
    axes = plt.subplots(n_rows, 2, figsize=(6.4, 2.4 * n_rows), sharey=True, squeeze=False)[1]
    for ax in axes.flat[len(shown) :]:
        ax.remove()
    for ax, (label, title) in zip(axes.flat, shown.items(), strict=False):
        row = about[label]
        for k, size in enumerate(sorted(s for name, s in found if name == label)):
            effect, count, n = np.array(found[label, size]).T
            low, high = np.array([binomial_interval(int(c), int(m)) for c, m in zip(count, n, strict=True)]).T
            style = {"marker": mm.plots.MARKERS[k], "linestyle": ("-", "--")[k], "color": mm.plots.COLOURS[k]}
            name = f"{size} {unit_of(results, row)}"
            ax.plot(effect, count / n, **style, markersize=5, label=name)
            ax.fill_between(effect, low, high, color=mm.plots.COLOURS[k], alpha=0.15, linewidth=0)
        ax.axhline(0.05, color="black", linewidth=0.8, linestyle=":")
        ax.text(0.01, 0.98, title, transform=ax.transAxes, va="top", fontsize=8.5)
        ax.set_ylim(0, 1.4)
        ax.set_yticks([0, 0.5, 1])
        effect = next(p["effect"] for p in results["procedures"] if p["name"] == row["procedure"])
        ax.set_xlabel(wrapped(effect), fontsize=8.5)
        ax.legend(fontsize=7.5, loc="upper right", handlelength=1.3, borderaxespad=0.1)
    for ax in axes[:, 0]:
        ax.set_ylabel("share found")
    axes[0, 0].figure.savefig(STATIC / "calibration_power.png", dpi=110)
    plt.close(axes[0, 0].figure)


def wrapped(text: str) -> str:
    """Break a label in two."""
    half = text.find(" ", len(text) // 2) if len(text) > 30 else -1
    return text if half < 0 else f"{text[:half]}\n{text[half + 1 :]}"


def write(results: dict) -> None:
    """Write the table and the figures."""
    (HERE / "CALIBRATION.md").write_text(markdown(results), encoding="utf-8")
    coverage_figure(results)
    if results["real"]:
        real_figure(results)
    power_figure(results)


def rounded(results: dict) -> dict:
    """Round the floats of nested results to five significant digits."""
    return json.loads(json.dumps(results), parse_float=lambda text: float(f"{float(text):.5g}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="processes; the results do not depend on it")
    parser.add_argument("--campaigns", type=int, help="at most so many for each procedure and size; prints only")
    parser.add_argument("--only", default="", help="only what has this in its name; the rest stays as it is")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help="only write table and figures from CALIBRATION.json")
    given = parser.parse_args()
    path = HERE / "CALIBRATION.json"
    if given.write:
        write(json.loads(path.read_text(encoding="utf-8")))
        return
    results = rounded(measure(given.jobs, given.campaigns, given.only, given.seed))
    if given.campaigns:
        print(markdown(results))
        return
    if given.only:
        results = merged(json.loads(path.read_text(encoding="utf-8")), results)
    path.write_text("\n".join(json_lines(results)) + "\n", encoding="utf-8")
    write(results)


def json_lines(results: dict) -> list[str]:
    """Return JSON with one row a line, so that a change of one is seen as one."""
    parts = []
    for key, value in results.items():
        rows = [json.dumps(v, ensure_ascii=False) for v in value] if isinstance(value, list) else None
        body = "[\n  " + ",\n  ".join(rows) + "\n ]" if rows else json.dumps(value, ensure_ascii=False)
        parts.append(f' "{key}": {body}')
    return ["{", ",\n".join(parts), "}"]


if __name__ == "__main__":
    main()
