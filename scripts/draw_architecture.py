#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the layer table, cmake/layers.json, as docs/architecture.svg, with graphviz.

    scripts/draw_architecture.py [--check]

With --check it draws nothing and compares the rooms, their texts and the arrows of the picture with
the table. That needs no graphviz and does not depend on its version or on the fonts of this machine.
Status: 1, the picture is old; 2, there is no graphviz to draw with.
"""

import argparse
import html
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "cmake/layers.json"
PICTURE = ROOT / "docs/architecture.svg"
SVG = "{http://www.w3.org/2000/svg}"
WINGS = {"product": "The product: what a user installs", "lab": "The lab: studies the product"}

# The presentation attributes that graphviz writes are weaker than a style sheet.
STYLE = """
<style>
  .paper > polygon { fill: #ffffff; stroke: none; }
  text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #1c2733; }
  .node path, .node polygon { stroke-width: 1.4; }
  .product path, .product polygon { fill: #e9f5ea; stroke: #4c9a57; }
  .pure path, .pure polygon { fill: #f3e8f9; stroke: #8e5bb0; }
  .lab path, .lab polygon { fill: #fdf1dc; stroke: #d59a2c; }
  .node text + text { fill: #43505e; }
  .cluster path, .cluster polygon { fill: #f6f8fa; stroke: #c9d1d9; }
  .edge path { stroke: #6b7886; fill: none; }
  .edge polygon { stroke: #6b7886; fill: #6b7886; }
  @media (prefers-color-scheme: dark) {
    .paper > polygon { fill: #0d1117; }
    text { fill: #e6edf3; }
    .product path, .product polygon { fill: #14301b; stroke: #4c9a57; }
    .pure path, .pure polygon { fill: #2d1b3a; stroke: #a878c8; }
    .lab path, .lab polygon { fill: #382a10; stroke: #d59a2c; }
    .node text + text { fill: #adb8c3; }
    .cluster path, .cluster polygon { fill: #161b22; stroke: #3d444d; }
    .edge path { stroke: #8b98a5; }
    .edge polygon { stroke: #8b98a5; fill: #8b98a5; }
  }
</style>
"""


def rooms():
    """{folder: row} of what is drawn: every layer, other than the few lines right in src/."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    return {row["folder"]: row for row in table["layers"] if row["folder"] != "src"}


def reach(rows, folder):
    """All layers that a layer may include, through others too."""
    found = set()
    todo = list(rows[folder]["may_include"])
    while todo:
        below = todo.pop()
        if below not in found:
            found.add(below)
            todo += rows[below]["may_include"]
    return found


def arrows(rows):
    """(from, to) of the table, less those that follow from others: base through platform."""
    drawn = set()
    for folder, row in rows.items():
        for below in row["may_include"]:
            if not any(below in reach(rows, other) for other in row["may_include"]):
                drawn.add((folder, below))
    return drawn


def shown_name(folder):
    return "include/nigh" if folder == "include" else folder


def graph(rows):
    lines = [
        "digraph layers {",
        '  graph [class="paper" rankdir=TB ranksep=0.42 nodesep=0.22 fontname="DejaVu Sans" fontsize=15',
        '         newrank=true compound=true margin="0.1" pad="0.1"]',
        '  node [shape=box style="rounded,filled" margin="0.09,0.045" fontname="DejaVu Sans" height=0.5]',
        '  edge [arrowsize=0.65]',
    ]
    for wing, title in WINGS.items():
        lines.append(f'  subgraph cluster_{wing} {{ label="{title}" labeljust=l style=rounded margin=14')
        for folder, row in rows.items():
            if row["wing"] == wing:
                kind = "pure" if row.get("pure") else wing
                name, what = html.escape(shown_name(folder)), html.escape(row["what"])
                lines.append(f'    "{folder}" [class="{kind}" label=<<FONT POINT-SIZE="14"><B>{name}</B></FONT>'
                             f'<BR/><FONT POINT-SIZE="11">{what}</FONT>>]')
        lines.append("  }")
    lines += [f'  "{above}" -> "{below}"' for above, below in sorted(arrows(rows))]
    return "\n".join(lines + ["}"])


def draw(rows):
    drawn = subprocess.run(["dot", "-Tsvg"], input=graph(rows), capture_output=True, text=True, check=True).stdout
    start = drawn.index("<svg")
    body = drawn.index(">", start) + 1
    title = "\n<title>The layers of nigh; an arrow means &quot;may include&quot;</title>"
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
            "<!-- Made by scripts/draw_architecture.py from cmake/layers.json: change the table, not this. -->\n"
            + drawn[start:body] + title + STYLE + drawn[body:].lstrip("\n"))


def seen(picture):
    """({folder: its two texts}, {(from, to)}) of the picture."""
    drawn_rooms, drawn_arrows = {}, set()
    for group in ElementTree.parse(picture).iter(SVG + "g"):
        kind = group.get("class", "").split(" ")[0]
        title = group.findtext(SVG + "title")
        if kind == "node":
            drawn_rooms[title] = [text.text for text in group.iter(SVG + "text")]
        elif kind == "edge":
            drawn_arrows.add(tuple(title.split("->")))
    return drawn_rooms, drawn_arrows


def differences(rows, picture):
    drawn_rooms, drawn_arrows = seen(picture)
    wanted_rooms = {folder: [shown_name(folder), row["what"]] for folder, row in rows.items()}
    wrong = [f"room {folder}: the table has {wanted_rooms.get(folder)}, the picture {drawn_rooms.get(folder)}"
             for folder in sorted(wanted_rooms.keys() | drawn_rooms.keys())
             if wanted_rooms.get(folder) != drawn_rooms.get(folder)]
    for above, below in sorted(arrows(rows) ^ drawn_arrows):
        where = "picture" if (above, below) in drawn_arrows else "table"
        wrong.append(f"the arrow {above} -> {below} is only in the {where}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description="draw cmake/layers.json as docs/architecture.svg")
    parser.add_argument("--check", action="store_true", help="compare the picture with the table, draw nothing")
    arguments = parser.parse_args()
    rows = rooms()
    if not arguments.check:
        try:
            picture = draw(rows)
        except FileNotFoundError:
            print("draw_architecture.py: there is no program dot: install graphviz", file=sys.stderr)
            return 2
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    wrong = differences(rows, PICTURE)
    for line in wrong:
        print(line)
    if wrong:
        print("docs/architecture.svg is old: run scripts/draw_architecture.py (needs graphviz)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
