#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim scale`: sim_scale.py RESULTS.json FIGURE.svg|.png"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

COLOURS = ["#777777", "#ddaa33", "#cc3311", "#6699cc", "#004488", "#ee99aa"]


def main():
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
                         "axes.axisbelow": True, "figure.dpi": 120, "svg.fonttype": "none", "svg.hashsalt": "nigh"})
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
    figure.supxlabel(f"{run['machine']}; {params['problem']}, nodes of {params['node_ns'] / 1000:g} us; "
                     f"nigh {run['version']}", fontsize=6.5, color="#666666", x=0.01, ha="left")
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None} if target.endswith(".svg") else None)


if __name__ == "__main__":
    main()
