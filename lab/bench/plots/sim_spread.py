#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh sim spread`: sim_spread.py RESULTS.json FIGURE.svg|.png"""
import matplotlib.pyplot as plt

import figures


def draw_machine(axes, lines):
    cells = [line for line in lines if line["variant"] != "choice"]
    most = max(line["params"]["active"] for line in cells)
    cells = [line for line in cells if line["params"]["active"] == most]
    edges = sorted({line["params"]["edge"] for line in cells})
    spreads = sorted({line["params"]["spread"] for line in cells})
    time = {(line["params"]["edge"], line["params"]["spread"]): line["median"] for line in cells}
    change = [[100 * (time[edge, spread] / time[edge, 1] - 1) for spread in spreads] for edge in edges]
    image = axes.imshow(change, aspect="auto", origin="lower", cmap="RdYlGn_r", vmin=-40, vmax=40)
    chosen = {line["params"]["edge"]: line["counters"]["spread"] for line in lines if line["variant"] == "choice"}
    for y, edge in enumerate(edges):
        best = min(range(len(spreads)), key=lambda x: change[y][x])
        for x, spread in enumerate(spreads):
            axes.text(x, y, f"{round(change[y][x]):+d}", ha="center", va="center", fontsize=8,
                      color="white" if change[y][x] > 28 else "black",
                      fontweight="bold" if x == best else "normal")
            if chosen.get(edge) == spread:
                axes.add_patch(plt.Rectangle((x - 0.47, y - 0.44), 0.94, 0.88, fill=False, linewidth=1.4))
    axes.set_xticks(range(len(spreads)), [str(spread) for spread in spreads])
    axes.set_yticks(range(len(edges)), [f"{edge}  ({edge * edge * 16e-6:.1f} MB)" for edge in edges])
    axes.set_xlabel("spread: workers of a block")
    axes.set_title(lines[0]["run"]["machine"].split(";")[0], fontsize=9.5)
    return image


def main():
    lines, target = figures.arguments()
    figures.style(**{"font.size": 9.5})
    machines = list(dict.fromkeys(line["params"]["machine"] for line in lines))
    figure, axes = plt.subplots(1, len(machines), figsize=(5.4 * len(machines) + 0.6, 4.6), layout="constrained",
                                squeeze=False)
    for place, machine in zip(axes[0], machines):
        image = draw_machine(place, [line for line in lines if line["params"]["machine"] == machine])
    axes[0][0].set_ylabel("sites in a row of a block (its size)")
    figure.colorbar(image, ax=axes[0].tolist(), label="time beside spread 1, %", shrink=0.9)
    figures.foot(figure, f"bold: best; frame: what SpreadChoice takes; nigh {lines[0]['run']['version']}")
    figures.save(figure, target)


if __name__ == "__main__":
    main()
