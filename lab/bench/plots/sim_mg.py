#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim mg`: sim_mg.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

import figures

NAMES = {"openmp": "OpenMP", "cilk": "Cilk", "fastflow": "FastFlow"}
COLOURS = {("compact", "first touch"): "#cc3311", ("compact", "interleave"): "#ee9966",
           ("scatter", "first touch"): "#3377bb", ("scatter", "interleave"): "#228833",
           ("compact", "interleave all"): "#bbbbbb", ("scatter", "interleave all"): "#777777"}


def key(line):
    return line["params"]["order"], line["params"]["pages"]


def curves(axes, lines, framework):
    for variant, style in ((framework + "/static", "-"), (framework + "/dynamic", "--"), (framework, "-")):
        of_variant = [line for line in lines if line["variant"] == variant]
        for way in dict.fromkeys(key(line) for line in of_variant):
            points = sorted((line["params"]["threads"], line["counters"]["speedup"])
                            for line in of_variant if key(line) == way)
            dynamic = ", dynamic" if variant.endswith("/dynamic") else ""
            axes.plot([x for x, _ in points], [y for _, y in points], style, color=COLOURS[way], lw=1.4,
                      label=f"{way[0]}, {way[1]}{dynamic}")
    axes.set_title(NAMES[framework], fontsize=10)
    axes.set_xlabel("threads")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.25)


def loads(axes, lines, most):
    chosen = [line for line in lines if line["params"]["threads"] == most and line["variant"].startswith("openmp")]
    domains = sorted(int(name.removeprefix("load_")) for name in chosen[0]["counters"] if name.startswith("load_"))
    for row, line in enumerate(chosen):
        left = 0
        for domain in domains:
            part = 100 * line["counters"][f"load_{domain}"]
            shade = 0.30 + 0.5 * domain / max(1, len(domains) - 1)
            axes.barh(row, part, left=left, height=0.7, color=str(shade), edgecolor="white", lw=0.6)
            left += part
    axes.set_yticks(range(len(chosen)), [f"{line['variant'].partition('/')[2]}, {', '.join(key(line))}"
                                         for line in chosen], fontsize=7)
    axes.invert_yaxis()
    axes.set_title(f"OpenMP, {most} threads", fontsize=10)
    axes.set_xlabel("% of the traffic, by domain (0 first)")


def main():
    every, target = figures.arguments()
    every = [line for line in every if line["bench"] == "sim/mg"]
    machines = list(dict.fromkeys(line["params"]["machine"] for line in every))
    figures.style(**{"font.size": 9})
    figure, rows = plt.subplots(len(machines), 4, figsize=(14, 3.4 * len(machines) + 0.7), layout="constrained",
                                squeeze=False)
    for row, machine in zip(rows, machines):
        lines = [line for line in every if line["params"]["machine"] == machine]
        most = max(line["params"]["threads"] for line in lines)
        for axes, framework in zip(row, NAMES):
            curves(axes, lines, framework)
            axes.sharey(row[0])
        row[0].set_ylabel(f"{machine}\nspeedup", fontsize=9)
        loads(row[3], lines, most)
    handles, labels = rows[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8, loc="upper center", ncol=4,
                  bbox_to_anchor=(0.5, 0))
    run = every[0]["run"]
    figure.suptitle(f"NPB MG, class {every[0]['params']['class']}, simulated; nigh {run['version']}", fontsize=7,
                    color="#666666", x=0.01, ha="left")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
