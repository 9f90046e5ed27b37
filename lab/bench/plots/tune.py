#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `nigh tune` measured: tune.py RESULTS.json FIGURE.svg|.png

Time (or the metric) by threads, a line for each binding and memory policy with its best schedule; of MPI
programs by ranks on a host, a line for each order. Bars are 95% intervals."""
import matplotlib.pyplot as plt

import figures

COLOURS = ["#4477aa", "#cc3311", "#228833", "#ccbb44", "#aa3377", "#66ccee", "#ee7733", "#777777"]


def is_as_it_is(line):
    return line["variant"].startswith("(")


def curve_of(params):
    if "ranks" in params:
        return params["bind_ranks"] + (", shared cores" if params["smt"] else "")
    return f"{params.get('bind', 'unbound')}, {params.get('mem', 'first touch')}"


def curves(lines, across):
    """{curve: {threads or ranks: the best line}}: the lines come best first."""
    found = {}
    for line in lines:
        params = line["params"]
        if is_as_it_is(line) or across not in params or line.get("cut_short"):
            continue
        found.setdefault(curve_of(params), {}).setdefault(params[across], line)
    return found


def draw(axes, lines):
    across = "ranks" if any("ranks" in line["params"] for line in lines) else "threads"
    found = curves(lines, across)
    counts = sorted({n for points in found.values() for n in points})
    for (name, points), colour in zip(sorted(found.items()), COLOURS * (1 + len(found) // len(COLOURS))):
        at = sorted(points)
        values = [points[n]["undisturbed"] for n in at]
        low = [max(0, v - points[n]["interval"][0]) for n, v in zip(at, values)]
        high = [max(0, points[n]["interval"][1] - v) for n, v in zip(at, values)]
        axes.errorbar(at, values, yerr=[low, high], color=colour, marker="o", markersize=4, linewidth=1.6,
                      elinewidth=0.8, capsize=2, label=name)
    plain = [line for line in lines if is_as_it_is(line) and not line.get("cut_short")]
    if plain:
        axes.axhline(plain[0]["undisturbed"], color="#333333", linewidth=1, linestyle=":",
                     label=plain[0]["variant"].strip("()"))
    if counts:
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.minorticks_off()
    axes.set_xlabel("ranks on a host" if across == "ranks" else "threads")
    is_time = lines[0]["metric"] == "time"
    axes.set_ylabel("time in s" if is_time else f"value of {lines[0]['metric']}")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))


def main():
    lines, target = figures.arguments()
    figures.style()
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    draw(axes, lines)
    run = lines[0]["run"]
    axes.set_title(run["program"], fontsize=10, loc="left")
    figures.foot(figure, f"{run['machine']}; {run['topology']}; 95% intervals")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
