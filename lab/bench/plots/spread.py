#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench spread`: spread.py RESULTS.json FIGURE.svg|.png

For the grid, with sends and without: a heat map of time, block size by spread, each column beside its best one,
and what nigh/auto chose; next to it every other way to run over block size. For blocks around the caches' sizes:
what a spread gains over spread 1."""
import sys

import matplotlib.pyplot as plt

import figures

COLOURS = {"openmp": "#4477aa", "nigh": "#cc3311", "serial": "#777777"}
WAYS = {"blocks": "-", "rows": "--", "nested": ":", "tasks": "-", "spread": "--", "auto": "-"}


def family(line):
    return line["variant"].split("/")[0].split("-")[0]


def way(line):
    return line["variant"].split("/")[1] if "/" in line["variant"] else ""


def name(line):
    params = line["params"]
    text = line["variant"]
    if "spread" in params:
        text += f" {params['spread']}"
    if "active" in params:
        text += f" of {params['active']}"
    if params.get("rows", "default") != "default":
        text += f", {params['rows']}"
    return text


def size(line):
    return line["params"]["points"]


def bytes_text(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            break
        count /= 1024
    else:
        unit = "GiB"
    return f"{count:.3g} {unit}"


def label(line):
    params = line["params"]
    return f"{params['points']}²\n{bytes_text(params['block_bytes'])}"


def configuration(line):
    return line["params"]["spread"], line["params"]["active"]


def draw_heat(axes, lines):
    fixed = [l for l in lines if way(l) == "spread"]
    sizes = sorted({size(l) for l in fixed})
    ways = sorted({configuration(l) for l in fixed}, key=lambda c: (c[1], c[0]))
    fastest = {s: max(l["median"] for l in fixed if size(l) == s) for s in sizes}
    share = [[float("nan")] * len(sizes) for _ in ways]
    for l in fixed:
        row, column = ways.index(configuration(l)), sizes.index(size(l))
        share[row][column] = fastest[size(l)] / l["median"]
        axes.text(column, row, f"{l['counters']['seconds'] * 1e3 / l['params']['iterations']:.3g}", ha="center",
                  va="center", fontsize=7.5, color="white" if share[row][column] > 1.7 else "black")
    image = axes.imshow(share, cmap="YlOrRd", vmin=1, vmax=2, aspect="auto")
    for l in lines:
        if way(l) == "auto" and size(l) in sizes:
            chosen = l["counters"]["chosen_spread"], l["counters"]["chosen_active"]
            if chosen in ways:
                axes.plot(sizes.index(size(l)), ways.index(chosen) + 0.33, marker="^", color="black", markersize=6)
    axes.set_xticks(range(len(sizes)), [label(next(l for l in fixed if size(l) == s)) for s in sizes], fontsize=7.5)
    axes.set_yticks(range(len(ways)), [f"{spread} of {active}" for spread, active in ways])
    axes.set_ylabel("spread of workers at work")
    axes.set_xlabel("points and bytes of a block")
    axes.figure.colorbar(image, ax=axes, pad=0.01, label="time / best of the column", extend="max")


def shade(lines, who):
    """Fainter from spread to spread of one variant."""
    mine = next(l for l in lines if name(l) == who)
    alike = list(dict.fromkeys(name(l) for l in lines if l["variant"] == mine["variant"]))
    return max(0.25, 1 - 0.25 * alike.index(who))


def draw_rates(axes, lines):
    sizes = sorted({size(l) for l in lines})
    for who in dict.fromkeys(name(l) for l in lines):
        mine = sorted((l for l in lines if name(l) == who), key=size)
        at = [sizes.index(size(l)) for l in mine]
        look = {"color": COLOURS.get(family(mine[0]), "black"), "linestyle": WAYS.get(way(mine[0]), "-"),
                "alpha": shade(lines, who),
                "linewidth": 2.4 if way(mine[0]) == "auto" else 1.1,
                "marker": {"auto": "^", "rows": "s", "nested": "x"}.get(way(mine[0]), "o"), "markersize": 4}
        axes.plot(at, [l["median"] for l in mine], label=who, **look)
    axes.set_xticks(range(len(sizes)), [label(next(l for l in lines if size(l) == s)) for s in sizes], fontsize=7.5)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("MLUP/s (median)")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_cache(axes, lines):
    threads = lines[0]["params"]["threads"]
    one = {size(l): l["median"] for l in lines if way(l) == "spread" and configuration(l) == (1, threads)}
    for who in dict.fromkeys(name(l) for l in lines):
        mine = sorted((l for l in lines if name(l) == who and size(l) in one), key=size)
        if not mine:
            continue
        look = {"color": COLOURS.get(family(mine[0]), "black"), "linestyle": WAYS.get(way(mine[0]), "-"),
                "marker": "^" if way(mine[0]) == "auto" else "o", "markersize": 4, "alpha": shade(lines, who)}
        axes.plot([l["params"]["block_bytes"] / 2**20 for l in mine], [l["median"] / one[size(l)] for l in mine],
                  label=who, **look)
    axes.axhline(1, color="#777777", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("MiB of a block, both fields")
    axes.set_ylabel(f"speed over spread 1 of {threads}")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_programs(axes, lines):
    programs = list(dict.fromkeys(l["params"]["program"] for l in lines))
    ways = list(dict.fromkeys(name(l) for l in lines))
    width = 0.8 / len(ways)
    for n, who in enumerate(ways):
        mine = [l for l in lines if name(l) == who]
        places = [programs.index(l["params"]["program"]) + (n + 0.5) * width - 0.4 for l in mine]
        axes.bar(places, [l["counters"]["time_over_spread_1"] for l in mine], 0.9 * width, label=who,
                 color=COLOURS["nigh"] if way(mine[0]) == "auto" else "#777777",
                 alpha=1 if way(mine[0]) == "auto" else max(0.2, 0.8 - 0.25 * n))
    axes.axhline(1, color="#777777", linewidth=0.8)
    sizes = {l["params"]["program"]: l["params"]["size"] for l in lines}
    axes.set_xticks(range(len(programs)), [f"{p}\n{sizes[p]}" for p in programs], fontsize=7.5)
    axes.set_ylabel(f"time over spread 1 of {lines[0]['params']['threads']}")
    axes.grid(alpha=0.25, axis="y")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def panels_of(lines):
    panels = []
    for sends in ("early", "none"):
        here = [l for l in lines if l["bench"] == "spread/grid" and l["params"]["sends"] == sends]
        what = "borders sent early" if sends == "early" else "no sends"
        if any(way(l) == "spread" for l in here):
            panels.append((f"ms an iteration, {what} (▲: auto)", draw_heat, here))
        if here:
            panels.append((f"every way to run, {what}", draw_rates, here))
    cache = [l for l in lines if l["bench"] == "spread/cache"]
    if cache:
        steps = cache[0]["params"]["steps"]
        panels.append((f"blocks around the caches' sizes, {steps} time steps a visit", draw_cache, cache))
    programs = [l for l in lines if l["bench"] == "spread/programs"]
    if programs:
        panels.append(("other programs with task loops", draw_programs, programs))
    return panels


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l and l["bench"].startswith("spread/")]
    if not lines:
        sys.exit("spread.py: nothing was measured, so there is nothing to draw")
    figures.style()
    panels = panels_of(lines)
    rows = (len(panels) + 1) // 2
    figure, grid = plt.subplots(rows, 2, squeeze=False, layout="constrained", figsize=(13, 3.6 * rows + 0.4))
    for at, axes in enumerate(grid.flat):
        if at >= len(panels):
            axes.set_visible(False)
            continue
        title, draw, here = panels[at]
        draw(axes, here)
        axes.set_title(title, fontsize=9, loc="left")
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
