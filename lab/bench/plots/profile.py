#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `nigh profile` measured: profile.py RESULTS.json FIGURE.svg|.png

Speedup of each region by threads, with its optimal and maximum thread counts marked; and these counts of
all regions beside each other, as the paper on topology-aware OpenMP process scheduling has them."""
import os
import sys

import matplotlib.pyplot as plt

import figures

COLOURS = ["#cc3311", "#4477aa", "#228833", "#ccbb44", "#aa3377", "#66ccee", "#ee7733", "#777777"]
MOST_BARS = 40
WORTH_A_CURVE = 0.01  # of the time


class Region:
    def __init__(self, name, lines):
        self.name = name
        self.lines = sorted(lines, key=lambda line: line["params"]["threads"])
        counters = self.lines[0]["counters"]
        self.share = counters["share"]
        self.maximum, self.optimal = counters.get("maximum"), counters.get("optimal")

    def speedups(self):
        """[(threads, speedup, lowest, highest)] by the slowest and the fastest repetition."""
        return [(line["params"]["threads"], line["counters"]["speedup"],
                 line["counters"]["speedup"] * line["median"] / line["max"],
                 line["counters"]["speedup"] * line["median"] / line["min"]) for line in self.lines]


def regions_of(lines):
    groups = {}
    for line in lines:
        if "region" in line["params"]:
            groups.setdefault((line["params"]["program"], line["params"]["region"]), []).append(line)
    programs = {program for program, _ in groups}
    regions = []
    for (program, _), mine in groups.items():
        function = mine[0]["params"]["function"].split("::")[-1]
        name = mine[0]["variant"] + (f" {function}" if mine[0]["params"]["line"] and function else "")
        regions.append(Region(f"{os.path.basename(program)} {name}" if len(programs) > 1 else name, mine))
    names = [r.name for r in regions]
    for region in regions:  # instances of a template
        if names.count(region.name) > 1:
            region.name += " " + region.lines[0]["params"]["region"]
    # Those whose team the program chooses have nothing to compare.
    return sorted((r for r in regions if r.maximum), key=lambda r: -r.share)


def draw_speedups(axes, regions, height):
    sizes = sorted({n for r in regions for n, *_ in r.speedups()})
    axes.plot(sizes, sizes, color="#333333", linewidth=0.8, linestyle=":", zorder=1)
    axes.plot(sizes, [0.8 * n for n in sizes], color="#999999", linewidth=0.8, linestyle=":", zorder=1)
    axes.annotate("ideal", (sizes[-1], sizes[-1]), fontsize=7, color="#333333", xytext=(8, 0),
                  textcoords="offset points", va="center", annotation_clip=False)
    axes.annotate("within 20%", (sizes[-1], 0.8 * sizes[-1]), fontsize=7, color="#777777", xytext=(8, 0),
                  textcoords="offset points", va="center", annotation_clip=False)
    shown = [r for r in regions if r.share >= WORTH_A_CURVE] or regions[:1]
    for region, colour in zip(shown, COLOURS):
        points = region.speedups()
        by_threads = {n: speedup for n, speedup, *_ in points}
        axes.errorbar([p[0] for p in points], [p[1] for p in points],
                      yerr=[[p[1] - p[2] for p in points], [p[3] - p[1] for p in points]],
                      color=colour, linewidth=1.6, elinewidth=0.8, capsize=2, zorder=2,
                      label=f"{region.name}  {100 * region.share:.0f}%")
        axes.plot(region.maximum, by_threads[region.maximum], "s", markersize=8, markerfacecolor="none",
                  color=colour, zorder=3)
        axes.plot(region.optimal, by_threads[region.optimal], "o", markersize=5, color=colour, zorder=3)
    axes.plot([], [], "o", color="#333333", markersize=5, label="optimal threads")
    axes.plot([], [], "s", color="#333333", markerfacecolor="none", markersize=8, label="maximum threads")
    if len(sizes) > 8 or sizes[-1] > 16:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter("{x:g}")
    else:
        axes.set_ylim(0, 1.08 * max([sizes[-1], *(p[1] for r in shown for p in r.speedups())]))
    ticks = [n for n in sizes if len(sizes) <= 8 or n & (n - 1) == 0 or n == sizes[-1]]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.set_xlabel("threads of the team")
    axes.set_ylabel("speedup")
    axes.set_title("regions with most of the time", fontsize=10, loc="left")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, -0.55 / (height - 1.8)), ncol=2)


def draw_counts(axes, regions):
    shown = sorted(regions[:MOST_BARS], key=lambda r: (r.maximum, r.optimal, r.share))
    for row, region in enumerate(shown):
        axes.barh(row, region.maximum, color="#bbccdd", height=0.7)
        axes.barh(row, region.optimal, color="#4477aa", height=0.4)
    axes.set_yticks(range(len(shown)), [r.name for r in shown], fontsize=6.5 if len(shown) > 14 else 8)
    axes.set_xlabel("threads")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_title("maximum (light) and optimal (dark)", fontsize=10, loc="left")


def main():
    lines, target = figures.arguments()
    regions = regions_of(line for line in lines if line["bench"] == "profile")
    if not regions:
        sys.exit("profile.py: no region was measured with teams of several sizes, so there is nothing to draw")
    figures.style()
    height = max(4.2, 1.5 + 0.22 * min(MOST_BARS, len(regions)))
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(11, height), width_ratios=[5, 4])
    draw_speedups(left, regions, height)
    draw_counts(right, regions)
    for axes in (left, right):
        axes.grid(alpha=0.25)
    run = lines[0]["run"]
    runs = len(lines[0]["samples"])
    figures.foot(figure, f"{run['machine']}; {run['topology']}; nigh {run['commit']}; {run['date'][:10]}; {runs} runs "
                 "with each size: median, least to most")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
