# SPDX-License-Identifier: Apache-2.0
"""What all figures have in common: lines in, one look, a foot that says where they come from, a file out."""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)


def arguments():
    """The lines of RESULTS.json, and FIGURE, as the command line names them."""
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()], target


def style(**more):
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
                         "axes.axisbelow": True, "figure.dpi": 120, "svg.fonttype": "none",
                         "svg.hashsalt": "nigh", "legend.frameon": False, **more})


def foot(figure, text):
    figure.supxlabel(text, fontsize=6.5, color="#666666", x=0.01, ha="left")


def foot_of_run(figure, lines):
    run = lines[0]["run"]
    foot(figure, f"{run['machine']}; {run['topology']}; {run['compiler']}; nigh {run['commit']}; {run['date'][:10]}")


def save(figure, target):
    """The same lines give the same bytes."""
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None} if target.endswith(".svg") else None)
