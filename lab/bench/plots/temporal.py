#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench temporal`: temporal.py RESULTS.json FIGURE.svg|.png

Speed over the width of tiles, on an empty grid and on one with obstacles: tiles by tasks and by barriers,
plain sweeps, the bandwidth limit (as a band, by copies) and what the cores alone make as lines across."""
import matplotlib.pyplot as plt

import figures

TILES = {"nigh/temporal": ("#cc3311", "o"), "openmp/temporal": ("#4477aa", "s")}
SWEEPS = {"openmp/static": "#4477aa", "nigh/queues": "#cc3311"}


def kind(line):
    return line["variant"].split(" ")[0].replace("openmp-gcc", "openmp").replace("openmp-clang", "openmp")


def draw(axes, lines, bounds):
    for name, (colour, marker) in TILES.items():
        mine = sorted((l for l in lines if kind(l) == name and l["variant"] != name),
                      key=lambda l: l["params"]["width"])
        if not mine:
            continue
        widths = [l["params"]["width"] for l in mine]
        label = "tiles as tasks (nigh)" if name.startswith("nigh") else "the same tiles, barriers (OpenMP)"
        axes.plot(widths, [l["median"] for l in mine], color=colour, marker=marker, label=label)
        axes.fill_between(widths, [l["min"] for l in mine], [l["max"] for l in mine], color=colour, alpha=0.12,
                          linewidth=0)
    for line in lines:
        if line["variant"] == "nigh/temporal":
            axes.plot([line["params"]["width"]], [line["median"]], color="#000000", marker="*", markersize=11,
                      linestyle="none", label="chosen")
        if kind(line) in SWEEPS:
            axes.axhline(line["median"], color=SWEEPS[kind(line)], linestyle=":", linewidth=1.2,
                         label=f"sweeps ({kind(line)})")
    for bound in bounds:
        if bound["variant"] == "limit":
            axes.axhline(bound["median"], color="#777777", linestyle="--", linewidth=1,
                         label="bandwidth limit of sweeps (copies)")
            axes.axhspan(bound["min"], bound["max"], color="#777777", alpha=0.12, linewidth=0)
        else:
            axes.axhline(bound["median"], color="#228833", linestyle="-.", linewidth=1,
                         label="cores alone, out of their caches")
    axes.set_xlabel("planes of a tile")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l and l["bench"] == "temporal" and l["metric"] == "rate"]
    bounds = [l for l in lines if l["variant"] in ("limit", "cores")]
    lines = [l for l in lines if l not in bounds]
    if not lines:
        raise SystemExit("temporal.py: these results have no figure (--problems)")
    figures.style()
    panels = list(dict.fromkeys(l["params"]["obstacles"] for l in lines))
    figure, grid = plt.subplots(1, len(panels), squeeze=False, sharey=True, layout="constrained",
                                figsize=(4.6 * len(panels) + 2.4, 3.6))
    for axes, obstacles in zip(grid[0], panels):
        draw(axes, [l for l in lines if l["params"]["obstacles"] == obstacles], bounds)
        axes.set_title("with obstacles" if obstacles == "yes" else "empty grid", fontsize=10, loc="left")
    params = lines[0]["params"]
    grid[0][0].set_ylabel(f"MLUP/s, {params['grid']}, {params['threads']} threads\n(median; shade: min to max)")
    grid[0][-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
