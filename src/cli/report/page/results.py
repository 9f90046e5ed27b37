# SPDX-License-Identifier: Apache-2.0
"""The sections about files of results: `nigh bench`, `nigh sim`, `nigh profile`, `nigh tune`."""
import math
import os

import plotly.graph_objects as go

import look
import page
import regions
from data import checked_profile, lines_of

MOST_BARS = 40
MOST_PANELS = 6
MOST_CURVES = 10


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def value_text(value):
    return f"{value:.4g}"


def params_that_differ(lines):
    keys = list(dict.fromkeys(key for line in lines for key in line.params))
    return [key for key in keys if len({line.params.get(key) for line in lines}) > 1]


def axis_of(lines, differ):
    """The parameter to draw along: one with several numbers for the same variant; threads if they are."""
    best, most = None, 1
    for key in differ:
        values = {}
        for line in lines:
            if is_number(line.params.get(key)):
                values.setdefault(line.variant, set()).add(line.params[key])
        widest = max((len(v) for v in values.values()), default=0)
        if widest > 1 and key == "threads":
            return key
        if widest > most:
            best, most = key, widest
    return best


def panel_key(lines, differ, across):
    """Words that tell problems apart, such as a class, a machine or a size: a figure for each."""
    keys = [key for key in differ if key != across and
            len({line.variant for line in lines}) > 1 and
            all(len({l.params.get(key) for l in lines if l.variant == v}) > 1 for v in {line.variant for line in lines[:1]})]
    return keys[:2]


def needed(keys, lines, across):
    """Of parameters that differ, those without which two measurements of a curve would have one place."""
    def clash(chosen):
        places = [(line.variant, line.params.get(across), *(line.params.get(key) for key in chosen)) for line in lines]
        return len(set(places)) < len(places)
    kept = list(keys)
    for key in ["times", "seed", *reversed(keys)]:
        less = [k for k in kept if k != key]
        if key in kept and (not clash(less) or clash(kept)):
            kept = less
    return kept


def number_table(lines):
    differ = params_that_differ(lines)
    rows = [[line.variant, *(line.params.get(key, "") for key in differ), value_text(line.median), value_text(line.low),
             value_text(line.high), line.unit] for line in lines]
    first = 1 + len(differ)
    return page.table(["variant", *differ, "median", "least", "most", "unit"], rows, {first, first + 1, first + 2})


def bars(figures, lines, differ, what, title, table=number_table):
    shown = lines[:MOST_BARS][::-1]
    names = [", ".join([line.variant, *(f"{key} {line.params[key]}" for key in differ if key in line.params)]) for line in shown]
    for i, name in enumerate(names):  # one row for each
        if name in names[:i]:
            names[i] = f"{name} ({i + 1})"
    names = [look.words(name) for name in names]
    trace = go.Bar(x=[line.median for line in shown], y=names, orientation="h", marker=dict(color=look.SERIES[0]),
                   error_x=dict(type="data", symmetric=False, array=[line.high - line.median for line in shown],
                                arrayminus=[line.median - line.low for line in shown], thickness=1, width=3, color=look.FAINT),
                   hovertemplate="%{y}: %{x:.4g}<extra></extra>")
    figure = look.figure([trace], look.axis(what, rangemode="tozero"), look.axis(""),
                         height=90 + 24 * len(shown), showlegend=False)
    least, most = min(shown, key=lambda l: l.median), max(shown, key=lambda l: l.median)
    says = (f"Bars: {what} of {len(shown)} variants, from {value_text(least.median)} ({least.variant}) to "
            f"{value_text(most.median)} ({most.variant}).")
    left = f" {len(lines) - MOST_BARS} more are in the table." if len(lines) > MOST_BARS else ""
    return figures.html(figure, says, f"{title}: median, with the least and the most.{left}", table(lines))


def curves(figures, lines, differ, across, what, title):
    others = needed([key for key in differ if key != across], lines, across)
    groups = {}
    for line in lines:
        if is_number(line.params.get(across)):
            groups.setdefault((line.variant, *(line.params.get(key) for key in others)), []).append(line)
    names = {key: ", ".join([key[0], *(f"{k} {v}" for k, v in zip(others, key[1:]) if v is not None)]) for key in groups}
    traces = []
    for number, (key, mine) in enumerate(list(groups.items())[:MOST_CURVES]):
        mine.sort(key=lambda line: line.params[across])
        traces.append(go.Scatter(
            x=[line.params[across] for line in mine], y=[line.median for line in mine], name=look.words(names[key]),
            mode="lines+markers",
            line=dict(color=look.series(number), width=2, dash="solid" if number < len(look.SERIES) else "dash"),
            marker=dict(size=6, symbol=number),
            error_y=dict(type="data", symmetric=False, array=[l.high - l.median for l in mine],
                         arrayminus=[l.median - l.low for l in mine], thickness=1, width=3),
            hovertemplate=f"%{{fullData.name}}<br>{page.escaped(across)} %{{x}}: %{{y:.4g}}<extra></extra>"))
    points = sorted({line.params[across] for line in lines if is_number(line.params.get(across))})
    is_wide = points[0] > 0 and points[-1] / points[0] > 30
    along = look.axis(across, **(dict(type="log") if is_wide else dict(tickvals=points) if len(points) <= 12 else {}))
    figure = look.figure(traces, along, look.axis(what, rangemode="tozero"), height=400, showlegend=True)
    says = f"Lines: {what} by {across} of {len(traces)} variants: " + ", ".join(list(names.values())[:MOST_CURVES]) + "."
    left = f" {len(groups) - MOST_CURVES} more are in the table." if len(groups) > MOST_CURVES else ""
    return figures.html(figure, says, f"{title}: median by {across}, with the least and the most.{left}", number_table(lines))


def measured(figures, lines, title):
    """One metric of one benchmark: figures for each problem, curves where a number varies, else bars."""
    what = lines[0].metric.replace("_", " ") + (f", {lines[0].unit}" if lines[0].unit else "")
    differ = params_that_differ(lines)
    across = axis_of(lines, differ)
    panels = {}
    keys = panel_key(lines, needed(differ, lines, across) if across else differ, across)
    for line in lines:
        panels.setdefault(tuple(line.params.get(key) for key in keys), []).append(line)
    text = ""
    for values, mine in list(panels.items())[:MOST_PANELS]:
        name = ", ".join(f"{key} {value}" for key, value in zip(keys, values) if value is not None) or title
        own = params_that_differ(mine)
        along = axis_of(mine, own)
        drawn = (curves(figures, mine, own, along, what, name) if along
                 else bars(figures, mine, needed(own, mine, None), what, name))
        text += f"<div><h4>{page.escaped(name)}</h4>{drawn}</div>" if keys else drawn
    if min(len(panels), MOST_PANELS) > 1:
        text = f'<div class="panels">{text}</div>'
    rest = [line for mine in list(panels.values())[MOST_PANELS:] for line in mine]
    if rest:
        more = len(panels) - MOST_PANELS
        text += f"<details><summary>{more} further problems, as a table</summary>{number_table(rest)}</details>"
    return text


def ranking(figures, lines):
    """`nigh tune`: the configurations, best first as the file has them."""
    shown = [line for line in lines if line.absent is None]
    for line in shown:
        if not is_number(line.more.get("undisturbed")):
            line.more["undisturbed"] = line.median
    what = shown[0].metric + (f", {shown[0].unit}" if shown[0].unit else "")
    is_repeated = len(shown[0].samples) > 1  # else a chance says nothing
    rows = [[line.variant, value_text(line.more["undisturbed"]), value_text(line.low), value_text(line.high), len(line.samples),
             f"{line.more['chance']:.0%}" if is_repeated and is_number(line.more.get("chance")) else "-"] for line in shown]
    doubt = "" if is_repeated else ("<p>The best ran once, so that it is the best is not sure: more <code>--repetitions</code>, or a "
                                    "longer <code>--budget</code>, would tell.</p>")
    return (bars(figures, shown, [], what, "Configurations", table=lambda _: "") + doubt
            + page.table(["options of nigh run", "undisturbed", "least", "most", "runs", "chance to be best"], rows, {1, 2, 3, 4, 5}))


def run_of(lines):
    run = next((line.run for line in lines if line.run), {})
    words = [str(run[key]) for key in ("machine", "topology", "compiler", "date") if key in run]
    text = f'<p class="note">{page.escaped("; ".join(words))}</p>' if words else ""
    others = max((line.run["others_cpus"] for line in lines if is_number(line.run.get("others_cpus"))), default=0)
    if others >= 0.5:
        text += f"<p>Others kept {others:.1f} cpus busy meanwhile, so a time may be longer than the program needs.</p>"
    return text


def of_lines(figures, lines):
    groups = {}
    for line in lines:
        groups.setdefault(line.bench, []).append(line)
    text = run_of(lines)
    for bench, mine in groups.items():
        if len(groups) > 1:
            text += f"<h3>{page.escaped(bench)}</h3>"
        there = [line for line in mine if line.absent is None]
        missing = [line for line in mine if line.absent is not None]
        if bench == "profile":
            text += regions.html(figures, there)
        elif bench == "tune" and there:
            text += ranking(figures, there)
        else:
            for metric in dict.fromkeys((line.metric, line.unit) for line in there):
                text += measured(figures, [l for l in there if (l.metric, l.unit) == metric], bench)
        if missing:
            text += page.table(["not measured", "why"], [[line.variant, line.absent] for line in missing])
    return text


def of_profile(profile, name):
    rows = checked_profile(profile, name)
    return ('<p class="note">The configuration that nigh tune found best.</p>' + page.table(["what", "value"], rows)
            + page.command(f"nigh run --profile {name} -- PROGRAM"))


def sections(document):
    figures = page.Figures()
    found = []
    for number, file in enumerate(document["files"], 1):
        name = file["name"]
        text = of_profile(file["profile"], name) if "profile" in file else of_lines(figures, lines_of(file["lines"], name))
        found.append((f"file-{number}", os.path.basename(name), text))
    return f'<p class="faint">{page.escaped(", ".join(f["name"] for f in document["files"]))}</p>', found
