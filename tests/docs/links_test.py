#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the links, anchors and images of README.md, CHANGELOG.md and docs, that the site's menu has every page, and that
each page of docs/ says at its beginning what one can do after reading it, and links to at most five others.

    tests/docs/links_test.py [ROOT]

Prints one line per dead link, file:line first, and exits 1 when there is any. First it plants mistakes in a folder of
its own, and fails when it does not find them.
"""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "site"))
import markdown_links  # noqa: E402
import results  # noqa: E402

OPENING = "After reading this page"
HOOK = "site/hook.py"  # names the pages that are made when the site is built
MOST_OTHERS = 5
LISTS = {  # pages that may link to more, and why
    "README.md": "the index of all pages",
    "guide/README.md": "a walk through the other pages",
    "architecture.md": "a table of folders, with the page of each",
    "papers.md": "a table of papers, with the pages that use them",
    "environment.md": "a table of variables, with the page of each",
    "file-formats.md": "a table of formats, with the page of each",
    "results/README.md": "a table of recorded runs, with the page of each",
}


def pages_of(root):
    """The pages whose links are checked, docs/**/*.md among them."""
    outside = [path for pattern in ("*.md", "python/*.md", "src/*/README.md", "lab/*/README.md", "tests/*/README.md") for path in root.glob(pattern)]
    return sorted(outside) + sorted((root / "docs").rglob("*.md"))


def complaints_of(root, page, anchors):
    """[what is wrong] with the links of one page."""
    text, wrong = page.read_text(encoding="utf-8"), []
    for _, _, line, is_image, words, target in markdown_links.links(text):
        where = f"{page.relative_to(root)}:{line}: "
        if is_image and not words.strip():
            wrong.append(f"{where}the image {target} has no text for people who do not see it")
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.is_relative_to(root) or not file.exists():
            wrong.append(f"{where}{target} is no file of this repository")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            wrong.append(f"{where}{path or page.name} has no heading with the anchor #{anchor}")
    return wrong


def others(page):
    """The other pages, files of Markdown, to which a page links; links in code do not count."""
    targets = [target.partition("#")[0] for *_, target in markdown_links.links(page.read_text(encoding="utf-8"))]
    return {(page.parent / path).resolve() for path in targets if path.endswith(".md") and "://" not in path} - {page}


def complaints(root):
    """[what is wrong] with all links and with the menu."""
    known, root = {}, root.resolve()

    def anchors(file):
        if file not in known:
            known[file] = markdown_links.anchors(file.read_text(encoding="utf-8"))
        return known[file]

    wrong = [what for page in pages_of(root) for what in complaints_of(root, page, anchors)]
    menu = markdown_links.navigation((root / "mkdocs.yml").read_text(encoding="utf-8"))
    made = (root / HOOK).read_text(encoding="utf-8")
    for entry in menu:
        if f'"{entry}"' not in made and not (root / "docs" / entry).exists():
            wrong.append(f"mkdocs.yml:1: the menu names {entry}, which is not in docs/ and is not made")
    wrong += complaints_of_figures(root / "docs/results")
    for page in sorted((root / "docs").rglob("*.md")):
        name = page.relative_to(root / "docs").as_posix()
        if name not in menu and name.rpartition("/")[0] + "/" not in menu:
            wrong.append(f"docs/{name}:1: is not in the menu of the site: name it in mkdocs.yml")
        text = page.read_text(encoding="utf-8")
        if not name.startswith("decisions/") and OPENING not in " ".join(text.split("\n")[1:6]):
            wrong.append(f"docs/{name}:1: does not open with '{OPENING} you ...'")
        if name not in LISTS and len(others(page)) > MOST_OTHERS:
            wrong.append(f"docs/{name}:1: links to {len(others(page))} other pages: keep the {MOST_OTHERS} that a reader needs most")
    return wrong


def complaints_of_figures(folder):
    """The page of figures shows each with its command and what it says."""
    readme = (folder / "README.md").read_text(encoding="utf-8")
    command, meaning = results.commands(readme), results.meanings(readme)
    return [f"docs/results/README.md:1: has no {what} for {picture.name}" for picture in sorted(folder.glob("*.svg"))
            for what, there in (("command", picture.name in command), ("row of its table", picture.stem in meaning)) if not there]


FIVE = ("# Five\n\nAfter reading this page you can go [1](a.md) [1](a.md#one-page-two) [2](d/b.md) [3](lost.md) [4](results/README.md)\n"
        "[5](../README.md) [x](https://example.org/x.md) [here](#five) `[y](y.md)`\n")
PLANTED = {
    "README.md": "[a](docs/a.md) [b](docs/none.md) `[c](docs/none.md)`\n",
    "docs/a.md": "# One `page`, *two*\n\nAfter reading this page you can [x](#one-page-two) [y](#three) [z](d/b.md#here--there)\n\n```\n[n](none.md)\n```\n",
    "docs/d/b.md": "# Here & there\n\nAfter reading this page you can go [up](../a.md#one-page-two)\n[out](../../../none.md)\n![](b.svg)\n",
    "docs/d/b.svg": "",
    "docs/lost.md": "# Lost\n",
    "docs/five.md": FIVE,
    "docs/six.md": FIVE + "[6](five.md)\n",
    "docs/results/README.md": "# R\n\nAfter reading this page you can see.\n\n```\n$ for x in a b; do run >docs/results/$x.svg; done\n```\n\n"
                              "| `a.{svg,txt}` | first |\n",
    "docs/results/a.svg": "",
    "docs/results/b.svg": "",
    "docs/results/c.svg": "",
    HOOK: 'made["reference/made.md"]',
    "mkdocs.yml": "\nnav:\n  - Home: a.md\n  - Five: five.md\n  - Six: six.md\n  - Results: results/README.md\n  - Folder: d/\n  - Gone: gone.md\n  - Made: reference/made.md\n\nplugins: [x.md]\n",
}
FOUND = [
    "README.md:1: docs/none.md is no file of this repository",
    "docs/a.md:3: a.md has no heading with the anchor #three",
    "docs/d/b.md:4: ../../../none.md is no file of this repository",
    "docs/d/b.md:5: the image b.svg has no text for people who do not see it",
    "mkdocs.yml:1: the menu names gone.md, which is not in docs/ and is not made",
    "docs/results/README.md:1: has no row of its table for b.svg",
    "docs/results/README.md:1: has no command for c.svg",
    "docs/results/README.md:1: has no row of its table for c.svg",
    "docs/lost.md:1: is not in the menu of the site: name it in mkdocs.yml",
    "docs/lost.md:1: does not open with 'After reading this page you ...'",
    "docs/six.md:1: links to 6 other pages: keep the 5 that a reader needs most",
]


def finds_planted_mistakes():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in PLANTED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = complaints(root)
    if found != FOUND:
        print("links_test.py: of planted mistakes it found", *found, "and not", *FOUND, sep="\n  ")
    return found == FOUND


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent
    found = complaints(root)
    for what in found:
        print(what)
    return 0 if finds_planted_mistakes() and not found else 1


if __name__ == "__main__":
    sys.exit(main())
