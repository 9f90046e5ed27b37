# SPDX-License-Identifier: Apache-2.0
"""Result lines as docs/results-schema.md has them, checked: anybody may have written the file."""
import math


class Wrong(Exception):
    """One line for a person: which file, which line, what is wrong."""


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_params(value):
    return isinstance(value, dict) and all(isinstance(v, (str, int, float, bool)) or v is None for v in value.values())


class Line:
    """One measured variant. `params` are numbers or words; `counters` numbers or None."""

    def __init__(self, line, where):
        def wrong(what):
            raise Wrong(f"{where}: {what}")

        for key in ("bench", "variant"):
            if not isinstance(line.get(key), str):
                wrong(f"'{key}' is no text")
        self.bench, self.variant = line["bench"], line["variant"]
        self.params = line.get("params", {})
        if not _is_params(self.params):
            wrong("'params' is no object of numbers and words")
        self.absent = line.get("absent")
        self.run = line.get("run") or {}
        if not isinstance(self.run, dict):
            wrong("'run' is no object")
        self.counters = line.get("counters") or {}
        if not isinstance(self.counters, dict):
            wrong("'counters' is no object")
        if self.absent is not None:
            if not isinstance(self.absent, str):
                wrong("'absent' is no text")
            return
        for key in ("metric", "unit"):
            if not isinstance(line.get(key, ""), str):
                wrong(f"'{key}' is no text")
        self.metric, self.unit = line.get("metric", "value"), line.get("unit", "")
        for key in ("median", "min", "max"):
            if not _number(line.get(key)):
                wrong(f"'{key}' is no number")
        self.median, self.low, self.high = line["median"], line["min"], line["max"]
        self.samples = line.get("samples", [])
        if not isinstance(self.samples, list) or not all(_number(s) for s in self.samples):
            wrong("'samples' is no list of numbers")
        for least, most in [(self.low, self.high)] + [(min(self.samples), max(self.samples))] * bool(self.samples):
            if not least <= self.median <= most:
                wrong(f"the median {self.median:g} is not between the least, {least:g}, and the most, {most:g}")
        self.more = {key: line[key] for key in ("undisturbed", "chance", "cut_short") if key in line}

    def counter(self, name):
        value = self.counters.get(name)
        return value if _number(value) else None

    def text_of_params(self, without=()):
        return ", ".join(f"{key} {value}" for key, value in self.params.items() if key not in without)


def lines_of(raw, where):
    return [Line(line, f"{where}, result {number}") for number, line in enumerate(raw, 1)]


def checked_profile(profile, where):
    """The profile of `nigh tune`, as [(what, value)]."""
    if profile.get("nigh_profile") != 1:
        raise Wrong(f"{where}: a profile of another format than 1")
    machine = profile.get("machine", {})
    if not isinstance(machine, dict):
        raise Wrong(f"{where}: 'machine' is no object")
    rows = [("machine", str(machine.get("topology", "not said")))]
    for key in ("threads", "bind", "mem", "schedule"):
        if key in profile:
            if not isinstance(profile[key], (str, int)):
                raise Wrong(f"{where}: '{key}' is neither number nor text")
            rows.append((key, str(profile[key])))
    return rows
