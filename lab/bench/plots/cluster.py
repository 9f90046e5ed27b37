#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench cluster`: cluster.py RESULTS.json FIGURE.svg|.png

Problems by how much faster than one rank with one worker they are solved; steals between two ranks by how
long they take; nodes of a search for each second while ranks are killed."""
import sys

import matplotlib.pyplot as plt

import figures

LOOKS = {"random+one": ("#777777", "v"), "random+half": ("#4477aa", "^"),
         "hierarchical+half": ("#ccbb44", "D"), "hierarchical+hierarchical": ("#cc3311", "o"),
         "lifelines+half": ("#aa3377", "P")}
OTHERS = [("#228833", "h"), ("#66ccee", "X"), ("#bbbbbb", "*")]


def policy(line):
    return line["variant"].partition("/")[2]


def title(line):
    return f"{line['params']['problem']} {line['params']['size']}"


def ratios(line, alone):
    """Low, median and high speed-up, sample by sample."""
    each = sorted(a / b for a, b in zip(alone["samples"], line["samples"]))
    return each[0], line["counters"]["speed_up"], each[-1]


def looks(lines):
    names = dict.fromkeys(policy(l) for l in lines if "victims" in l["params"])
    unknown = iter(OTHERS * len(names))
    return {name: LOOKS.get(name) or next(unknown) for name in names}


def draw_policies(axes, lines):
    ranks = max(l["params"]["ranks"] for l in lines)
    problems = list(dict.fromkeys(title(l) for l in lines))
    look = looks(lines)
    for at, name in enumerate(problems):
        here = [l for l in lines if title(l) == name]
        alone = next(l for l in here if l["params"]["ranks"] == l["params"]["workers"] == 1)
        if at % 2 == 0:
            axes.axhspan(at - 0.5, at + 0.5, color="#f3f3f3", zorder=0)
        others = [l for l in here if l is not alone]
        for nth, line in enumerate(others):
            y = at - 0.35 + 0.7 * nth / max(1, len(others) - 1)
            low, middle, high = ratios(line, alone)
            shared = line["params"]["ranks"] == 1
            label = f"one rank, {ranks} workers" if shared else policy(line)
            colour, marker = ("black", "|") if shared else look.get(policy(line), ("#cc3311", "s"))
            axes.plot([low, high], [y, y], color=colour, linewidth=1, alpha=0.6)
            axes.plot(middle, y, marker, color=colour, markersize=9 if shared else 6,
                      markeredgewidth=2 if shared else 0.5, markeredgecolor=colour if shared else "white",
                      label="shared out beforehand" if label == str(ranks) else label)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.axvline(ranks, color="black", linewidth=0.8)
    axes.set_yticks(range(len(problems)), problems)
    axes.set_ylim(len(problems) - 0.5, -0.5)
    axes.set_xlim(0, min(axes.get_xlim()[1], 1.5 * ranks))
    axes.set_xlabel(f"speed-up of {ranks} ranks over one, a worker each (median; min to max)")
    axes.grid(axis="x", alpha=0.25)
    handles = {}
    for handle, label in zip(*axes.get_legend_handles_labels()):
        handles.setdefault(label, handle)
    axes.legend(handles.values(), handles.keys(), fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_latencies(axes, lines):
    for at, line in enumerate(lines):
        samples = sorted(line["samples"])
        low, high = samples[len(samples) // 10], samples[len(samples) * 9 // 10]
        colour = "#777777" if line["variant"].startswith("ping-pong") else "#cc3311"
        axes.plot([low, high], [at, at], color=colour, linewidth=1.5)
        axes.plot(line["median"], at, "o", color=colour, markeredgecolor="white", markeredgewidth=0.5)
        promised = line["counters"].get("promised_us")
        if promised:
            axes.plot([promised] * 2, [at - 0.4, at + 0.4], color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), [l["variant"] for l in lines])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlabel("us, two ranks (median; p10 to p90; black: promised)")
    axes.grid(axis="x", alpha=0.25)


def draw_rate(axes, line, whole):
    """One job, beside one without losses."""
    window = line["params"]["window_s"]
    for of, colour, label in ((whole, "#bbbbbb", "no rank is lost"), (line, "#4477aa", "ranks are killed")):
        times = [window * (n + 0.5) for n in range(len(of["samples"]))]
        axes.plot(times, [rate / 1e6 for rate in of["samples"]], color=colour, linewidth=1.2, label=label)
    top = 1.15 * max(line["samples"] + whole["samples"]) / 1e6
    killed = zip(line["params"]["killed_at_s"].split(","), line["params"]["killed"].split(","))
    for at, rank in killed:
        axes.axvline(float(at), color="#cc3311", linewidth=0.8)
        axes.text(float(at), top, f" {rank}", color="#cc3311", fontsize=7, va="top")
    axes.set_ylim(0, top)
    axes.set_xlim(0, window * len(line["samples"]))
    axes.set_ylabel(f"M {line['unit']}")
    counters = line["counters"]
    axes.set_title(f"{line['params']['ranks']} ranks, {line['params']['problem']} {line['params']['size']}: {counters['solved']} solved, "
                   f"{counters['wrong']} wrong, {counters['tasks_run_again']} tasks run again; red: SIGKILL of a rank",
                   fontsize=8, loc="left")
    axes.legend(fontsize=7, loc="lower left")
    axes.set_xlabel("s")


def draw_losses(lines, target):
    whole = next(l for l in lines if l["variant"] == "nigh/whole")
    jobs = [l for l in lines if l is not whole][:3]
    if not jobs:
        sys.exit("cluster.py: there is no job with losses to draw")
    figures.style()
    figure, grid = plt.subplots(len(jobs), squeeze=False, layout="constrained", figsize=(9, 2.1 * len(jobs) + 0.4))
    for (axes,), line in zip(grid, jobs):
        draw_rate(axes, line, whole)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


def main():
    lines, target = figures.arguments()
    lines = [l for l in lines if "absent" not in l]
    rates = [l for l in lines if l["bench"] == "cluster/losses-rate"]
    if rates:
        draw_losses(rates, target)
        return
    solved = [l for l in lines if l["bench"] == "cluster/policies"]
    latencies = [l for l in lines if l["bench"] == "cluster/latency"]
    panels = [(draw_policies, solved, 0.75 * len({title(l) for l in solved}) + 0.6)] if solved else []
    panels += [(draw_latencies, latencies, 0.3 * len(latencies) + 0.6)] if latencies else []
    if not panels:
        sys.exit("cluster.py: nothing was measured, so there is nothing to draw")
    figures.style()
    heights = [height for _, _, height in panels]
    figure, grid = plt.subplots(len(panels), squeeze=False, layout="constrained",
                                figsize=(9, sum(heights) + 0.6), height_ratios=heights)
    for (axes,), (draw, mine, _) in zip(grid, panels):
        draw(axes, mine)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
