#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench jacobi3d`: jacobi3d.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures

FAMILY_COLOURS = {"openmp": "#4477aa", "tbb": "#ccbb44", "nigh": "#cc3311", "serial": "#777777"}
MARKERS = "osD^vPX"


def colour(variant):
    return FAMILY_COLOURS[variant.split("/")[0].split("-")[0]]


def label(line):
    order = line["params"].get("order")
    return line["variant"] + (f"  {order}" if order else "")


def draw_comparison(lines):
    """One row a variant; a dot a sample, a bar for the median, one shade for each init rule."""
    rates = [l for l in lines if l.get("metric") == "rate"]
    copies = {l["variant"]: l for l in lines if l.get("metric") == "bandwidth"}
    inits = [("static", 1.0, "static init"), ("static,1", 0.55, "static,1 init"),
             ("ld0", 0.25, "all in one domain")]
    names = list(dict.fromkeys(label(l) for l in rates))
    figure, axes = plt.subplots(figsize=(9, 0.62 * len(names) + 1.6), layout="constrained")
    for row, name in enumerate(names):
        mine = {l["params"]["init"]: l for l in rates if label(l) == name}
        shown = [(i, a) for i, a, _ in inits if i in mine]
        height = 0.8 / len(shown)
        for n, (init, alpha) in enumerate(shown):
            line = mine[init]
            at = row + (n - (len(shown) - 1) / 2) * height
            axes.barh(at, line["median"], height * 0.92, color=colour(line["variant"]), alpha=alpha)
            axes.plot(line["samples"], [at] * len(line["samples"]), "|", color="black",
                      markersize=5, markeredgewidth=0.7, alpha=0.6)
            axes.text(line["median"] * 0.015, at, f"{line['median']:,.0f}", va="center",
                      color="white" if alpha > 0.7 else "black", fontsize=7.5)
    for variant, dash, text in (("copy/streaming", "-", "16 B"), ("copy/plain", ":", "24 B")):
        if variant in copies:
            limit = copies[variant]["counters"]["limit_mlups"]
            axes.axvline(limit, color="black", linestyle=dash, linewidth=1)
            axes.text(limit, -0.65, f"limit at\n{text} per update", fontsize=8, va="bottom",
                      ha="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel("million lattice site updates per second (median; ticks: samples)")
    axes.grid(axis="x", alpha=0.25)
    handles = [plt.Rectangle((0, 0), 1, 1, color="#444444", alpha=a) for _, a, _ in inits]
    axes.legend(handles, [t for _, _, t in inits], ncols=3, loc="lower left",
                bbox_to_anchor=(0, 1.04), fontsize=8.5)
    return figure, axes


def draw_block_study(lines):
    """Rate over block size on the left, cost of scheduling a block on the right."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    variants = list(dict.fromkeys(l["variant"] for l in lines))
    seen = {}
    for n, variant in enumerate(variants):
        mine = sorted((l for l in lines if l["variant"] == variant),
                      key=lambda l: l["params"]["sites_per_block"])
        sizes = [l["params"]["sites_per_block"] for l in mine]
        family = variant.split("/")[0]
        seen[family] = seen.get(family, -1) + 1
        look = {"color": colour(variant), "marker": MARKERS[n % len(MARKERS)], "markersize": 5,
                "label": variant, "linestyle": ["-", "--", ":"][seen[family] % 3]}
        left.plot(sizes, [l["median"] for l in mine], **look)
        left.fill_between(sizes, [l["min"] for l in mine], [l["max"] for l in mine],
                          color=look["color"], alpha=0.12, linewidth=0)
        if n > 0:
            costs = [l["counters"]["overhead_ns_per_block"] for l in mine]
            small = [(s, c) for s, c in zip(sizes, costs) if c > 0 and s <= 3000]
            right.plot([s for s, _ in small], [c for _, c in small], **look)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("lattice sites in a block (a task)")
        axes.grid(alpha=0.25)
    left.set_ylim(bottom=0)
    left.set_ylabel("MLUP/s (median; shade: min to max)")
    left.legend(fontsize=8.5)
    right.set_yscale("log")
    right.set_ylabel(f"thread time a block beyond {variants[0]}, ns")
    right.set_title("small blocks only", fontsize=9, loc="left")
    return figure, left


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l]
    figures.style()
    study = [l for l in lines if l["bench"] == "jacobi3d/block-study"]
    figure, axes = draw_block_study(study) if study else draw_comparison(lines)
    params = next(l["params"] for l in lines if "grid" in l["params"])
    figure.suptitle(f"Jacobi {params['grid']}, {params['threads']} threads, "
                    f"{params['isa']} kernel, {params['stores']} stores", x=0.01, ha="left",
                    fontsize=11)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
