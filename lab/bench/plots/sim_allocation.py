#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim allocation`: sim_allocation.py RESULTS.json FIGURE.svg|.png

Policies, by how far apart they leave a team's threads; ways to run sets of programs, by total time. What the
paper's text says is drawn as a line."""
import sys

import matplotlib.pyplot as plt

import figures

PUBLISHED_LOCAL = 0.30  # of a locality-blind baseline, with adjusting clustering
PUBLISHED_TOTAL = 0.67  # of standard scheduling, at best
COLOURS = {"random": "#777777", "sequential": "#777777", "standard": "#4477aa", "fixed": "#ccbb44"}


def label(variant):
    return variant.removeprefix("coordinator/")


def draw(axes, lines, key, published, title):
    first = lines[0]["samples"]
    for row, line in enumerate(lines):
        ratios = [mine / base for mine, base in zip(line["samples"], first)]
        median = line["counters"][key]
        spread = [[max(0, median - min(ratios))], [max(0, max(ratios) - median)]]
        axes.barh(row, median, xerr=spread, height=0.65, color=COLOURS.get(line["variant"], "#cc3311"),
                  error_kw={"ecolor": "#333333", "capsize": 3})
    axes.set_yticks(range(len(lines)),
                    [f"{label(line['variant'])}\n{line['counters'][key]:.2f}" for line in lines], fontsize=8.5)
    axes.axvline(published, color="#222222", linestyle="--", linewidth=1)
    axes.text(published, -0.75, f"published {published:.2f}", fontsize=7.5, ha="center", va="bottom")
    axes.invert_yaxis()
    axes.set_ylim(top=-1.15)
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(alpha=0.25)


def main():
    lines, target = figures.arguments()
    of = {name: [line for line in lines if line["bench"] == f"sim/allocation/{name}"]
          for name in ("requests", "small", "large")}
    panels = []
    if of["requests"]:
        panels.append((of["requests"], "of_random", PUBLISHED_LOCAL,
                       f"{of['requests'][0]['params']['requests']} requests: local distance, of random cpus'"))
    for name in ("small", "large"):
        if of[name]:
            params = of[name][0]["params"]
            panels.append((of[name], "of_sequential", PUBLISHED_TOTAL,
                           f"{params['programs']} programs, {params['at_once']} at once: "
                           "total time, of sequential"))
    if not panels:
        sys.exit("sim_allocation.py: there is nothing to draw")
    figures.style()
    figure, grid = plt.subplots(1, len(panels), squeeze=False, layout="constrained",
                                figsize=(5.2 * len(panels), 3.9))
    for axes, panel in zip(grid[0], panels):
        draw(axes, *panel)
    run = lines[0]["run"]
    figures.foot(figure, f"simulated: {run['machine']}; medians, lowest to highest of "
                 f"{len(lines[0]['samples'])} seeds; nigh {run['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
