#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench algorithms`: algorithms.py RESULTS.json FIGURE.svg|.png

A panel an algorithm, of the first type and the first order in the file: time per element against the number of elements.
"""
import matplotlib.pyplot as plt

import figures

COLOURS = {"serial": "#777777", "nigh": "#cc3311", "std/nigh": "#ee7733", "tbb": "#ccbb44", "std/tbb": "#aa8800",
           "gnu_parallel": "#4477aa"}
COLUMNS = 4


def draw(axes, lines, name):
    for variant in dict.fromkeys(l["variant"] for l in lines):
        mine = sorted((l for l in lines if l["variant"] == variant), key=lambda l: l["params"]["elements"])
        axes.plot([l["params"]["elements"] for l in mine], [l["median"] for l in mine], marker="o", markersize=3,
                  linewidth=1, linestyle="--" if variant.startswith("std/") else "-",
                  color=COLOURS.get(variant, "black"), label=variant)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(name, fontsize=8, loc="left")
    axes.tick_params(which="both", labelsize=7)


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l]
    figures.style()
    kind = lines[0]["params"]["type"]
    order = next((l["params"]["order"] for l in lines if "order" in l["params"]), None)
    lines = [l for l in lines if l["params"]["type"] == kind and l["params"].get("order", order) == order]
    names = list(dict.fromkeys(l["bench"] for l in lines))
    rows = -(-len(names) // COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(11, 2.3 * rows + 1), layout="constrained", squeeze=False)
    for at, axis in enumerate(axes.flat):
        if at < len(names):
            draw(axis, [l for l in lines if l["bench"] == names[at]], names[at].split("/")[1])
        else:
            axis.set_visible(False)
    figure.suptitle(f"ns per element, by the number of elements ({kind})", fontsize=9)  # below is the foot
    axes.flat[0].legend(fontsize=6)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
