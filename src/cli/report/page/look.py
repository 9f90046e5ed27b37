# SPDX-License-Identifier: Apache-2.0
"""What the figures of a report have in common: colours with a partner each for the dark page, and a quiet layout.

Figures are made in the light page's colours; page.js swaps each for its partner."""
import html

import plotly.graph_objects as go

# Told apart by colour-blind readers (Tol); all have a contrast of 3 to 1 or more with their page.
SERIES = ["#1f6fb2", "#c2571a", "#1e8449", "#a3358f", "#8a6d00", "#c0392b", "#0e7c86", "#5c6470"]
DARK_SERIES = ["#6cb4ee", "#f0975a", "#5fc98b", "#e08ad2", "#d9bf4e", "#f1867a", "#5cc9d3", "#aab3bf"]
TEXT, DARK_TEXT = "#1b2330", "#e6eaf0"
FAINT, DARK_FAINT = "#525d6b", "#a9b3c0"
GRID, DARK_GRID = "#dde2e9", "#333c48"
PAPER, DARK_PAPER = "#ffffff", "#171c24"
# From nothing to all of a cpu.
HEAT, DARK_HEAT = ["#f1f5fa", "#8fbce6", "#1f6fb2", "#0a355c"], ["#1f2733", "#24537d", "#4d9fdf", "#c5e4ff"]
DARK = dict(zip([*SERIES, TEXT, FAINT, GRID, PAPER, *HEAT],
                [*DARK_SERIES, DARK_TEXT, DARK_FAINT, DARK_GRID, DARK_PAPER, *DARK_HEAT]))


def series(number):
    return SERIES[number % len(SERIES)]


def words(text):
    """A name for a figure: plotly reads some markup in text."""
    return html.escape(text, quote=False)


def heat_scale():
    return [[i / (len(HEAT) - 1), colour] for i, colour in enumerate(HEAT)]


def axis(title, **more):
    return dict(title=dict(text=title, font=dict(size=12, color=FAINT)), gridcolor=GRID, linecolor=GRID, zerolinecolor=GRID,
                automargin=True, tickfont=dict(size=11, color=FAINT), **more)


def figure(traces, across, up, height=340, **more):
    layout = dict(height=height, margin=dict(l=8, r=12, t=12, b=8), paper_bgcolor=PAPER, plot_bgcolor=PAPER, template="none",
                  font=dict(family="system-ui, sans-serif", size=12, color=TEXT), hoverlabel=dict(font=dict(size=12)),
                  xaxis=across, yaxis=up, showlegend=sum(bool(t.showlegend is not False) for t in traces) > 1,
                  legend=dict(orientation="h", x=0, y=-0.22, yanchor="top", font=dict(size=11, color=TEXT)))
    layout.update(more)
    return go.Figure(data=traces, layout=layout)
