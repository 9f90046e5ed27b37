# SPDX-License-Identifier: Apache-2.0
"""The mechanical part of STYLE's "Plain English", for tidy.py: what comments may not say.

A sentence begins with "Who", "What" or "Whoever" only when it is a question; nobody says "but for"; words that
others replaced do not come back.
"""

import re

# The word that was: the word to say.
REPLACED = {
    r"guests?": "external thread",
    r"stand-ins?": "backup thread",
    r"crews?": "worker layout",
    r"loot": "stolen range",
    r"visitors?": "helper",
    r"shel(?:f|ves)": "shared-memory steal queue",
    r"strangers?": "external load",
    r"drones?": "member",
    r"seats?": "thread slot",
    r"invitations?": "mailbox message",
    r"ladders?": "what it holds: sizes, levels",
}

# Where a word has another meaning: the guest of a virtual machine.
MEANS_ANOTHER = {"tests/numa_vm": r"guests?"}

# Folders that still say otherwise: take one out when its comments have been rewritten, and put none in.
NOT_YET = []

REPLACED_WORD = re.compile(r"\b(" + "|".join(REPLACED) + r")\b", re.IGNORECASE)
QUOTED = re.compile(r'"[^"]*"|`[^`]*`')  # a name in somebody's format
BEGINNING = re.compile(r"^(?:\([a-z_]+\.[A-Z]\) )?(Whom|Whose|Whoever|Who|Whatever|What)\b")
SENTENCE_END = re.compile(r"(?<=[.?!:])\s+(?=[\"'`(]?[A-Z]|\([a-z_]+\.[A-Z]\) )")
COMMENT = {"c": re.compile(r"^(.*?)(?:^|\s)//\s?(.*)$"), "script": re.compile(r"^(.*?)(?:^|\s)#\s?(.*)$")}


BLOCK = re.compile(r"^\s*/\*(.*?)\*/", re.MULTILINE | re.DOTALL)


def comments(text, kind):
    """[(line number, text)] of the comments, the lines of one comment joined."""
    found, continues = [], False
    if kind == "c":
        for block in BLOCK.finditer(text):
            lines = [line.strip().removeprefix("*").strip() for line in block.group(1).split("\n")]
            found.append((text.count("\n", 0, block.start(1)) + 1, lines))
        text = BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)
    for number, line in enumerate(text.split("\n"), 1):
        match = COMMENT[kind].match(line)
        if not match or '"' in match.group(1) or "'" in match.group(1):
            continues = False
            continue
        whole_line = not match.group(1).strip()
        if whole_line and continues and match.group(2).strip():
            found[-1][1].append(match.group(2).strip())
        else:
            found.append((number, [match.group(2).strip()]))
        continues = whole_line and "SPDX-License-Identifier" not in line
    return [(number, " ".join(parts).strip()) for number, parts in found]


def paragraphs(page):
    """[(line number, text)] of the prose of a page in Markdown: no code, each table row and list item by itself."""
    found, is_code, continues = [], False, False
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            is_code, continues = not is_code, False
        elif is_code or not line.strip():
            continues = False
        elif continues and not line.startswith(("|", "- ", "#")):
            found[-1][1].append(line.strip())
        else:
            found.append((number, [line.strip().lstrip("|- ")]))
            continues = True
    return [(number, " ".join(parts).strip()) for number, parts in found]


def complaints_of_page(page):
    """[(line number, what is wrong)] of a page in Markdown."""
    wrong = []
    for number, text in paragraphs(page):
        for sentence in SENTENCE_END.split(text):
            beginning = BEGINNING.match(sentence)
            if beginning and not sentence.rstrip().endswith("?"):
                wrong.append((number, f'a sentence begins with "{beginning.group(1)}" and asks nothing: name the actor'))
        if re.search(r"\bbut for\b", text):
            wrong.append((number, '"but for": say "other than" or "except"'))
    return wrong


def complaints(text, kind, path=""):
    """[(line number of the comment, what is wrong)]"""
    wrong = []
    for number, comment in comments(text, kind):
        for sentence in SENTENCE_END.split(comment):
            beginning = BEGINNING.match(sentence)
            if beginning and not sentence.rstrip().endswith("?"):
                wrong.append((number, f'a sentence begins with "{beginning.group(1)}" and asks nothing: name the actor'))
        if re.search(r"\bbut for\b", comment):
            wrong.append((number, '"but for": say "other than" or "except"'))
        for word in REPLACED_WORD.findall(QUOTED.sub("", comment)):
            if any(path.startswith(folder + "/") and re.fullmatch(what, word, re.IGNORECASE)
                   for folder, what in MEANS_ANOTHER.items()):
                continue
            instead = next(say for was, say in REPLACED.items() if re.fullmatch(was, word, re.IGNORECASE))
            wrong.append((number, f'"{word}": say {instead}'))
    return wrong
