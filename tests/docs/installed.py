# SPDX-License-Identifier: Apache-2.0
"""nigh installed from a build to a fresh prefix, which is moved then, and folders to try commands and programs in."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from shown import ROOT


class Installed:
    """A prefix and a folder to work in, for a `with` statement."""

    def __init__(self, build, cmake="cmake"):
        self.build = pathlib.Path(build).resolve()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="nigh-docs-"))
        first, self.prefix = self.work / "first", self.work / "prefix"
        done = subprocess.run([cmake, "--install", self.build, "--prefix", first], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"cannot install {build}: {done.stderr}")
        first.rename(self.prefix)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work, ignore_errors=True)

    def folder(self, name):
        """An empty folder with a home beside it."""
        made = self.work / name
        (made / "home").mkdir(parents=True)
        (made / "run").mkdir(mode=0o700)
        (made / "here").mkdir()
        return made / "here"

    def environment(self, here, **more):
        """Of a user who has installed nigh at its prefix, as in /usr/local: compilers, the linker and pkg-config look there."""
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("NIGH_", "OMP_", "GOMP_", "XDG_"))}
        library = str(self.prefix / "lib")
        pkg_config = os.path.dirname(next(self.prefix.rglob("nigh.pc")))
        before = {"PATH": f"{self.prefix}/bin", "LD_LIBRARY_PATH": library, "LIBRARY_PATH": library,
                  "CPATH": f"{self.prefix}/include", "PKG_CONFIG_PATH": pkg_config, "CMAKE_PREFIX_PATH": str(self.prefix)}
        outside.update({name: f"{path}:{outside[name]}" if outside.get(name) else path for name, path in before.items()})
        return {**outside, "HOME": str(here.parent / "home"), "XDG_RUNTIME_DIR": str(here.parent / "run"), "TERM": "dumb",
                # Of the user who runs the test: numa-vm keeps its kernel there.
                "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LC_ALL": "C.UTF-8", **more}


class Shell:
    """Runs commands in one folder, one after the other: what they export and where they go stays; what they leave in the
    background runs until end()."""

    def __init__(self, here, environment):
        self.here, self.environment = here, environment
        self.state = here.parent / "state"
        self.groups = []

    def run(self, command, seconds):
        """(exit status or None when the time was up, stdout and stderr together)"""
        script = (f"[ ! -e {self.state} ] || . {self.state}\n{command}\nstatus=$?\n"
                  f"{{ declare -px; printf 'cd %q\\n' \"$PWD\"; }} >{self.state}\nexit $status\n")
        with tempfile.TemporaryFile("w+", dir=self.here.parent, encoding="utf-8", errors="replace") as output:
            process = subprocess.Popen(["bash", "-c", script], cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            self.groups.append(process.pid)
            try:
                status = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                status = None
                self.end()
                process.wait()
            output.seek(0)
            return status, output.read()

    def go_back(self):
        """To the folder where it began."""
        if self.state.exists():
            with self.state.open("a", encoding="utf-8") as state:
                state.write(f"cd {self.here}\n")

    def end(self):
        """Ends all that was left in the background."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            for group in self.groups:
                try:
                    os.killpg(group, how)
                except ProcessLookupError:
                    continue
            time.sleep(0.05)
        self.groups.clear()


def compiled(source, to, *options):
    """A stand-in, compiled once."""
    compiler = {".c": "gcc", ".f90": "gfortran"}.get(pathlib.Path(source).suffix, "g++")
    subprocess.run([compiler, "-O2", ROOT / source, *options, "-o", to], check=True)
    return to
