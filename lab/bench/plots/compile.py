#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench compile`: compile.py RESULTS.json FIGURE.svg|.png

A panel a program, a row a compiler: the time to compile it with each library, and the size of what comes out.
"""
import matplotlib.pyplot as plt

import figures


def draw(axes, lines, title):
    lines = [l for l in lines if "absent" not in l]
    names = [l["variant"] for l in lines]
    medians = [l["median"] for l in lines]
    spread = [[l["median"] - l["min"] for l in lines], [l["max"] - l["median"] for l in lines]]
    axes.barh(names, medians, xerr=spread, error_kw={"linewidth": 0.8},
              color=["#cc3311" if "nigh" in name else "#4477aa" for name in names])
    for at, line in enumerate(lines):
        axes.text(line["max"], at, f" {line['counters']['stripped_bytes'] / 1000:.0f} kB", va="center", fontsize=6)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.tick_params(labelsize=7)
    axes.set_title(title, fontsize=8, loc="left")


def main():
    lines, target = figures.arguments()
    figures.style()
    programs = list(dict.fromkeys(l["bench"] for l in lines))
    compilers = list(dict.fromkeys(l["params"]["compiler"] for l in lines))
    figure, axes = plt.subplots(len(compilers), len(programs), figsize=(3 * len(programs), 2.4 * len(compilers) + 0.8),
                                layout="constrained", squeeze=False)
    for row, compiler in enumerate(compilers):
        for column, program in enumerate(programs):
            draw(axes[row][column],
                 [l for l in lines if l["bench"] == program and l["params"]["compiler"] == compiler],
                 f"{program.split('/')[1]}, {compiler}")
    figure.suptitle("cpu seconds to compile and link; beside: size of the stripped program", fontsize=9)  # below is the foot
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
