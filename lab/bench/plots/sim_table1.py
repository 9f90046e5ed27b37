#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim table1`: sim_table1.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures


COLOURS = {("static", "own"): "#3377bb", ("dynamic", "own"): "#ee9933", ("static", "domain 0"): "#999999"}


def cells(axes, lines):
    places = range(len(lines))
    if "published" in lines[0]["counters"]:
        axes.bar([p - 0.2 for p in places], [line["counters"]["published"] for line in lines], 0.38, color="#777777",
                 label="published")
        for p, line in zip(places, lines):
            axes.text(p + 0.22, line["median"] + 4, f"{100 * line['counters']['error']:+.1f}%", ha="center",
                      va="bottom", fontsize=7)
    axes.bar([p + 0.2 for p in places], [line["median"] for line in lines], 0.38, color="#cc3311", label="simulated")
    axes.set_xticks(list(places), [f"{line['variant']}\n{line['params']['order']}\n{line['params']['init']}"
                                   for line in lines], fontsize=8.5)
    axes.set_title("tasks (Table 1)", fontsize=10)
    axes.set_ylabel("MLUP/s")
    axes.grid(alpha=0.25, axis="y")
    axes.legend(frameon=False, fontsize=8.5, loc="upper left")


def loops(axes, lines):
    """Fig. 1: rates by sockets; efficiency (Fig. 2) is written on the bars."""
    ways = list(dict.fromkeys((line["variant"], line["params"]["pages"]) for line in lines))
    width = 0.8 / len(ways)
    for place, way in enumerate(ways):
        mine = [line for line in lines if (line["variant"], line["params"]["pages"]) == way]
        left = [line["params"]["sockets"] + (place - (len(ways) - 1) / 2) * width for line in mine]
        axes.bar(left, [line["median"] for line in mine], width * 0.92, color=COLOURS[way], label=", ".join(way))
        for x, line in zip(left, mine):
            axes.text(x, 8, f"{100 * line['counters']['efficiency']:.0f}", ha="center", va="bottom", fontsize=7,
                      color="white")
            if "published" in line["counters"]:
                axes.plot(x, line["counters"]["published"], marker="_", color="black", ms=11, mew=1.6)
    axes.plot([], [], marker="_", color="black", ls="", ms=11, mew=1.6, label="published")
    axes.set_title(f"loops, {lines[0]['params']['machine']}; efficiency in %", fontsize=10)
    axes.set_xticks(sorted({line["params"]["sockets"] for line in lines}))
    axes.set_xlabel("sockets")
    axes.grid(alpha=0.25, axis="y")
    handles, labels = axes.get_legend_handles_labels()
    if not any("published" in line["counters"] for line in lines):
        handles, labels = handles[1:], labels[1:]
    axes.legend(handles, labels, frameon=False, fontsize=8, loc="upper left")


def main():
    lines, target = figures.arguments()
    figures.style()
    of_loops = [line for line in lines if line["bench"] == "sim/table1/loops"]
    machines = list(dict.fromkeys(line["params"]["machine"] for line in of_loops))
    figure, row = plt.subplots(1, 1 + len(machines), figsize=(6.5 + 4 * len(machines), 3.8), layout="constrained",
                               width_ratios=[1.6] + [1] * len(machines), squeeze=False)
    cells(row[0][0], [line for line in lines if line["bench"] == "sim/table1"])
    for axes, machine in zip(row[0][1:], machines):
        loops(axes, [line for line in of_loops if line["params"]["machine"] == machine])
    run = lines[0]["run"]
    figures.foot(figure, f"{run['machine']}; nigh {run['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
