#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim run`: sim_run.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures


def main():
    lines, target = figures.arguments()
    figures.style()
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
    figures.foot(figure, f"{first['params']['program']}, recorded: {first['counters']['recorded_s']:.3g} s with "
                 f"{first['counters']['recorded_workers']:.0f} workers; here {first['params']['workers']} on "
                 f"{first['run']['machine']}; nigh {first['run']['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
