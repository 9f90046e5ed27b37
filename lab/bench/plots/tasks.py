#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench tasks`: tasks.py RESULTS.json FIGURE.svg|.png"""
import sys

import matplotlib.pyplot as plt

import figures

LOOKS = {
    "serial": ("#777777", "|"), "openmp-gcc": ("#4477aa", "s"), "openmp-clang": ("#66ccee", "D"),
    "tbb": ("#ccbb44", "^"), "nigh": ("#cc3311", "o"),
}


def title(line):
    params = line["params"]
    cutoff = f", cutoff {params['cutoff']}" if params["cutoff"] else ""
    return f"{params['problem']} {params['size']}{cutoff}"


def draw(lines):
    """One row a problem and number of threads; how long each variant takes, serial = 1."""
    teams = sorted({l["params"]["threads"] for l in lines})
    rows = [(name, team) for name in dict.fromkeys(title(l) for l in lines) for team in teams]
    figure, axes = plt.subplots(figsize=(9, 0.36 * len(rows) + 1.8), layout="constrained")
    for at, (name, team) in enumerate(rows):
        here = [l for l in lines if title(l) == name and l["params"]["threads"] == team
                and l["variant"] != "serial"]
        if (at // len(teams)) % 2 == 0:
            axes.axhspan(at - 0.5, at + 0.5, color="#f3f3f3", zorder=0)
        for l in here:
            colour, marker = LOOKS[l["variant"]]
            ratio = l["counters"]["ratio_to_serial"]
            low, high = (ratio * l[end] / l["median"] for end in ("min", "max"))
            axes.plot([low, high], [at, at], color=colour, linewidth=1, alpha=0.7)
            axes.plot(ratio, at, marker, color=colour, markersize=7, label=l["variant"],
                      markeredgecolor="white", markeredgewidth=0.5)
        if here:
            axes.plot([1 / team] * 2, [at - 0.4, at + 0.4], color="black", linewidth=0.8)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    ticks = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
    low, high = axes.get_xlim()
    shown = [t for t in ticks if low <= t <= high]
    axes.set_xticks(shown, [f"{t:g}" for t in shown])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(rows)), [f"{n},  {t} thread{'s' if t > 1 else ''}" for n, t in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time, serial = 1 (median of ratios; bars: min to max; black marks: 1 / threads)")
    axes.grid(axis="x", alpha=0.25)
    handles = {}
    for handle, label in zip(*axes.get_legend_handles_labels()):
        handles.setdefault(label, handle)
    axes.legend(handles.values(), handles.keys(), ncols=len(handles), loc="lower left",
                bbox_to_anchor=(0, 1.0), fontsize=9)
    return figure


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l and l["bench"] == "tasks/matrix"]
    if not lines:
        sys.exit("tasks.py: no problem was solved, so there is nothing to draw")
    figures.style()
    figure = draw(lines)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
