# SPDX-License-Identifier: Apache-2.0
"""What mkdocs cannot do by itself: pages made from headers, man pages, results and examples, and links to other files.

A page of docs/ links to files of the repository. On the site such a link leads to the page that shows the file, and
where there is none, it becomes the file's path.
"""

import ast
import os
import pathlib
import posixpath
import re
import sys
import tempfile

from mkdocs.structure.files import File

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
import headers  # noqa: E402
import man_pages  # noqa: E402
import markdown_links  # noqa: E402
import results  # noqa: E402

# Files outside of docs/ that are pages of the site, and where.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "src/runtime/README.md": "inside/scheduler.md",
    "src/coordinator/README.md": "inside/coordinator.md",
    "lab/sim/README.md": "inside/simulator.md",
    "src/cluster/README.md": "inside/cluster.md",
    "tests/cluster/README.md": "inside/cluster-tests.md",
    "python/nigh/__init__.py": "python.md",
    "docs/decisions": "decisions/index.md",
    "docs/results": "results/README.md",
}
LANGUAGES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".f90": "fortran"}

made = {}    # {page of the site: its text}
folder = tempfile.TemporaryDirectory(prefix="nigh-site-")


def examples():
    out = ["# Examples\n", "After reading this page you have a whole program to begin with, for each way to use nigh.\n"]
    for file in sorted(file for file in (ROOT / "docs/examples").iterdir() if file.is_file()):
        ELSEWHERE[f"docs/examples/{file.name}"] = f"examples.md#{markdown_links.slug(file.name)}"
        out.append(f"## {file.name}\n\n```{LANGUAGES[file.suffix]}\n{file.read_text(encoding='utf-8')}```\n")
    return "\n".join(out)


def about(node):
    """The docstring as Markdown, with its sessions as code."""
    text = (ast.get_docstring(node) or "").replace("``", "`")
    return re.sub(r"^(>>> .*(?:\n.+)*)$", r"```python\n\1\n```", text, flags=re.M)


def functions_of_module(folder):
    """The public functions and classes of a Python package: those in __all__, wherever they stand."""
    public = set()
    for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            public = set(ast.literal_eval(node.value))
    found, lines = {}, {}
    for file in folder.glob("_[a-z]*.py"):
        source = file.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in public:
                found[node.name] = node
                lines[node.name] = source.splitlines()
    out = ["## Reference\n"]
    for name, node in sorted(found.items(), key=lambda one: one[0].lower()):
        inside = [part for part in getattr(node, "body", ()) if isinstance(node, ast.ClassDef)]
        start = next((part for part in inside if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
        called = node if isinstance(node, ast.FunctionDef) else start
        line = f"nigh.{name}({ast.unparse(called.args).removeprefix('self, ')})" if called else f"nigh.{name}"
        out.append(f"### `nigh.{name}`\n\n```python\n{line}\n```\n\n{about(node)}\n")
        for part in inside:
            if isinstance(part, ast.AnnAssign):
                said = lines[name][part.lineno - 1].partition("#: ")[2].replace("``", "`")
                out.append(f"- `{part.target.id}: {ast.unparse(part.annotation)}`{': ' if said else ''}{said}")
            elif isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                call = "" if any("property" in ast.unparse(one) for one in part.decorator_list) else f"({ast.unparse(part.args).replace('self, ', '').removeprefix('self')})"
                first = about(part).split("\n\n")[0].replace("\n", " ")
                out.append(f"- `{part.name}{call}`: {first}")
        out.append("")
    return "\n".join(out)


def list_of(pages, where, heading, opening):
    rows = [f"- [{markdown_links.title(text)}]({posixpath.relpath(name, where)})" for name, text in pages.items()]
    return f"# {heading}\n\n{opening}\n\n" + "\n".join(rows) + "\n"


def make_pages():
    of_commands = {f"reference/commands/{name}.md": text for name, text in man_pages.pages(ROOT / "docs/man").items()}
    of_headers = {}
    for header, text in headers.pages(ROOT).items():
        name = f"reference/headers/{header.partition('/')[2].replace('.', '_')}.md"
        of_headers[name] = text
        ELSEWHERE[f"include/{header}"] = name
    decisions = {f"decisions/{file.name}": file.read_text(encoding="utf-8") for file in sorted((ROOT / "docs/decisions").glob("*.md"))}
    made.update(of_commands)
    made.update(of_headers)
    made["reference/commands/index.md"] = list_of(of_commands, "reference/commands", "Commands", "After reading one of these pages you know each option of a command. They are its man pages.")
    made["reference/headers/index.md"] = list_of(of_headers, "reference/headers", "Headers", "After reading one of these pages you know each type and function of a header, and what it promises.")
    made["decisions/index.md"] = list_of(decisions, "decisions", "Decisions", "After reading one of these pages you know why a choice was made, what was rejected, and what would change it.")
    made["results/figures.md"] = results.page(ROOT / "docs/results")
    made["examples.md"] = examples()
    for source, name in ELSEWHERE.items():
        if source.endswith(".md"):
            made[name] = (ROOT / source).read_text(encoding="utf-8")
    return {"reference/commands/": of_commands, "reference/headers/": of_headers, "decisions/": decisions}


def entries(nav, folders):
    """The menu, each folder in it replaced by its pages."""
    out = []
    for entry in nav:
        if isinstance(entry, dict):
            (name, value), = entry.items()
            if isinstance(value, list):
                entry = {name: entries(value, folders)}
            elif value.endswith("/"):
                entry = {name: [{"All": f"{value}index.md"}] + [{short(markdown_links.title(text)): page} for page, text in folders[value].items()]}
        out.append(entry)
    return out


def short(title):
    """The title in the menu, where the `<` of a header's name would begin a tag."""
    return re.sub("[`<>]", "", title)


def on_config(config):
    made.clear()
    folders = make_pages()
    config["nav"] = entries(config["nav"], folders)
    config["mdx_configs"]["toc"]["slugify"] = markdown_links.slug
    return config


def on_files(files, config):
    for file in list(files):
        if file.src_path.startswith(("man/", "examples/")) and not file.src_path.startswith("examples/notebooks/"):
            files.remove(file)
    for name, text in made.items():
        path = pathlib.Path(folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        files.append(File(name, folder.name, config["site_dir"], config["use_directory_urls"]))
    return files


def source_of(page):
    """The file of the repository that a page of the site shows."""
    return next((source for source, name in ELSEWHERE.items() if name == page and source.endswith(".md")), f"docs/{page}")


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_path
    if here == "python.md":
        markdown += "\n" + functions_of_module(ROOT / "python/nigh")
    for start, end, _, is_image, text, target in reversed(markdown_links.links(markdown)):
        if "://" in target or target.startswith(("#", "mailto:")):
            continue
        path, hash_, anchor = target.partition("#")
        named = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(here)), path))
        name = ELSEWHERE.get(named) or (named[len("docs/"):] if named.startswith("docs/") else None)
        if name and (name.partition("#")[0] in made or (ROOT / "docs" / name).is_file()):
            link = posixpath.relpath(name, posixpath.dirname(here) or ".") + (hash_ + anchor if anchor else "")
            markdown = f"{markdown[:start]}{'!' * is_image}[{text}]({link}){markdown[end:]}"
        elif (ROOT / named).exists():
            shown = text if named in text else f"{text} (`{named}`)"
            markdown = markdown[:start] + shown + markdown[end:]
    return markdown


def on_post_build(config):
    folder.cleanup()
    for unused in ("sitemap.xml", "sitemap.xml.gz"):
        if os.path.exists(os.path.join(config["site_dir"], unused)):
            os.remove(os.path.join(config["site_dir"], unused))
