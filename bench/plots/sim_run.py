#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim run`: sim_run.py RESULTS.json FIGURE.svg|.png"""
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
    figure, axes = plt.subplots(figsize=(7, 0.5 * len(lines) + 1.5), layout="constrained")
    places = range(len(lines))
    best = min(line["median"] for line in lines)
    axes.barh(list(places), [line["median"] for line in lines], 0.6,
              color=["#cc3311" if line["median"] <= best else "#999999" for line in lines])
    for p, line in zip(places, lines):
        counters = line["counters"]
        axes.text(line["median"], p, f"  idle {100 * counters['idle_share']:.0f}%, remote "
                  f"{100 * counters['remote_share']:.0f}%", va="center", fontsize=8)
    axes.set_yticks(list(places), [line["variant"] for line in lines])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.35 * max(line["median"] for line in lines))
    axes.set_xlabel("simulated seconds")
    axes.grid(alpha=0.25, axis="x")
    first = lines[0]
    figure.supxlabel(f"{first['params']['program']}, recorded: {first['counters']['recorded_s']:.3g} s with "
                     f"{first['counters']['recorded_workers']:.0f} workers; here {first['params']['workers']} on "
                     f"{first['run']['machine']}; nigh {first['run']['version']}", fontsize=6.5, color="#666666",
                     x=0.01, ha="left")
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None} if target.endswith(".svg") else None)


if __name__ == "__main__":
    main()
