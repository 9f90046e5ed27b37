#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a file against the Chrome trace event format, as far as nigh uses it: check_trace.py FILE

Prints the tracks and the number of tasks, or what is wrong, and exits 1 then.
"""
import collections
import json
import sys

REQUIRED = {
    "X": {"name", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "pid", "tid", "ts", "s", "args"},
    "C": {"name", "pid", "tid", "ts", "args"},
    "M": {"name", "pid", "tid", "args"},
}


def check(condition, message):
    if not condition:
        sys.exit(message)


def check_nesting(spans):
    """Begin and end in nanoseconds; complete events of a thread must nest."""
    open_ends = []
    for begin, minus_end in sorted((begin, -end) for begin, end in spans):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        check(not open_ends or -minus_end <= open_ends[-1], f"spans overlap at {begin} ns")
        open_ends.append(-minus_end)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    check(trace["displayTimeUnit"] == "ns", "the unit of times is missing")
    names = {}
    spans = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        kind = event["ph"]
        check(kind in REQUIRED and REQUIRED[kind] <= event.keys(), f"malformed: {event}")
        check(event["pid"] > 0 and event["tid"] > 0, f"not a process or thread: {event}")
        check(event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0, f"before the beginning: {event}")
        if kind == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        elif kind == "X":
            begin = round(event["ts"] * 1000)
            spans[event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
        elif kind == "i":
            check(event["s"] == "t", f"an instant of no thread: {event}")
            if event["name"] == "steal":
                check({"victim", "level", "tasks"} <= event["args"].keys(), f"steal: {event}")
        elif kind == "C":
            check(all(isinstance(v, int) for v in event["args"].values()), f"counter: {event}")
    for of_thread in spans.values():
        check_nesting(of_thread)
    check(spans.keys() <= names.keys(), "a thread without a name")
    print("tracks: " + ", ".join(sorted(name.split()[0] for name in names.values())))
    print(f"tasks created: {trace['otherData']['created']}")


if __name__ == "__main__":
    main()
