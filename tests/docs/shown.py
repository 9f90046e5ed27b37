# SPDX-License-Identifier: Apache-2.0
"""The commands and code that the pages show, and the rule by which an output is the one that a page shows."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^(?P<fence>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
CONSOLE = {"console", "sh", "bash", ""}


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of the first line within the fences
    language: str
    text: str


@dataclasses.dataclass
class Command:
    page: str
    line: int
    text: str  # one line, without its prompt and its comment
    as_root: bool
    output: list  # of lines
    block: int = 0  # commands of a block share its background programs


def pages(root=ROOT):
    """README.md, the pages of docs/ and the READMEs of folders."""
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    for folder in ("python", "packaging", "src", "tests", "lab", "machines", "scripts"):
        found += sorted((root / folder).rglob("README.md"))
    return found


def blocks(page, root=ROOT):
    text = page.read_text(encoding="utf-8")
    return [Block(str(page.relative_to(root)), text.count("\n", 0, match.start("text")) + 1, match["language"], match["text"])
            for match in BLOCK.finditer(text)]


def commands_of(block, number=0):
    """The commands of one block, each with the lines below it. Root's prompt, #, is one only in a block that begins with it:
    elsewhere a line of output may begin so."""
    prompts = ("$ ", "# ") if block.text.startswith("# ") else ("$ ",)
    found, goes_on = [], False
    for offset, line in enumerate(block.text.splitlines()):
        if goes_on:
            found[-1].text += " " + line.strip()
        elif line.startswith(prompts):
            found.append(Command(block.page, block.line + offset, line[2:].strip(), line[0] == "#", [], number))
        elif found:
            found[-1].output.append(line)
            continue
        goes_on = bool(found) and found[-1].text.endswith("\\")
        if goes_on:
            found[-1].text = found[-1].text[:-1].rstrip()
    for command in found:
        command.text = re.sub(r"\s{2,}#\s.*$", "", command.text)
        while command.output and not command.output[-1].strip():
            command.output.pop()
    return found


def commands(page, root=ROOT):
    return [command for number, block in enumerate(blocks(page, root)) if block.language in CONSOLE
            for command in commands_of(block, number)]


# The rule. Numbers, their units, addresses, hashes, times of day, the folder of a file and the width of columns are this
# machine's or this run's, and aside; so is how often a line comes again right after itself. All else is as on the page,
# where [...] (or ...) stands for lines left out. Lines that nigh
# itself says (nigh: ...) are compared apart from the program's: the two come from two processes, or by two ways.

FIRST_TIME = "numa-vm: fetching a kernel"  # of a user
TOLD = ("nigh: ", "nighd: ")
UNIT = r"(?:ns|us|ms|s|B|KiB|MiB|GiB|MB|GB|%)"
PLAIN = (
    (r"\x1b\[[0-9;]*m", ""),
    (r"\b\d{4}-\d\d-\d\dT[\d:.]+Z", "#"),
    (r"(?<![\w.])~?/(?:[\w.~+%-]+/)+", "/"),
    (r"/(?:nighd|n|m)\.sock\b", "/.sock"),
    (r"\b0x[0-9a-fA-F]+\b", "#"),
    (r"\b(?=[a-z]*\d)[0-9a-f]{8,16}\b", "#"),
    (r"[+-]?\d[\d,.:]*(?:e[+-]?\d+)?", "#"),
    (rf"#\s?{UNIT}(?![\w])", "#"),
    (r"(?<!\S)-(?!\S)", "#"),  # of a table, a number that there is not
    (r"-{4,}", "----"),
    (r"(?<=# )(\w{3,}?)s\b", r"\1"),  # 1 region, 2 regions
    (r"(?:#[ *]*){2,}", "# "),
    (r"# (?=[]}),;])", "#"),  # of many digits, or of few
    (r"\s+", " "),
)


def plain(line):
    for pattern, by in PLAIN:
        line = re.sub(pattern, by, line)
    return line.strip()


def is_gap(line):
    return line.strip() in ("[...]", "...")


def reduced(lines, aside=None):
    """Lines in plain form, without empty ones, repetitions, and those that match `aside`."""
    found = []
    for line in lines:
        line = line.strip() if is_gap(line) else plain(line)
        if not line or line.startswith(FIRST_TIME) or (aside and re.search(aside, line)) or found[-1:] == [line]:
            continue
        if len(found) > 1 and is_gap(found[-1]) and found[-2] == line:  # one line, [...] and its like: it again and again
            found.pop()
        else:
            found.append(line)
    return found


def difference(shown, output, aside=None):
    """None when `output` is what the page shows; otherwise what differs first."""
    def parts(lines):
        told = [line for line in lines if line.startswith(TOLD)]
        return told, [line for line in lines if not line.startswith(TOLD)]
    (told, rest), (told_now, rest_now) = parts(shown), parts(output)
    has_gaps = any(map(is_gap, shown))
    return (missing if has_gaps else in_order)(told, told_now, aside) or in_order(rest, rest_now, aside)


def in_order(shown, output, aside=None):
    """Line by line."""
    wanted, made = reduced(shown, aside), reduced(output, aside)
    at = 0
    after_gap = False
    for i, line in enumerate(wanted):
        if is_gap(line):
            after_gap = True
            continue
        if after_gap:
            # The last part ends the output; others are found where they first come.
            rest = wanted[i:]
            last = not any(map(is_gap, rest))
            here = len(made) - len(rest) if last else next((k for k in range(at, len(made)) if made[k] == line), -1)
            if here < at:
                return f"never says: {line}"
            at, after_gap = here, False
        if at == len(made):
            return f"ends before: {line}"
        if made[at] != line:
            return f"says: {made[at]}\n  instead of: {line}"
        at += 1
    if at < len(made) and not after_gap:
        return f"goes on: {made[at]}"
    return None


def missing(shown, output, aside=None):
    """The first shown line that is not in the output, in whatever order; None when all are."""
    made = set(reduced(output, aside))
    return next((f"never says: {line}" for line in reduced(shown, aside) if not is_gap(line) and line not in made), None)


def missing_headings(shown, output, aside=None):
    """As missing(), of the lines without a number: those that also a smaller run prints."""
    return missing([line for line in shown if "#" not in plain(line)], output, aside)
