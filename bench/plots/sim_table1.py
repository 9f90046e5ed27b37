#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim table1`: sim_table1.py RESULTS.json FIGURE.svg|.png"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)


def main():
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
                         "axes.axisbelow": True, "figure.dpi": 120, "svg.fonttype": "none", "svg.hashsalt": "nigh"})
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    places = range(len(lines))
    axes.bar([p - 0.2 for p in places], [line["counters"]["published"] for line in lines], 0.38, color="#777777",
             label="published")
    axes.bar([p + 0.2 for p in places], [line["median"] for line in lines], 0.38, color="#cc3311", label="simulated")
    for p, line in zip(places, lines):
        axes.text(p + 0.2, line["median"], f"{100 * line['counters']['error']:+.1f}%", ha="center", va="bottom",
                  fontsize=7.5)
    axes.set_xticks(list(places), [f"{line['variant']}\n{line['params']['order']}\n{line['params']['init']}"
                                   for line in lines], fontsize=8.5)
    axes.set_ylabel("MLUP/s")
    axes.grid(alpha=0.25, axis="y")
    axes.legend(frameon=False, fontsize=8.5, loc="upper left")
    run = lines[0]["run"]
    figure.supxlabel(f"{run['machine']}; nigh {run['version']}", fontsize=6.5, color="#666666", x=0.01, ha="left")
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None} if target.endswith(".svg") else None)


if __name__ == "__main__":
    main()
