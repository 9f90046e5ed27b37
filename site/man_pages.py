# SPDX-License-Identifier: Apache-2.0
"""Pages on commands: the man pages, as mandoc turns them into HTML."""

import re
import subprocess



def sections(man_page):
    """[(heading, HTML)] of a man page."""
    html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(man_page)], capture_output=True, text=True, check=True).stdout
    found = re.findall(r'<h1 class="Sh"[^>]*>.*?>(.*?)</a></h1>\n(.*?)</section>\n(?=<section class="Sh">|</div>)', html, re.DOTALL)
    plain = []
    for heading, body in found:
        body = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", body, flags=re.DOTALL)
        body = re.sub(r' id="[^"]*"', "", body)  # sections of several pages stand on one
        body = re.sub(r'<h2 class="Ss">(.*?)</h2>', r"<h3>\1</h3>", body, flags=re.DOTALL)
        plain.append((re.sub(r"\s+", " ", heading).capitalize(), body.strip()))
    return plain


def as_markdown(heading, body):
    """A blank line in raw HTML would end it, other than in <pre>, where Markdown keeps it."""
    return f"## {heading}\n\n<div class=\"man\">\n{body}\n</div>\n"


def linked(body, names, here):
    """The names of other man pages become links."""
    def link(match):
        name = match.group(1)
        return f'<a href="../{name}/"><b>{name}</b>({match.group(2)})</a>' if name in names and name != here else match.group(0)

    return re.sub(r"<b>([\w-]+)</b>\((\d)\)", link, body)


def pages(folder):
    """{command: page}"""
    files = {file.stem: file for file in sorted(folder.glob("*.[18]"))}
    found = {}
    for name, file in files.items():
        words = name.replace("nigh-", "nigh ") if name.startswith("nigh-") else name
        out = [f"# `{words}`\n"]
        for heading, body in sections(file):
            body = linked(body, files, name)
            if heading == "Name":
                out.append(re.sub(r"<[^>]*>", "", body).partition(" - ")[2].strip().capitalize() + ".\n")
                continue
            out.append(as_markdown(heading, body))
        found[name] = "\n".join(out)
    return found
