#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench openmp-tasks`: openmp-tasks.py RESULTS.json FIGURE.svg|.png"""
import sys

import matplotlib.pyplot as plt

import figures

LOOKS = {
    ("openmp-gcc/nigh", 1): ("#88aaee", "s"), ("openmp-gcc/nigh", 2): ("#224488", "s"),
    ("openmp-clang/nigh", 1): ("#ee9988", "o"), ("openmp-clang/nigh", 2): ("#aa2211", "o"),
}


def draw(lines):
    """One row a program; how much faster it runs under nigh than plain."""
    problems = list(dict.fromkeys(l["params"]["problem"] for l in lines))
    figure, axes = plt.subplots(figsize=(8, 0.36 * len(problems) + 1.8), layout="constrained")
    most = max(l["params"]["threads"] for l in lines)
    for at, problem in enumerate(problems):
        if at % 2 == 0:
            axes.axhspan(at - 0.5, at + 0.5, color="#f3f3f3", zorder=0)
        for l in lines:
            if l["params"]["problem"] != problem:
                continue
            threads = l["params"]["threads"]
            colour, marker = LOOKS[l["variant"], 1 if threads == 1 else 2]
            compiler = l["variant"].split("/")[0].removeprefix("openmp-")
            axes.plot(l["counters"]["plain_over_this"], at, marker, color=colour, markersize=7, markeredgecolor="white",
                      markeredgewidth=0.5, label=f"{compiler}, {threads} thread{'s' if threads > 1 else ''}")
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    shown = [t for t in (0.5, 0.7, 1, 2, 5, 10, 20, 50, 100) if low <= t <= high]
    axes.set_xticks(shown, [f"{t:g}" for t in shown])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(problems)), problems)
    axes.set_ylim(len(problems) - 0.5, -0.5)
    axes.set_xlabel(f"time plain / time under nigh, of the same binary on 1 and {most} threads (median of ratios)")
    axes.grid(axis="x", alpha=0.25)
    handles = {}
    for handle, label in zip(*axes.get_legend_handles_labels()):
        handles.setdefault(label, handle)
    axes.legend(handles.values(), handles.keys(), ncols=len(handles), loc="lower left",
                bbox_to_anchor=(0, 1.0), fontsize=9)
    return figure


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l and l["bench"] == "openmp-tasks" and l["variant"].endswith("/nigh")]
    if not lines:
        sys.exit("openmp-tasks.py: no program ran under nigh, so there is nothing to draw")
    figures.style()
    figure = draw(lines)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
