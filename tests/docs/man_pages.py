#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages say of options and commands what --help says.

    man_pages.py BIN_DIR [--fix]

A page of docs/man is written by hand, apart from its lists of options and commands, and the version in its first line.
A list stands between two comments:

    .\\" options: nigh run      (or "commands: nigh")
    .\\" end

and is made from what `nigh run --help` prints. Text by hand may follow an entry, below a comment:

    .\\" more

--fix writes the lists anew, and keeps such texts. Without it, the test fails where a page is not as --fix would write it,
where a command, a benchmark or an experiment has no list, and where mandoc or man complain.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/man"
BEGIN, END, MORE, GROUP = re.compile(r'^\.\\" (options|commands): (.+)$'), '.\\" end', '.\\" more', '.\\" group'
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"]


def program_of(bin_dir, words):
    """The command line of a program, or None where this build lacks it."""
    if words[0] == "numa-vm":
        return [sys.executable, "-B", str(ROOT / "tests/numa_vm/numa-vm")]
    libexec = bin_dir.parent / "libexec/nigh"
    needed = {"bench": f"nigh-bench-{words[-1]}", "sim": "nigh-calibrate" if words[-1] == "calibrate" else "nigh-sim"}
    if len(words) > 2 and words[1] in needed and not (libexec / needed[words[1]]).exists():
        return None
    return [str(bin_dir / words[0]), *words[1:]]


def help_of(bin_dir, words):
    command = program_of(bin_dir, words)
    if command is None:
        return None
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=100, env={**os.environ, "COLUMNS": "80"})
    assert done.returncode == 0, (words, done)
    return done.stdout


def entries(text):
    """[(group, head, explanation)] of a help's lists: CLI11's as base/help_format.hpp has it, or argparse's."""
    found, group = [], ""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if re.fullmatch(r"\S.*:", line):
            group = line[:-1]
        elif not group or not line.strip():
            continue
        elif indent == 2:
            head, _, explanation = line.strip().partition("  ")
            found.append([group, head, explanation.strip()])
        elif found and 2 < indent < 20:  # a long head goes on
            head, _, explanation = line.strip().partition("  ")
            found[-1][1] += " " + head
            found[-1][2] += " " + explanation.strip()
        elif found and indent >= 20:
            found[-1][2] += " " + line.strip()
        else:
            group = ""
    return [(group, head, explanation.strip()) for group, head, explanation in found]


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def paragraph(text):
    """Lines of at most 80 columns; options are bold."""
    lines = textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False)
    return [re.sub(r"(?<![\w\-])(\\-\\-\w(?:\w|\\-\w)*)", r"\\fB\1\\fR", escaped(line)) for line in lines]


def sentences(text):
    """With a capital, unless it begins with a value that is written small ("compact or scatter"), and with a full stop."""
    if re.match(r"[a-z]+(:| (?!or |\())", text):
        text = text[0].upper() + text[1:]
    return text + ("" if not text or text[-1] in ".!?" else ".")


def choices_sentence(value, choices, explanation):
    if all(re.search(rf"(?<![\w-]){re.escape(choice)}(?![\w-])", explanation) for choice in choices):
        return ""
    listed = choices[0] if len(choices) == 1 else ", ".join(choices[:-1]) + " or " + choices[-1]
    return f" {value or 'The value'} is {listed}."


def option(head, explanation):
    """(first long name, lines) of an option's entry."""
    names, _, value = re.sub(r", (?=-)", ",", head).partition(" ")
    names = re.sub(r"\{\w+\}", "", names)
    tail = ""
    for word, sentence in [("Excludes:", "Not with"), ("Needs:", "Only with")]:
        if word in value:
            value, _, others = value.partition(word)
            tail += f" {sentence} {' and '.join(others.split())}."
    if value.split()[-1:] == ["REQUIRED"]:
        value = value.replace("REQUIRED", "")
        tail += " Must be given."
    many = value.count("...") > 0 and ",..." not in value and "[," not in value
    value = value.replace("...", "") if many else value
    choices = re.search(r"^(.*?):?\{([^}]*)\}", value.strip())
    if choices:
        value = choices[1].strip()
    explanation = sentences(explanation)
    if choices:
        explanation += choices_sentence(value, [c.strip() for c in choices[2].split(",")], explanation)
        value = value or "|".join(c.strip() for c in choices[2].split(","))
    names = names.split(",")
    shown = ", ".join(f"\\fB{escaped(name)}\\fR" for name in names)
    if value.strip():
        shown += f" \\fI{escaped(value.strip())}\\fR"
    shown += " ..." if many else ""
    key = next((name for name in names if name.startswith("--")), names[0])
    return key, [".TP", shown, *paragraph((explanation + tail).strip())]


def options(text, nested):
    """[(key, lines)] of the options in a help; a heading of a group has no key."""
    found, last = [], ""
    for group, head, explanation in entries(text):
        key, lines = option(head, explanation)
        if not head.startswith("-") or key in ("--help", "--version"):
            continue
        if group != last and group.lower() != "options":
            title = escaped(group[0].upper() + group[1:])
            found.append((None, [GROUP, *([".PP", f"{title}:"] if nested else [f'.SS "{title}"'])]))
        last = group
        found.append((key, lines))
    return found


def commands(text, program):
    found = []
    for group, name, explanation in entries(text):
        if group != "Subcommands":
            continue
        page = PAGES / f"{program}-{name}.1"
        see = [f"See \\fB{escaped(page.stem)}\\fR(1)."] if page.exists() or name not in WITHOUT_PAGE else []
        found.append((name, [".TP", f"\\fB{escaped(name)}\\fR", *paragraph(sentences(explanation)), *see]))
    return found


def texts_by_hand(lines):
    """{key: lines below "more"} of a list as it is in a page."""
    kept, key, is_kept = {}, None, False
    for number, line in enumerate(lines):
        if line in (".TP", GROUP):
            names = re.findall(r"\\fB(.*?)\\fR", lines[number + 1]) if line == ".TP" else []
            names = [name.replace("\\-", "-") for name in names]
            key, is_kept = next((n for n in names if n.startswith("--")), names[0] if names else None), False
        elif line == MORE:
            is_kept = True
        elif is_kept:
            kept.setdefault(key, []).append(line)
    return kept


WITHOUT_PAGE = ("help", "version")


class PageError(Exception):
    pass


def made(page, bin_dir, version):
    """The page's text as it should be."""
    out, lines = [], iter(page.read_text().split("\n"))
    for line in lines:
        out.append(re.sub(r'"nigh [\d.]+"', f'"nigh {version}"', line) if line.startswith(".TH ") else line)
        begin = BEGIN.match(line)
        if not begin:
            continue
        old = []
        for inner in lines:
            if inner == END:
                break
            old.append(inner)
        else:
            raise PageError(f"{page.name}: a list has no end: {line}")
        words = begin[2].split()
        text = help_of(bin_dir, words)
        if text is None:  # not in this build
            out += [*old, END]
            continue
        nested = out.count(".RS") > out.count(".RE")
        kept = texts_by_hand(old)
        for key, entry in commands(text, words[0]) if begin[1] == "commands" else options(text, nested):
            out += entry
            if key in kept:
                out += [MORE, *kept.pop(key)]
        out.append(END)
        if kept:
            raise PageError(f"{page.name}: {begin[2]} --help has no {', '.join(map(str, kept))}, which has a text by hand")
    return "\n".join(out)


def project_version():
    return re.search(r"^project\(nigh\b[^)]*?VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def all_pages():
    return sorted(PAGES.glob("*.[18]"))


class ManPages(unittest.TestCase):
    def test_lists_are_those_of_help(self):
        for page in all_pages():
            with self.subTest(page=page.name):
                old, new = (text.split("\n") for text in (page.read_text(), made(page, BIN, project_version())))
                different = "\n".join(difflib.unified_diff(old, new, page.name, "man_pages.py BIN_DIR --fix", lineterm=""))
                self.assertEqual(different, "")

    def test_each_program_has_its_list(self):
        listed = {page.stem: lists_in(page) for page in all_pages()}
        self.assertIn("options: nighd", listed["nighd"])
        self.assertIn("options: numa-vm", listed["numa-vm"])
        self.assertIn("commands: nigh", listed["nigh"])
        for group, name, _ in entries(help_of(BIN, ["nigh"])):
            if group != "Subcommands" or name in WITHOUT_PAGE:
                continue
            self.assertIn(f"nigh-{name}", listed, "no page")
            lists = listed[f"nigh-{name}"]
            inner = {"bench": self.benchmarks, "sim": self.experiments}.get(name, lambda: self.with_options("nigh", name))()
            for words in inner:
                self.assertIn(f"options: {words}", lists)

    def benchmarks(self):
        return [f"nigh bench {file.name.removeprefix('nigh-bench-')}" for file in (BIN.parent / "libexec/nigh").glob("nigh-bench-*")]

    def experiments(self):
        if not (BIN.parent / "libexec/nigh/nigh-sim").exists():
            return []
        names = [name for group, name, _ in entries(help_of(BIN, ["nigh", "sim"])) if group == "Subcommands"]
        return [words for name in names for words in self.with_options("nigh", "sim", name)]

    def with_options(self, *words):
        """The command itself and those below it, if they have options of their own."""
        text = help_of(BIN, list(words))
        if text is None:
            return []
        found = [" ".join(words)] if options(text, False) else []
        for group, name, _ in entries(text):
            if group == "Subcommands":
                found += self.with_options(*words, name)
        return found

    def test_sections(self):
        names = {page.stem for page in all_pages()}
        for page in all_pages():
            text = page.read_text()
            for section in SECTIONS:
                self.assertIn(f"\n.SH {section}\n", text, page.name)
            for name in re.findall(r"(nighd?|nigh\\-[\w\\-]+|numa\\-vm)(?:\\fR| )\(\d\)", text):
                self.assertIn(name.replace("\\-", "-"), names, page.name)

    @unittest.skipIf(shutil.which("mandoc") is None, "mandoc is not installed")
    def test_mandoc_finds_nothing(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *all_pages()], capture_output=True, text=True)
        self.assertEqual(done.stdout, "")

    @unittest.skipIf(shutil.which("man") is None, "man is not installed")
    def test_man_finds_nothing(self):
        for page in all_pages():
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True, text=True,
                                  env={**os.environ, "MANWIDTH": "80", "MANROFFSEQ": ""})
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)


def lists_in(page):
    return [line.removeprefix('.\\" ') for line in page.read_text().split("\n") if BEGIN.match(line)]


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:] == ["--fix"]:
        for each in all_pages():
            each.write_text(made(each, BIN, project_version()))
    else:
        unittest.main()
