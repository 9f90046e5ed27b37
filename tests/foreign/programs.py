# SPDX-License-Identifier: Apache-2.0
"""A program that others wrote, and how it is run: in a folder of its own, for what it makes."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
LIMIT = 900  # s, for a run on a host that others keep busy
STATE = tempfile.TemporaryDirectory()  # for what nigh learns about the programs: nothing in the user's own folder
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_", "PYTHON"))} | {"XDG_STATE_HOME": STATE.name}


class Program:
    """A command; what it makes is its output and these files. `needs`: files that must be there besides it."""

    def __init__(self, words, inputs=None, before=(), files=(), prints=True, environment=None, needs=()):
        self.words, self.inputs, self.before, self.files = words, inputs or {}, before, files
        self.prints, self.environment, self.needs = prints, environment or {}, needs

    def missing(self):
        return [w for w in (self.words[0], *self.needs) if shutil.which(w) is None and not os.path.exists(w)]

    def run(self, around=(), environment=None):
        """{name: hash} of what it made, and what it said on standard error."""
        variables = {**QUIET, **self.environment, **(environment or {})}
        with tempfile.TemporaryDirectory() as folder:
            for name, content in self.inputs.items():
                pathlib.Path(folder, name).write_bytes(content)
            for words in self.before:
                subprocess.run(words, cwd=folder, env=QUIET, check=True, capture_output=True, timeout=LIMIT)
            done = subprocess.run([*around, *self.words], cwd=folder, env=variables, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=LIMIT, check=False)
            said = done.stderr.decode(errors="replace")
            if done.returncode != 0:
                raise AssertionError(f"{[*around, *self.words]}: {done.returncode}\n{said[-2000:]}")
            made = {"output": done.stdout} if self.prints else {}
            for pattern in self.files:
                found = sorted(pathlib.Path(folder).glob(pattern))
                assert found, f"{self.words} made no {pattern}"
                made.update((f.name, f.read_bytes()) for f in found)
            return {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}, said
