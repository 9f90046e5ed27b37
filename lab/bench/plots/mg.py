#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench mg`: mg.py RESULTS.json FIGURE.svg|.png

A row of panels for each class, speed over threads; as far as the results go, the columns ask what the
paper's figures ask: every variant as it starts (1), what scatter with interleave changes (8), static
beside dynamic loops under these (10), and the best setting beside the first (11)."""
import sys

import matplotlib.pyplot as plt

import figures

COLOURS = {"serial": "#777777", "openmp": "#4477aa", "tbb": "#ccbb44", "cilk": "#228833",
           "fastflow": "#aa3377", "nigh": "#cc3311"}
WAYS = {"static": "-", "dynamic": "--", "auto": "--", "for": "--", "adaptive": "--", "local": ":",
        "fused": "-"}
START, CHANGED = ("compact", "first-touch"), ("scatter", "interleave")


def family(variant):
    return variant.split("/")[0].split("-")[0]


def way(variant):
    return variant.split("/")[1] if "/" in variant else ""


def setting(line):
    return line["params"]["bind"], line["params"]["mem"]


def curve(axes, lines, label, **look):
    lines = sorted(lines, key=lambda l: l["params"]["threads"])
    if not lines:
        return
    threads = [l["params"]["threads"] for l in lines]
    name = lines[0]["variant"]
    look = {"color": COLOURS[family(name)], "linestyle": WAYS.get(way(name), "-"),
            "marker": "D" if way(name) == "fused" else "o", "markersize": 4, **look}
    axes.plot(threads, [l["median"] for l in lines], label=label, **look)
    axes.fill_between(threads, [l["min"] for l in lines], [l["max"] for l in lines],
                      color=look["color"], alpha=0.1, linewidth=0)


def of(lines, variant, where):
    return [l for l in lines if l["variant"] == variant and setting(l) == where]


def variants(lines):
    return list(dict.fromkeys(l["variant"] for l in lines if l["variant"] != "serial"))


def draw_start(axes, lines):
    where = START if any(setting(l) == START for l in lines) else setting(lines[0])
    for name in ["serial"] + variants(lines):
        curve(axes, of(lines, name, where), name)


def draw_changed(axes, lines):
    for name in variants(lines):
        curve(axes, of(lines, name, START), None, alpha=0.35)
        curve(axes, of(lines, name, CHANGED), name)


def draw_schedules(axes, lines):
    for name in variants(lines):
        if way(name) in ("static", "dynamic", "auto", "local", "adaptive"):
            curve(axes, of(lines, name, CHANGED), name)


def draw_best(axes, lines):
    for kind in dict.fromkeys(family(v) for v in variants(lines)):
        mine = [l for l in lines if family(l["variant"]) == kind]
        curve(axes, of(lines, mine[0]["variant"], START), None, alpha=0.35, linestyle="-")
        best = {}
        for l in mine:
            threads = l["params"]["threads"]
            if threads not in best or l["median"] > best[threads]["median"]:
                best[threads] = l
        curve(axes, list(best.values()), kind, linestyle="-")


def columns(lines):
    settings = {setting(l) for l in lines}
    panels = [("as it starts" if START in settings else " and ".join(setting(lines[0])), draw_start)]
    if {START, CHANGED} <= settings:
        panels += [("scatter and interleave (pale: as it starts)", draw_changed),
                   ("loop schedules, scatter and interleave", draw_schedules),
                   ("best setting (pale: as it starts)", draw_best)]
    return panels


def draw(lines):
    classes = list(dict.fromkeys(l["params"]["class"] for l in lines))
    panels = columns(lines)
    figure, grid = plt.subplots(len(classes), len(panels), squeeze=False, layout="constrained",
                                figsize=(5.2 * len(panels) + 1.2, 3.1 * len(classes) + 0.6))
    for row, size in enumerate(classes):
        here = [l for l in lines if l["params"]["class"] == size]
        params = here[0]["params"]
        for column, (title, panel) in enumerate(panels):
            axes = grid[row][column]
            panel(axes, here)
            axes.set_title(f"class {size} ({params['n']}³, {params['iterations']} iterations): {title}",
                           fontsize=9, loc="left")
            axes.set_ylim(bottom=0)
            axes.set_xticks(sorted({l["params"]["threads"] for l in here}))
            axes.set_xlabel("threads")
            axes.grid(alpha=0.25)
            if column == 0:
                axes.set_ylabel("Mop/s (median; shade: min to max)")
            if row == 0:
                axes.legend(fontsize=7.5, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l and l["bench"] == "mg"]
    if not lines:
        sys.exit("mg.py: nothing was measured, so there is nothing to draw")
    figures.style()
    figure = draw(lines)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
