"""Turn the JSON of pytest-benchmark into RESULTS.md and the figure of growth.

python benchmarks/table.py results.json
"""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import mtmeta as mm

HERE = Path(__file__).parent
FIGURE = HERE.parent / "book" / "_static" / "growth.png"
LABELS = {"n_systems": "systems", "n_segments": "segments", "metrics": "metrics", "draws": "draws"}


def results_table(benchmarks: list[dict]) -> list[str]:
    """Return the lines of the table: job, target, measured."""
    lines = ["| job | target | measured (best of n) | n |", "|---|---|---|---|"]
    for one in benchmarks:
        info, stats = one["extra_info"], one["stats"]
        if "job" not in info:
            continue
        memory = f", {info['peak_mb']} MB" if "peak_mb" in info else ""
        seconds = info.get("seconds", stats["min"])
        lines.append(f"| {info['job']} | {info['target']} | {seconds:.3g} s{memory} | {stats['rounds']} |")
    return lines


def growth_figure(rows: list, base: dict) -> None:
    """Draw time and memory against size, one column a variable, all axes logarithmic."""
    mm.plots.use_style()
    frame = pd.DataFrame(rows, columns=["variable", "size", "job", "seconds", "MB"])
    jobs = list(dict.fromkeys(frame["job"]))
    axes = plt.subplots(2, 4, figsize=(11, 5.6), sharey="row", sharex="col")[1]
    for column, (variable, part) in zip(axes.T, frame.groupby("variable", sort=False), strict=True):
        for ax, quantity in zip(column, ("seconds", "MB"), strict=True):
            for job, line in part.groupby("job", sort=False):
                k = jobs.index(job)
                style = {"marker": mm.plots.MARKERS[k], "color": mm.plots.COLOURS[k], "label": job}
                ax.plot(line["size"], line[quantity], **style)
            ax.set(xscale="log", yscale="log")
            ax.axvline(base[variable], color="black", linewidth=0.8, linestyle=":")
            sizes = sorted(set(part["size"]))
            ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
            ax.minorticks_off()
        column[-1].set_xlabel(LABELS[variable])
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set_ylabel("peak memory, MB")
    axes[0, 3].legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, loc="upper left")
    axes[0, 0].figure.savefig(FIGURE, dpi=120)


def main(path: str) -> None:
    """Write RESULTS.md and the figure."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    cpu = data["machine_info"]["cpu"]
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scipy", "pandas"))
    lines = ["# Measured speed", "", "Written by `make bench`; do not edit.", ""]
    lines += [f"{cpu.get('brand_raw', 'unknown processor')}, {cpu.get('count')} cores, {platform.system()}."]
    lines += [f"Python {platform.python_version()}, mtmeta {mm.__version__}, {versions}."]
    lines += [f"{data['datetime'][:10]}. Data: 15 systems x 1177 segments, 30 metrics, simulated.", ""]
    lines += results_table(data["benchmarks"])
    growth = next((b["extra_info"] for b in data["benchmarks"] if "growth" in b["extra_info"]), None)
    if growth:
        growth_figure(growth["growth"], growth["base"])
    (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
