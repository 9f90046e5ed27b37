#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim temporal`: sim_temporal.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures

WAYS = {"barriers": ("#b2182b", "s"), "queues/domain": ("#4393c3", "o"), "queues/l3": ("#053061", "D")}


def draw(axes, lines):
    widths = sorted({line["params"]["width"] for line in lines if line["variant"] != "sweeps"})
    for way, (color, marker) in WAYS.items():
        of_width = {line["params"]["width"]: line["median"] / 1e3 for line in lines if line["variant"] == way}
        axes.plot(range(len(widths)), [of_width[w] for w in widths], color=color, marker=marker, label=way)
    sweeps = next(line for line in lines if line["variant"] == "sweeps")
    axes.axhline(sweeps["median"] / 1e3, color="black", linestyle="--", label="sweeps")
    axes.axhline(sweeps["counters"]["limit_mlups"] / 1e3, color="grey", linestyle=":", label="limit of 16 B/update")
    chosen = {line["params"]["width"] for line in lines if line["params"]["chosen"]}
    axes.set_xticks(range(len(widths)), [f"{w}*" if w in chosen else str(w) for w in widths])
    axes.set_ylim(bottom=0)


def main():
    lines, target = figures.arguments()
    figures.style(**{"font.size": 8.5})
    rows = list(dict.fromkeys((line["params"]["machine"], line["params"]["obstacles"]) for line in lines))
    sides = list(dict.fromkeys(line["params"]["side"] for line in lines))
    figure, axes = plt.subplots(len(rows), len(sides), figsize=(3.1 * len(sides) + 0.8, 2.3 * len(rows) + 0.8),
                                layout="constrained", squeeze=False)
    for y, (machine, obstacles) in enumerate(rows):
        for x, side in enumerate(sides):
            draw(axes[y][x], [line for line in lines if line["params"]["machine"] == machine
                              and line["params"]["obstacles"] == obstacles and line["params"]["side"] == side])
            if y == 0:
                axes[y][x].set_title(f"planes of {side} x {side}")
            if y == len(rows) - 1:
                axes[y][x].set_xlabel("planes of a tile")
        axes[y][0].set_ylabel(f"{machine}\n{'obstacles' if obstacles == 'yes' else 'empty'}\nGLUP/s")
    axes[0][-1].legend(fontsize=7, loc="lower right", frameon=True, framealpha=1)
    figures.foot(figure, f"*: the width that nigh chooses; nigh {lines[0]['run']['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
