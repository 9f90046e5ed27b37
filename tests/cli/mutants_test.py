#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files with a few wrong values each, for the commands that read them:
mutants_test.py NIGH CORPUS [--mutants N] [--seed N] [KIND...]

Takes the files of tests/fuzz/corpus and changes numbers and words in them; the structure mostly stays, so
that readers get behind the parser. Each command must end by itself with status 0, 1, 2 or 125, and with a line
that says why if it is not 0. Prints how many of each kind were taken."""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

BORDER = b"=== rank\n"
ODD = [b"0", b"-1", b"1", b"2", b"7", b"64", b"65", b"1024", b"65536", b"2147483647", b"2147483648",
       b"4294967296", b"9223372036854775807", b"18446744073709551615", b"18446744073709551616", b"1e308", b"0.5",
       b"1e-320", b"", b"\xff", b"null", b"\x1b[2J"]
VALUE = re.compile(rb'"[^"\n]{0,200}"|-?[0-9][0-9.]*')
REPLAY = ["sim", "run", "--machine", "nehalem-2x4", "--policy", "near", "--seeds", "1", "--trace", "{}"]
# Each kind: the corpus it begins with, how the command names the file, and what it is called.
KINDS = {
    "region_profile": (["profile", "show", "--json"], "x-27c4fd7b4eb79b1c.json"),
    "tuned_profile": (["run", "--force", "--profile", "{}", "--", "true"], "file.json"),
    "machine": (["sim", "run", "--policy", "near", "--seeds", "1", "--trace", "TRACE", "--machine", "{}"], "file.json"),
    "recorded_trace": (REPLAY, "file.json"),
    "topology_xml": (["topo", "--json", "--xml", "{}"], "file.xml"),
    "rank_traces": (["trace", "--merge", "--output", "all.json"], "file"),
}


def mutant(text, dice):
    """The text with up to three values changed; now and then a byte, or a line that is gone or comes twice."""
    for _ in range(dice.choice((1, 1, 2, 3))):
        values = list(VALUE.finditer(text))
        how = dice.random()
        if how < 0.1 or not values:
            at = dice.randrange(len(text) or 1)
            text = text[:at] + bytes([dice.randrange(256)]) + text[at + 1:]
        elif how < 0.2:
            lines = text.split(b"\n")
            at = dice.randrange(len(lines))
            lines[at:at + 1] = [lines[at]] * dice.choice((0, 2))
            text = b"\n".join(lines)
        else:
            value = dice.choice(values)
            old, new = value.group(), dice.choice(ODD)
            if how < 0.4:
                new = dice.choice(values).group()
            elif old.startswith(b'"'):
                new = b'"' + new + b'"'
            elif how < 0.6:
                new = bytes(dice.choice(b"0123456789") if 48 <= c < 58 else c for c in old)
            text = text[:value.start()] + new + text[value.end():]
    return text


class Mutants:
    def __init__(self, nigh, corpus, folder):
        self.nigh, self.corpus, self.folder = nigh, corpus, pathlib.Path(folder)
        quiet = {name: value for name, value in os.environ.items() if not name.startswith("NIGH_")}
        self.environment = quiet | {"NIGH_PROFILES": folder, "NIGH_COORDINATOR": "none"}

    def words(self, kind, text):
        words, name = KINDS[kind]
        words = [str(self.corpus / "recorded_trace" / "jacobi-100.json") if w == "TRACE" else w for w in words]
        if kind != "rank_traces":
            (self.folder / name).write_bytes(text)
            return [str(self.folder / name) if w == "{}" else w for w in words]
        parts = [part for part in text.split(BORDER) if part]
        for i, part in enumerate(parts):
            (self.folder / f"{i}.rank").write_bytes(part)
            words = words + [str(self.folder / f"{i}.rank")]
        return words

    def play(self, kind, count, seed):
        """How many were taken. Ends at the first that breaks a promise."""
        dice = random.Random(f"{kind} {seed}")
        seeds = [file.read_bytes() for file in sorted((self.corpus / kind).iterdir())]
        taken = 0
        for i in range(count):
            text = mutant(dice.choice(seeds), dice)
            done = subprocess.run([self.nigh, *self.words(kind, text)], env=self.environment, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
            said = done.stderr.decode(errors="replace")
            if done.returncode not in (0, 1, 2, 125) or (done.returncode != 0 and not said.startswith("nigh")):
                kept = pathlib.Path(tempfile.gettempdir()) / f"nigh-mutant-{kind}-{seed}-{i}"
                kept.write_bytes(text)
                raise SystemExit(f"{kind}, mutant {i} of seed {seed}, kept as {kept}: status {done.returncode}\n{said}")
            if "\x1b" in said + done.stdout.decode(errors="replace"):
                raise SystemExit(f"{kind}, mutant {i} of seed {seed}: an escape sequence reached the terminal")
            taken += done.returncode == 0
        return taken


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("nigh")
    arguments.add_argument("corpus", type=pathlib.Path)
    arguments.add_argument("--mutants", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments.add_argument("kinds", nargs="*", metavar="KIND")
    given = arguments.parse_intermixed_args()
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder:
        for file in (given.corpus.resolve().parents[1] / "data" / "topology").glob("*.xml"):  # which machines name
            shutil.copy(file, folder)
        mutants = Mutants(os.path.abspath(given.nigh), given.corpus.resolve(), folder)
        for kind in given.kinds or KINDS:
            taken = mutants.play(kind, given.mutants, given.seed)
            print(f"{kind:16}{given.mutants:6} mutants, {taken:5} taken", flush=True)


if __name__ == "__main__":
    sys.exit(main())
