#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench loops`: loops.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures

COLOURS = {"openmp-gcc": "#4477aa", "openmp-clang": "#66ccee", "tbb": "#ccbb44", "nigh": "#cc3311",
           "fork_union": "#228833"}


def colour(variant):
    return COLOURS.get(variant.split("/")[0], "#777777")


def pause(us):
    return "hot" if us == 0 else f"{us:g} us" if us < 1000 else f"{us / 1000:g} ms"


def draw_rendezvous(axes, lines):
    """A curve a variant: latency against the pause before."""
    pauses = sorted({l["params"]["pause_us"] for l in lines})
    for variant in dict.fromkeys(l["variant"] for l in lines):
        mine = sorted((l for l in lines if l["variant"] == variant),
                      key=lambda l: l["params"]["pause_us"])
        dashed = "--" if variant == "nigh/outside" else "-"
        axes.plot([pauses.index(l["params"]["pause_us"]) for l in mine],
                  [l["median"] / 1e3 for l in mine], dashed, marker="o", markersize=4,
                  color=colour(variant), label=variant)
    axes.set_xticks(range(len(pauses)), [pause(p) for p in pauses])
    axes.set_yscale("log")
    axes.set_xlabel("pause before the loop")
    axes.set_ylabel("rendezvous, us")
    axes.legend(fontsize=7)


def draw_bars(axes, lines, title):
    """A bar a variant: median, with the range from least to most."""
    for at, l in enumerate(lines):
        axes.barh(at, l["median"], color=colour(l["variant"]), height=0.7)
        axes.plot([l["min"], l["max"]], [at, at], color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), [l["variant"] for l in lines], fontsize=8)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel(f"{lines[0]['unit']}")
    axes.set_title(title, fontsize=9, loc="left")


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l]
    figures.style()
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    draw_rendezvous(axes[0][0], [l for l in lines if l["bench"] == "loops/rendezvous"])
    draw_bars(axes[0][1], [l for l in lines if l["bench"] == "loops/triad"],
              "triad (longer is faster)")
    for at, longest in enumerate(("last", "first")):
        draw_bars(axes[1][at], [l for l in lines if l["bench"] == "loops/triangle"
                                and l["params"]["longest"] == longest],
                  f"triangle, the longest row {longest} (shorter is faster)")
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
