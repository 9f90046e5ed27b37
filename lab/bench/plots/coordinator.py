#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `nigh bench coordinator`: coordinator.py RESULTS.json FIGURE.svg|.png

Ways to run a set of programs, or the user's commands, by total time; policies, by how far apart they leave a
team's threads."""
import sys

import matplotlib.pyplot as plt

import figures

WAYS = {"sequential": ("one after the other", "#777777"), "together": ("all at once", "#4477aa"),
        "fixed": ("all at once, best threads", "#ccbb44"),
        "coordinator": ("all at once, coordinator", "#cc3311")}
POLICIES = {"random": "#777777", "simple": "#4477aa", "nearest": "#ccbb44", "clustered": "#aa3377",
            "clustered-adjusting": "#cc3311"}


def told(command):
    """A command, as short as a label: of paths the last part, of what is too long the end."""
    words = " ".join(word.rsplit("/", 1)[-1] or word for word in command.split())
    return words if len(words) <= 28 else "..." + words[-25:]


def spread(line):
    return [[line["median"] - line["min"]], [line["max"] - line["median"]]]


def draw_throughput(axes, lines):
    labels = []
    for row, line in enumerate(lines):
        label, colour = WAYS.get(line["variant"], ("all at once, " + line["variant"], "#cc3311"))
        axes.barh(row, line["median"], xerr=spread(line), color=colour, height=0.65,
                  error_kw={"ecolor": "#333333", "capsize": 3})
        labels.append(f"{label}\n{line['median']:.2f} s")
    axes.set_yticks(range(len(lines)), labels, fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("s until the last ends (median, min to max)")
    axes.set_title(f"{lines[0]['params']['programs']} OpenMP programs", fontsize=10, loc="left")


def draw_commands(axes, lines):
    labels = []
    for row, line in enumerate(lines):
        colour = "#cc3311" if line["variant"].startswith("nigh") else "#4477aa"
        axes.barh(row, line["median"], xerr=spread(line), color=colour, height=0.65,
                  error_kw={"ecolor": "#333333", "capsize": 3})
        labels.append(f"{line['variant']}\n{line['median']:.2f} s, {line['counters']['of_best']:.2f} of best")
    axes.set_yticks(range(len(lines)), labels, fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("s until the last ends (median, min to max)")
    axes.set_title(f"commands: {lines[0]['params']['commands']}", fontsize=10, loc="left")


def draw_alone(axes, lines):
    nigh = [line for line in lines if line["variant"] == "nigh"]
    for row, line in enumerate(nigh):
        ratio = line["counters"]["of_default"]
        axes.barh(row, ratio, color="#cc3311", height=0.65)
        axes.text(ratio, row, f" {ratio:.2f}", va="center", fontsize=8.5)
    names = [line["params"]["set"] for line in nigh]
    axes.set_yticks(range(len(nigh)), [told(n) for n in names], fontsize=8.5)
    axes.invert_yaxis()
    axes.axvline(1, color="#333333", linewidth=0.8)
    axes.set_xlabel("time under nigh, of without")
    axes.set_title("each alone", fontsize=10, loc="left")


def draw_distances(axes, lines):
    machines = list(dict.fromkeys(line["params"]["machine"] for line in lines))
    width = 0.8 / len(POLICIES)
    for nth, (policy, colour) in enumerate(POLICIES.items()):
        mine = [line for line in lines if line["variant"] == policy]
        places = [machines.index(line["params"]["machine"]) + nth * width for line in mine]
        axes.bar(places, [line["counters"]["of_random"] for line in mine], width * 0.92, color=colour,
                 label=policy)
    axes.set_xticks([m + 0.32 for m in range(len(machines))], machines, fontsize=8)
    axes.set_ylabel("local distance, of random cpus'")
    axes.set_title("threads of a team apart", fontsize=10, loc="left")
    axes.legend(fontsize=7.5, ncol=5, loc="upper center", bbox_to_anchor=(0.5, -0.1), columnspacing=0.9)


def draw_times(axes, lines):
    timed = [line for line in lines if "decision_p99_us" in line["counters"]]
    for policy in POLICIES:
        mine = sorted((line for line in timed if line["variant"] == policy),
                      key=lambda line: line["params"]["cpus"])
        if not mine:
            continue
        cpus = [line["params"]["cpus"] for line in mine]
        look = {"color": POLICIES[policy], "marker": "o", "markersize": 4}
        axes.plot(cpus, [line["counters"]["decision_p99_us"] for line in mine], label=policy, **look)
        axes.plot(cpus, [line["counters"]["decision_p50_us"] for line in mine], linestyle=":", **look)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted({line["params"]["cpus"] for line in timed}),
                    sorted({line["params"]["cpus"] for line in timed}))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cpus")
    axes.set_ylabel("us a decision (p99; dotted: median)")
    axes.set_title("time to decide", fontsize=10, loc="left")


def main():
    lines, target = figures.arguments()
    lines = [line for line in lines if "absent" not in line]
    throughput = [line for line in lines if line["bench"] == "coordinator/throughput"]
    policies = [line for line in lines if line["bench"] == "coordinator/policies"]
    commands = [line for line in lines if line["bench"] == "coordinator/commands"]
    alone = [line for line in lines if line["bench"] == "coordinator/command"]
    panels = [(draw_commands, commands)] if commands else []
    panels += [(draw_alone, alone)] if any(line["variant"] == "nigh" for line in alone) else []
    panels += [(draw_throughput, throughput)] if throughput else []
    panels += [(draw_distances, policies), (draw_times, policies)] if policies else []
    if not panels:
        sys.exit("coordinator.py: nothing was measured, so there is nothing to draw")
    figures.style()
    figure, grid = plt.subplots(1, len(panels), squeeze=False, layout="constrained",
                                figsize=(5.6 * len(panels), 3.6))
    for axes, (draw, mine) in zip(grid[0], panels):
        draw(axes, mine)
        axes.grid(alpha=0.25)
    figures.foot_of_run(figure, lines)
    figures.save(figure, target)


if __name__ == "__main__":
    main()
