#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim scale`: sim_scale.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures

COLOURS = ["#777777", "#ddaa33", "#cc3311", "#6699cc", "#004488", "#ee99aa"]


def main():
    lines, target = figures.arguments()
    figures.style()
    figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
    for way, colour in zip(dict.fromkeys(line["variant"] for line in lines), COLOURS):
        own = sorted((line["params"]["cores"], line["counters"]["efficiency"]) for line in lines
                     if line["variant"] == way)
        axes.plot([cores for cores, _ in own], [100 * part for _, part in own], marker="o", markersize=4,
                  color=colour, label=way)
    axes.set_xscale("log")
    axes.set_ylim(0, 102)
    axes.set_xlabel("cores")
    axes.set_ylabel("% of cores' time in tasks")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8.5)
    run, params = lines[0]["run"], lines[0]["params"]
    figures.foot(figure, f"{run['machine']}; {params['problem']}, nodes of {params['node_ns'] / 1000:g} us; "
                 f"nigh {run['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
