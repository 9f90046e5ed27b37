# SPDX-License-Identifier: Apache-2.0
"""The page of figures: each picture of docs/results with the command that drew it, and the machine it is from."""

import json
import re


def commands(readme):
    """{file: the command that writes it} by the commands of docs/results/README.md; of a loop, its body for that file."""
    found = {}
    for line in re.findall(r"^\$ (.*)", readme, re.MULTILINE):
        loop = re.fullmatch(r"for (\w+) in ([^;]+); do (.*); done", line)
        bodies = [loop[3].replace(f"${loop[1]}", value) for value in loop[2].split()] if loop else [line]
        for body in bodies:
            for name in re.findall(r"docs/results/([\w.-]+)", body):
                found[name] = body
    return found


def meanings(readme):
    """{name without its end: what it shows} by the table of docs/results/README.md."""
    found = {}
    for row in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", readme, re.MULTILINE):
        for name in re.findall(r"`([\w-]+)\.", row[0]):
            found[name] = row[1]
    return found


def runs(file):
    """The different `run` fields of a file of results."""
    found = []
    for line in file.read_text(encoding="utf-8").split("\n"):
        run = json.loads(line).get("run") if line.strip() else None
        if run and run not in found:
            found.append(run)
    return found


def machine_of(run):
    """One sentence on where and with what a file was measured, or for what it was simulated."""
    if "date" not in run:
        return f"Simulated by nigh {run['version']}: {run['machine']} (`{run['topology']}`)."
    by = f", {run['compiler']} `{run['flags'].strip()}`" if run.get("compiler") else ""
    return f"{run['machine']}, {run['topology']}; commit `{run['commit']}`{by}; {run['date'].replace('T', ' ').rstrip('Z')} UTC."


def page(folder):
    readme = (folder / "README.md").read_text(encoding="utf-8")
    command, meaning = commands(readme), meanings(readme)
    out = ["# Figures\n", "After reading this page you have seen each measured or simulated figure, and can draw it again on your machine.\n",
           "[Results](README.md) has the other files, and says what the figures do and do not show.\n"]
    for picture in sorted(folder.glob("*.svg")):
        name = picture.stem
        about = meaning[name]
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", about).replace("`", "")
        out += [f"## {name}\n", f"![{words}]({picture.name})\n", f"{about[:1].upper()}{about[1:]}.\n",
                f"```console\n$ {command[picture.name]}\n```\n"]
        out += [f"{machine_of(run)}\n" for run in runs(picture.with_suffix(".json"))]
        files = [f"[{end}]({name}.{end})" for end in ("txt", "json") if (folder / f"{name}.{end}").exists()]
        out.append(f"All numbers: {', '.join(files)}.\n")
    return "\n".join(out)
