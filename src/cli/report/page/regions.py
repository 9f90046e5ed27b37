# SPDX-License-Identifier: Apache-2.0
"""What `nigh profile` measured: the time of a program's parallel regions, and their speedup by threads."""
import plotly.graph_objects as go

import look
import page
from data import Wrong

MOST_CURVES = 8
MOST_ROWS = 40
WORTH_A_CURVE = 0.01  # of the time


class Region:
    def __init__(self, lines):
        self.lines = sorted(lines, key=lambda line: line.params["threads"])
        first = self.lines[0]
        self.where = first.variant
        self.function = str(first.params.get("function", "")).split("::")[-1]
        self.name = self.where + (f" {self.function}" if self.function and first.params.get("line") else "")
        self.share = first.counter("share") or 0.0
        self.maximum, self.optimal = first.counter("maximum"), first.counter("optimal")
        self.last = self.lines[-1]

    def seconds(self, line):
        """In one run of the program."""
        return 1e-9 * line.median * (line.counter("runs") or 0) / max(1, len(line.samples))

    def speedup(self, line):
        return line.counter("speedup") or 0.0

    def speedup_text(self, line):
        """Without times of one thread there is nothing to compare with."""
        return f"{self.speedup(line):.2f}" if self.lines[0].params["threads"] == 1 else "-"


def duration(ns):
    for most, unit, by in ((1e3, "ns", 1), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if ns < most:
            return f"{ns / by:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def regions_of(lines):
    groups = {}
    for line in lines:
        if line.absent is None and "region" in line.params:
            if not isinstance(line.params.get("threads"), int):
                raise Wrong(f"{line.variant}: 'threads' is no number")
            groups.setdefault((line.params.get("program"), line.params["region"]), []).append(line)
    found = [Region(group) for group in groups.values()]
    names = [region.name for region in found]
    for region in found:  # instances of a template, or one program beside another
        if names.count(region.name) > 1:
            region.name += f" {region.lines[0].params['region']}"
    return sorted(found, key=lambda region: -region.share)


def time_figure(figures, found):
    shown = found[:MOST_ROWS][::-1]
    seconds = [region.seconds(region.last) for region in shown]
    bars = go.Bar(x=seconds, y=[look.words(region.name) for region in shown], orientation="h", marker=dict(color=look.SERIES[0]),
                  customdata=[[r.last.params["threads"], r.last.counter("runs") or 0, duration(r.last.median)] for r in shown],
                  hovertemplate="%{y}<br>%{x:.4g} s with %{customdata[0]} threads<br>%{customdata[2]} each time<extra></extra>")
    figure = look.figure([bars], look.axis("seconds in one run of the program"), look.axis(""),
                         height=90 + 30 * len(shown), showlegend=False)
    longest = max(found, key=lambda region: region.seconds(region.last))
    says = (f"Bars: the time of {len(shown)} parallel regions in one run. The longest is {longest.name} with "
            f"{longest.seconds(longest.last):.3g} seconds.")
    return figures.html(figure, says, "Time of each parallel region in one run of the program, with its largest team.")


def scaling_figure(figures, found):
    scaled = [r for r in found if len(r.lines) > 1]
    shown = [r for r in scaled if r.share >= WORTH_A_CURVE][:MOST_CURVES] or scaled[:1]
    sizes = sorted({line.params["threads"] for region in shown for line in region.lines})
    traces = [go.Scatter(x=sizes, y=sizes, mode="lines", name="ideal", line=dict(color=look.FAINT, width=1, dash="dot"),
                         hoverinfo="skip")]
    for number, region in enumerate(shown):
        ups = [region.speedup(line) for line in region.lines]
        high = [up * line.median / line.low - up if line.low > 0 else 0 for up, line in zip(ups, region.lines)]
        low = [up - up * line.median / line.high if line.high > 0 else 0 for up, line in zip(ups, region.lines)]
        traces.append(go.Scatter(
            x=[line.params["threads"] for line in region.lines], y=ups, mode="lines+markers", name=look.words(region.name),
            line=dict(color=look.series(number), width=2.2), marker=dict(size=7, symbol=number),
            error_y=dict(type="data", symmetric=False, array=high, arrayminus=low, thickness=1, width=3),
            customdata=[duration(line.median) for line in region.lines],
            hovertemplate="%{fullData.name}<br>%{x} threads: %{y:.2f} times as fast, %{customdata}<extra></extra>"))
    top = 1.08 * max([sizes[-1], *(region.speedup(line) for region in shown for line in region.lines)])
    figure = look.figure(traces, look.axis("threads", tickvals=sizes), look.axis("speedup", range=[0, top]), height=400)
    says = "Lines: speedup by threads. " + " ".join(
        f"{r.name}: {r.speedup(r.last):.2f} times as fast with {r.last.params['threads']} threads." for r in shown)
    return figures.html(figure, says, "Speedup of the regions with most of the time, against one thread; bars reach from "
                        "the slowest to the fastest run.", region_table(found))


def region_table(found):
    rows = []
    for region in found[:MOST_ROWS]:
        for line in region.lines:
            rows.append([region.where, region.function, line.params["threads"], duration(line.median),
                         region.speedup_text(line), line.counter("runs") or 0, len(line.samples)])
    return page.table(["region", "function", "threads", "time", "speedup", "times begun", "runs"], rows, {2, 3, 4, 5, 6})


def counts_table(found):
    def said(count):
        return "-" if count is None else f"{count:g}"
    rows = [[r.where, r.function, f"{100 * r.share:.1f}%", duration(r.last.median), r.speedup_text(r.last),
             r.last.params["threads"], said(r.optimal), said(r.maximum)] for r in found[:MOST_ROWS]]
    return page.table(["region", "function", "share of the time", "takes", "speedup", "with threads", "optimal", "maximum"],
                      rows, {2, 3, 4, 5, 6, 7})


def html(figures, lines):
    found = regions_of(lines)
    if not found:
        return "<p>No parallel region was measured.</p>"
    text = counts_table(found)
    if len(found) > MOST_ROWS:
        text += f'<p class="note">{len(found) - MOST_ROWS} regions with less time are left out here.</p>'
    text += ('<p class="note">Optimal: the largest team whose speedup is within 20% of ideal. Maximum: no larger team saves 3% '
             "of the time.</p>")
    text += time_figure(figures, found)
    if any(len(region.lines) > 1 for region in found):
        text += scaling_figure(figures, found)
    else:
        text += ('<p class="note">Measured with one size of team: the program fixes it, or no run had another '
                 "(--no-scaling, --threads, --budget).</p>")
    return text
