#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim hotslaw`: sim_hotslaw.py RESULTS.json FIGURE.svg|.png"""
import sys

import matplotlib.pyplot as plt

import figures

COLOURS = {"random+half": "#777777", "hvs+half": "#ddaa33", "hvs+1": "#cce0f5", "hvs+2": "#99bbdd",
           "hvs+4": "#6699cc", "hvs+8": "#336699", "hvs+16": "#003366",
           "hvs+hcs1": "#f5c0c8", "hvs+hcs2": "#ee8888", "hvs+hcs4": "#cc3311", "hvs+hcs8": "#992211", "hvs+hcs16": "#661100"}


def main():
    lines, target = figures.arguments()
    lines = [line for line in lines if line["bench"] == "sim/hotslaw"]
    network = min((line["params"]["interface_ns"] for line in lines), default=0)  # not the slower one
    lines = [line for line in lines if line["params"]["interface_ns"] == network]
    if not lines:
        sys.exit("sim_hotslaw.py: there is nothing to draw")
    figures.style()
    problems = list(dict.fromkeys(line["params"]["problem"] for line in lines))
    ways = list(dict.fromkeys(line["variant"] for line in lines))
    times = {(line["params"]["problem"], line["variant"]): line["median"] for line in lines}
    figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
    width = 0.84 / len(ways)
    for n, way in enumerate(ways):
        places = [p + (n - (len(ways) - 1) / 2) * width for p in range(len(problems))]
        axes.bar(places, [times[problem, ways[0]] / times[problem, way] for problem in problems], 0.92 * width,
                 color=COLOURS.get(way), label=way)
    axes.axhline(1, color="#777777", linewidth=0.8)
    axes.axhline(1.27, color="#777777", linewidth=0.8, linestyle="--")
    axes.text(len(problems) - 0.5, 1.28, "published:\nHVS + HCS", fontsize=7.5, color="#555555", va="bottom")
    axes.set_xticks(range(len(problems)), problems)
    axes.set_ylabel(f"speed, {ways[0]} = 1")
    axes.grid(alpha=0.25, axis="y")
    axes.legend(frameon=False, fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.2))
    run = lines[0]["run"]
    figures.foot(figure, f"{run['machine']}; {lines[0]['params']['cores']} cores; nigh {run['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
