#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages show only what works: every command of README.md, docs/ and the READMEs of folders is run here, in the order of
its page, as installed, and prints what its page shows.

    commands_test.py BUILD [--set short|full] [--page PAGE]... [--at-most SECONDS] [--cmake CMAKE] [-v] [--list]

BUILD is installed to a prefix that is moved then. Each page has a folder of its own, with a home, a nighd, and links that
make it look like a clone of the repository where `build/release` is the prefix. A command that is in no table of
known_commands.py is run as it stands, has 60 seconds, must exit with 0, and must print the lines of its page (shown.py tells
which differences do not count); so a new page is covered as it is written. known_commands.py tells how to add one that is to
be run otherwise. An entry there that no page has any more is a failure, too."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import installed  # noqa: E402
import known_commands  # noqa: E402
import shown  # noqa: E402

ROOT = shown.ROOT
LINKED = ("include", "lab", "machines", "scripts", "src", "tests", "share")  # what commands name of a clone


def all_commands(only=()):
    found = []
    for page in shown.pages():
        if not only or str(page.relative_to(ROOT)) in only:
            found += shown.commands(page)
    return found


class Page:
    """A page's folder."""

    at_most = None  # seconds for one command, which is not judged then

    def __init__(self, place, name):
        self.place = place
        self.here = place.folder(re.sub(r"\W", "-", name))
        for folder in LINKED:
            (self.here / folder).symlink_to(ROOT / folder)
        (self.here / "build").mkdir()
        (self.here / "build/dev").symlink_to(place.build)
        (self.here / "build/release").symlink_to(place.prefix)
        (self.here / "libexec").symlink_to(place.prefix / "libexec")
        (self.here / "docs/results").mkdir(parents=True)
        for example in filter(pathlib.Path.is_file, (ROOT / "docs/examples").iterdir()):
            shutil.copy(example, self.here)
        environment = place.environment(self.here)
        self.nighd = subprocess.Popen([place.prefix / "bin/nighd", "--foreground"], env=environment, cwd=self.here,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.shell = installed.Shell(self.here, environment)
        self.block = None
        socket = self.here.parent / "run/nigh/nighd.sock"
        until = time.monotonic() + 10
        while not socket.exists() and time.monotonic() < until:
            time.sleep(0.02)

    def close(self):
        self.shell.end()
        self.nighd.terminate()
        self.nighd.wait()

    def stand_in(self, text):
        """Puts programs and files that the page does not make where a command of it looks for them."""
        for name, source in known_commands.STAND_INS.items():
            if re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text.replace("./", "")) and not (self.here / name).exists():
                self.provide(name, source)

    def provide(self, name, source):
        to = self.here / name
        if callable(source):
            to.write_text(source(), encoding="utf-8")
            to.chmod(0o755)
            return
        source, *options = source.split()
        path = {"prefix": self.place.prefix, "build": self.place.build}.get(source.partition("/")[0])
        path = path / source.partition("/")[2] if path else ROOT / source
        if not options:
            shutil.copy(path, to)
            return
        kept = self.place.work / f"stand-in-{pathlib.Path(source).name}"
        if not kept.exists():
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "nigh"], capture_output=True, text=True, check=True,
                                   env=self.place.environment(self.here)).stdout.split()
            installed.compiled(source, kept, *options, *flags)
        shutil.copy(kept, to)

    def with_folders(self, text):
        for name, folder in (("prefix", self.place.prefix), ("build", self.place.build), ("root", ROOT)):
            text = text.replace(f"{{{name}}}", str(folder))
        return text

    def run(self, command, how):
        """What is wrong, or None."""
        if how.needs and not (ROOT / self.with_folders(how.needs)).exists():
            return f"needs {how.needs}" if "NIGH_REQUIRE_PROGRAMS" in os.environ else "skipped"
        if command.block != self.block:
            self.shell.end()
            self.shell.go_back()
            self.block = command.block
        match = re.fullmatch(r"cat ([\w.-]+)", command.text)
        if match and not (self.here / match[1]).exists():
            (self.here / match[1]).write_text("\n".join(command.output) + "\n", encoding="utf-8")
        text = known_commands.run_as(command, how)
        self.stand_in(text)
        text = self.with_folders(text)
        if "| tee " in text:
            text = f"set -o pipefail -e; {text}"  # tee always succeeds
        status, made = self.shell.run(text, min(how.seconds, self.at_most or how.seconds))
        if status is None and self.at_most and self.at_most < how.seconds:
            return "skipped"
        told = "".join(f"\n    | {line}" for line in made.splitlines()[-40:])
        if status is None:
            return f"runs for more than {how.seconds} s: {text}{told}"
        if status == 77 and how.may_skip:
            return "skipped"
        if status != how.status:
            return f"exits with {status}, not {how.status}: {text}{told}"
        wrong = how.compare(command.output, made.splitlines(), how.aside) if how.compare and command.output else None
        return f"{wrong}\n  by: {text}{told}" if wrong else None


def complaint_elsewhere(how):
    """The other test must be there, and have the words of the command."""
    path, words = how.elsewhere
    if not path.startswith("tests/") and path not in ("test.sh", ".ci/run"):
        return f"{path}, which should run it, is no test"
    if not (ROOT / path).exists():
        return f"{path}, which should run it, is no file"
    text = (ROOT / path).read_text(encoding="utf-8")
    lacking = [word for word in words if word not in text]
    return f"{path}, which should run it, does not have: {lacking[0]}" if lacking else None


def run_page(place, name, commands, verbose, wanted):
    """(how many were run, how many another test runs, [complaints])"""
    page, ran, elsewhere, wrong = None, 0, 0, []
    for command in commands:
        how = known_commands.how(command)
        began = time.monotonic()
        if how.nowhere:
            print(f"not run: {name}:{command.line}: {command.text}: {how.nowhere}")
            continue
        if how.elsewhere:
            elsewhere += 1
            problem = complaint_elsewhere(how)
        elif how.full and wanted == "short":
            continue
        else:
            ran += 1
            page = page or Page(place, name)
            problem = page.run(command, how)
        took = time.monotonic() - began
        if verbose:
            print(f"{took:6.1f} s {'ok  ' if not problem else problem[:7]} {name}:{command.line}: {command.text[:100]}", flush=True)
        if problem and problem != "skipped":
            wrong.append(f"{name}:{command.line}: $ {command.text}\n  {problem}")
    if page:
        page.close()
    return ran, elsewhere, wrong


def stale(commands):
    """Entries of the tables that no page has."""
    there = {command.text for command in commands}
    gone = [text for text in known_commands.KNOWN if text.partition(" => ")[0] not in there]
    gone += [pattern for pattern, _ in known_commands.FAMILIES if not any(re.search(pattern, text) for text in there)]
    return [f"known_commands.py: no page has: {text}" for text in gone]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--set", choices=("short", "full"), default="short", dest="wanted")
    parser.add_argument("--page", action="append", default=[], help="only this one, such as docs/run.md")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--at-most", type=float, metavar="SECONDS", help="end what takes longer, and do not judge it")
    parser.add_argument("--list", action="store_true", help="tell what is run how, and run nothing")
    parser.add_argument("-v", action="store_true", dest="verbose")
    given = parser.parse_args()
    Page.at_most = given.at_most
    commands = all_commands(given.page)
    if given.list:
        for command in commands:
            how = known_commands.how(command)
            where = how.elsewhere[0] if how.elsewhere else "full" if how.full else "short"
            print(f"{where:<36} {command.page}:{command.line}: {command.text}")
        return 0
    wrong = [] if given.page else stale(commands)
    ran = elsewhere = 0
    os.environ.pop("NIGH_SOCKET", None)
    began = time.monotonic()
    with installed.Installed(given.build, given.cmake) as place:
        for name in dict.fromkeys(command.page for command in commands):
            did, other, problems = run_page(place, name, [c for c in commands if c.page == name], given.verbose, given.wanted)
            ran, elsewhere, wrong = ran + did, elsewhere + other, wrong + problems
    print("\n".join(wrong))
    print(f"{len(commands)} commands: {ran} run here in {time.monotonic() - began:.0f} s, {elsewhere} by other tests; "
          f"{len(wrong)} complaints")
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
