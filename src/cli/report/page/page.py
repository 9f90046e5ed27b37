# SPDX-License-Identifier: Apache-2.0
"""A report's parts as one HTML file that needs no network: style, scripts and data are in it."""
import html
import json
import os

import plotly
from plotly.offline import get_plotlyjs

import look

HERE = os.path.dirname(os.path.abspath(__file__))


def escaped(text):
    """For people: nothing in it is markup, and nothing moves the text around."""
    return html.escape("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in str(text)), quote=True)


def as_json(value):
    """For a script element: '</script>' and '<!--' cannot end it."""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def table(heads, rows, numbers=()):
    """Columns in `numbers` stand right."""
    mark = [' class="n"' if i in numbers else "" for i in range(len(heads))]
    head = "".join(f'<th scope="col"{m}>{escaped(h)}</th>' for m, h in zip(mark, heads))
    body = "".join("<tr>" + "".join(f"<td{m}>{escaped(cell)}</td>" for m, cell in zip(mark, row)) + "</tr>" for row in rows)
    return ('<div class="wide" tabindex="0" role="region" aria-label="Table">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def command(text):
    return (f'<div class="command"><code>{escaped(text)}</code>'
            '<button type="button" class="copy" aria-label="Copy this command">Copy</button></div>')


class Figures:
    """Numbers the figures of a page."""

    def __init__(self):
        self.count = 0

    def html(self, figure, says, caption, numbers=""):
        """`says` is read out where the figure cannot be seen; `numbers` is a table of what is drawn."""
        self.count += 1
        name = f"figure-{self.count}"
        height = figure.layout.height or 340
        more = f"<details><summary>The numbers as a table</summary>{numbers}</details>" if numbers else ""
        return (f'<figure><div class="nigh-plot" id="{name}" role="img" aria-label="{escaped(says)}" style="min-height:{int(height)}px">'
                f'</div><figcaption>{escaped(caption)}</figcaption>{more}</figure>'
                f'<script type="application/json" id="{name}-data">{as_json(figure.to_json())}</script>')


def _file(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def _script(text):
    return text.replace("</script", "<\\/script")


def text_of(title, parts, document):
    """`parts`: the head's HTML, and [(id, heading, HTML)] of the sections."""
    head, sections = parts
    menu = "".join(f'<a href="#{name}">{escaped(heading)}</a>' for name, heading, _ in sections)
    body = "".join(f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{escaped(heading)}</h2>{content}</section>'
                   for name, heading, content in sections)
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    version = escaped(plotly.__version__)
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="generator" content="nigh report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escaped(title)} - nigh report</title>
<style>{_file("page.css")}</style>
</head>
<body>
<header>
<div class="top"><div><h1>{escaped(title)}</h1></div><button type="button" id="theme">Dark page</button></div>
{head}
<nav aria-label="Parts of this report">{menu}</nav>
</header>
<main>{body}</main>
<footer><p>Made by nigh report with plotly {version}. This file needs no network.</p></footer>
<script type="application/json" id="nigh-data">{as_json(document)}</script>
<script type="application/json" id="nigh-dark">{as_json(look.DARK)}</script>
<script>{_script(get_plotlyjs())}</script>
<script>{_script(_file("page.js"))}</script>
</body>
</html>
"""
