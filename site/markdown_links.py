# SPDX-License-Identifier: Apache-2.0
"""Links and anchors of pages in Markdown, for the site and for the test of links; needs no package."""

import re

FENCE = re.compile(r"^\s*(```+|~~~+)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


def blanked(page):
    """The page with code in spaces, so that every other character keeps its place."""
    lines, fence = [], None
    for line in page.split("\n"):
        mark = FENCE.match(line)
        if fence or mark:
            if mark:
                fence = None if fence == mark.group(1) else fence or mark.group(1)
            line = " " * len(line)
        lines.append(line)
    return CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group(0)), "\n".join(lines))


def links(page):
    """[(start, end, line number, is an image, text, target)]; the text is as it is in the page."""
    found = []
    for match in LINK.finditer(blanked(page)):
        start, end = match.span()
        text = page[match.start(2):match.end(2)]
        found.append((start, end, page.count("\n", 0, start) + 1, bool(match.group(1)), text, match.group(3)))
    return found


def slug(heading, separator="-"):
    """The anchor that GitHub gives a heading: links work there and on the site."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def headings(page):
    """[(level, text)] of a page."""
    without_code, found = blanked(page).split("\n"), []
    for line, shown in zip(page.split("\n"), without_code):
        match = HEADING.match(line) if shown.startswith("#") else None
        if match:
            found.append((len(match.group(1)), match.group(2)))
    return found


def anchors(page):
    """The anchors of a page; a second heading of the same words gets -1 as its end."""
    found = []
    for _, text in headings(page):
        one, number = slug(text), 0
        while one + (f"-{number}" if number else "") in found:
            number += 1
        found.append(one + (f"-{number}" if number else ""))
    return found


def title(page):
    """The text of the first heading."""
    return next((text for _, text in headings(page)), "")


def navigation(configuration):
    """The pages and folders that the `nav` of mkdocs.yml names; a folder ends with a slash."""
    nav = configuration.partition("\nnav:\n")[2]
    nav = re.split(r"\n(?=\S)", nav, maxsplit=1)[0]
    return re.findall(r"(?<=[\s:])[\w./-]+(?:\.md|/)(?=\s|$)", nav)
