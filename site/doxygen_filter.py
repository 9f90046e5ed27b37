# SPDX-License-Identifier: Apache-2.0
"""Shows a header to Doxygen with nigh's plain comments as Doxygen's own, other than the first, which is the file's.

    site/doxygen_filter.py HEADER

Each comment becomes verbatim text, so that Doxygen finds no commands in it: it only says what a comment belongs to.
"""

import re
import sys


def own_line(lines, at):
    """(text, number of lines) of the comment that fills whole lines from this one, or None."""
    if re.match(r"^\s*//", lines[at]):
        count = 0
        while at + count < len(lines) and re.match(r"^\s*//", lines[at + count]):
            count += 1
        return [re.sub(r"^\s*// ?", "", line) for line in lines[at:at + count]], count
    if re.match(r"^\s*/\*", lines[at]):
        count = 1
        while "*/" not in lines[at + count - 1]:
            count += 1
        text = "\n".join(lines[at:at + count])
        text = text[text.index("/*") + 2:text.rindex("*/")]
        return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in text.split("\n")], count
    return None


def behind_code(lines, at):
    """(code, text, number of lines) of the comment that follows code in this line, or None."""
    match = re.match(r"^(\s*[^\s#}/*].*?)\s+(//|/\*) (.*)$", lines[at])
    if not match or '"' in match.group(1) or match.group(1)[-1] in "{(":
        return None
    column, text, count = match.start(2), [match.group(3)], 1
    if match.group(2) == "/*":
        while "*/" not in text[-1]:
            text.append(lines[at + count].strip())
            count += 1
        text[-1] = text[-1].partition("*/")[0].rstrip()
    else:
        while at + count < len(lines) and lines[at + count].find("//") == column and not lines[at + count][:column].strip():
            text.append(lines[at + count].strip("/ "))
            count += 1
    return match.group(1), " ".join(text), count


def about_file(lines):
    """The first comment of the header, other than its licence."""
    at = next(at for at, line in enumerate(lines) if re.match(r"^\s*/[/*]", line) and "SPDX" not in line)
    return own_line(lines, at)[0]


def shown(lines):
    """The header's lines as Doxygen is to see them."""
    at, is_first = 0, True
    while at < len(lines):
        own, behind = own_line(lines, at), behind_code(lines, at)
        if "SPDX" in lines[at] or lines[at].startswith("#pragma"):
            yield ""
            at += 1
        elif own:
            yield from [] if is_first else ["/// \\verbatim"] + ["/// " + line for line in own[0]] + ["/// \\endverbatim"]
            is_first = False
            at += own[1]
        elif behind:
            yield f"{behind[0]} ///< \\verbatim {behind[1]} \\endverbatim"
            at += behind[2]
        else:
            yield lines[at]
            at += 1


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(shown(file.read().split("\n"))))
