# SPDX-License-Identifier: Apache-2.0
"""Pages on the public headers: what Doxygen finds in them, in Markdown."""

import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import doxygen_filter

KEYWORDS = {"static": "static ", "explicit": "explicit ", "constexpr": "constexpr "}
NOT_SHOWN = ("std", "nigh::policy", "nigh::tasks")  # of these, headers only name things


def text_of(element):
    return "".join(element.itertext()).strip() if element is not None else ""


def comment_in_markdown(lines):
    """Prose stays prose; lines that are indented after an empty one are an example or a drawing."""
    out, block = [], []

    def end_block():
        if block:
            while block and not block[-1].strip():
                block.pop()
            out.extend(["", "```", *block, "```", ""])
            block.clear()

    was_empty = True
    for line in lines:
        if line.startswith("  ") and (block or was_empty):
            block.append(line[2:])
        elif block and not line.strip():
            block.append("")
        else:
            end_block()
            out.append(escaped(line.strip()))
        was_empty = not line.strip()
    end_block()
    return "\n".join(out).strip()


def escaped(line):
    """A line of a comment that shows as it is: stars, brackets and underscores are of C++."""
    pieces = re.split(r"(`[^`]*`)", line)
    pieces[::2] = [re.sub(r"([\\*_<>\[\]{}#|])", r"\\\1", piece) for piece in pieces[::2]]
    return re.sub(r"^([-+]|\d+\.)(?=\s)", r"\\\1", "".join(pieces))


def comment_of(element):
    texts = [verbatim.text for verbatim in element.findall("detaileddescription//verbatim")]
    lines = [re.sub(r"^/// ?", "", line) for text in texts for line in text.split("\n")]
    return "\n".join(line for line in lines).strip("\n").rstrip()


def templates(element):
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    names = []
    for one in parameters.findall("param"):
        name = text_of(one.find("type")) + (" " + text_of(one.find("declname")) if one.find("declname") is not None else "")
        default = text_of(one.find("defval"))
        names.append(name + (f" = {default}" if default else ""))
    requires = text_of(element.find("requiresclause"))
    return f"template <{', '.join(names)}>\n" + (f"  requires {requires}\n" if requires else "")


def tidied(code):
    return re.sub(r"(\w)< ", r"\1<", code).replace(" >", ">").replace(" =default", " = default").replace(" =delete", " = delete")


def declaration(member):
    """A member as a line of C++."""
    kind, name = member.get("kind"), member.findtext("name")
    if kind == "enum":
        word = "enum class" if member.get("strong") == "yes" else "enum"
        values, width = [], 0
        for value in member.findall("enumvalue"):
            code = f"  {value.findtext('name')}{' ' + text_of(value.find('initializer')) if value.find('initializer') is not None else ''},"
            values.append((code, " ".join(comment_of(value).split())))
            width = max(width, len(code))
        lines = [code + (" " * (width - len(code)) + "  // " + about if about else "") for code, about in values]
        return "\n".join([f"{word} {name} {{".replace("  ", " "), *lines, "};"])
    if kind == "define":
        parameters = ", ".join(text_of(one.find("defname")) for one in member.findall("param"))
        value = text_of(member.find("initializer"))
        return f"#define {name}{f'({parameters})' if parameters else ''}" + (f" {value}" if "\n" not in value else "")
    words = "".join(word for key, word in KEYWORDS.items() if member.get(key) == "yes")
    kind_of_type = text_of(member.find("type"))
    if "constexpr" in kind_of_type or kind == "typedef":
        words = words.replace("constexpr ", "")
    if kind == "typedef":
        return tidied(templates(member) + text_of(member.find("definition")).replace("nigh::", "")) + ";"
    value = text_of(member.find("initializer")) if kind == "variable" else ""
    arguments = text_of(member.find("argsstring"))
    return tidied(f"{templates(member)}{words}{kind_of_type} {name}{arguments}{' ' + value if value and len(value) < 60 else ''};".replace("static static", "static"))


def members_in_markdown(members):
    """Members in the header's order: those without a comment of their own, or with a short one, share a block of code."""
    out, block = [], []

    def end_block():
        if block:
            out.append("```cpp\n" + "\n".join(block) + "\n```\n")
            block.clear()

    for member in members:
        about, code = comment_of(member), declaration(member)
        if member.get("kind") in ("variable", "define") and about and "\n" not in about:
            block.append(f"{code}  // {about.strip()}" if len(code) + len(about) < 96 else f"// {about.strip()}\n{code}")
        elif not about:
            block.append(code)
        else:
            end_block()
            out.append(f"```cpp\n{code}\n```\n\n{comment_in_markdown(about.split(chr(10)))}\n")
    end_block()
    return "\n".join(out)


def is_public(member):
    return member.get("prot") in (None, "public") and member.get("kind") in ("function", "variable", "typedef", "enum", "define") \
        and not member.findtext("name").startswith("@") and not re.search(r"\bdetail::", text_of(member.find("type"))) \
        and not member.findtext("name").startswith("~") and not text_of(member.find("definition")).startswith("typedef struct")


def in_order(members):
    return sorted(members, key=lambda member: int(member.find("location").get("line")))


def class_in_markdown(compound):
    name = compound.findtext("compoundname")
    members = in_order(member for member in compound.iter("memberdef") if is_public(member))
    about = comment_in_markdown(comment_of(compound).split("\n"))
    head = f"{templates(compound)}{compound.get('kind')} {name.rpartition('::')[2]};"
    return f"## `{name}`\n\n```cpp\n{tidied(head)}\n```\n\n{about}\n\n{members_in_markdown(members)}"


def page(header, source, classes, members):
    """The page of one header: its comment, its types, its functions by name."""
    about = comment_in_markdown(doxygen_filter.about_file(source.split("\n")))
    parts = [(int(one.find("location").get("line")), class_in_markdown(one)) for one in classes]
    groups = {}
    for member in in_order(members):
        name = member.findtext("qualifiedname") or member.findtext("name")
        groups.setdefault(name, []).append(member)
    for name, group in groups.items():
        call = "()" if group[0].get("kind") == "function" and "operator" not in name else ""
        parts.append((int(group[0].find("location").get("line")), f"## `{name}{call}`\n\n{members_in_markdown(group)}"))
    body = "\n".join(text for _, text in sorted(parts, key=lambda part: part[0]))
    return f"# `<{header}>`\n\n{about}\n\n{body}"


def pages(root):
    """{header: page} of all public headers."""
    configuration = (root / "site/Doxyfile").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["doxygen", "-"], input=f"{configuration}\nOUTPUT_DIRECTORY = {folder}\n", cwd=root, text=True,
                              capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"doxygen: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
        classes, members, seen = {}, {}, set()
        for file in sorted(pathlib.Path(folder, "xml").glob("*.xml")):
            compound = ElementTree.parse(file).getroot().find("compounddef")
            if compound is None or "<" in compound.findtext("compoundname", ""):
                continue
            if compound.get("kind") in ("class", "struct") and compound.get("prot") == "public":
                classes.setdefault(compound.find("location").get("file"), []).append(compound)
            elif compound.get("kind") in ("namespace", "file") and compound.findtext("compoundname") not in NOT_SHOWN:
                for member in filter(is_public, compound.iter("memberdef")):
                    if member.get("id") not in seen:
                        seen.add(member.get("id"))
                        members.setdefault(member.find("location").get("file"), []).append(member)
    found = {}
    for header in sorted((root / "include/nigh").glob("*.h*")):
        name = f"nigh/{header.name}"
        found[name] = page(name, header.read_text(encoding="utf-8"), classes.get(name, []), members.get(name, []))
    return found
