# SPDX-License-Identifier: Apache-2.0
"""What is defined once, for tidy.py: the letters of memory-order arguments, and the words of the glossary.

A letter carries words of the name of the file that defines it: `// (stack.C) A task is seen whole: ...` in task_stack.hpp.
Comments, model tests and READMEs that use it write (stack.C), too.
"""

import re

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
LETTER = re.compile(r"\(([a-z_]+)\.([A-Z])\)")
BARE_LETTER = re.compile(r"(?<![\w)])\([A-Z]\)")
DEFINITION = re.compile(r"^\s*// \(([a-z_]+)\.([A-Z])\) ")
# An order that is not relaxed.
ORDER = re.compile(r"\b(?:sync::|memory_order_|memory_order::)(?:acquire|release|acq_rel|seq_cst)\b|__ATOMIC_(?!RELAXED)")
NEEDED = re.compile(r'expect_needed\(\s*"([^"]*)"')


def comment_of(line):
    return (STRING.sub('""', line).partition("//") + ("",))[2]


def names_file(prefix, path):
    stem = path.rpartition("/")[2].partition(".")[0]
    return f"_{prefix}_" in f"_{stem}_"


def letters(files):
    """[(file, line, what is wrong)] of {path: text}: C++ files, and pages that speak of letters."""
    defined, used, wrong = {}, [], []
    for path, text in files.items():
        is_code = not path.endswith(".md")
        for number, line in enumerate(text.split("\n"), 1):
            says = comment_of(line) if is_code else line
            if is_code and BARE_LETTER.search(says):
                wrong.append((path, number, f"{BARE_LETTER.search(says).group(0)}: a letter carries its file's prefix, as (stack.C)"))
            definition = DEFINITION.match(line) if is_code else None
            if definition and names_file(definition.group(1), path):
                letter = ".".join(definition.groups())
                if letter in defined:
                    wrong.append((path, number, f"({letter}) is defined in {defined[letter]}, too"))
                defined.setdefault(letter, path)
            used += [(path, number, ".".join(found)) for found in LETTER.findall(says)]
            used += [(path, number, letter) for letter in NEEDED.findall(line)]
        if is_code and not path.startswith("tests/"):
            wrong += orders(path, text)
    return wrong + [(path, number, f"({letter}) is defined nowhere: `// ({letter}) ...`, in a file of that name")
                    for path, number, letter in used if letter not in defined]


def orders(path, text):
    """[(file, line, what is wrong)]: a statement with an order that is not relaxed has a letter in its comments.

    Its comments are those up to the first line with a semicolon, where the explorer of tests/model looks, too.
    """
    wrong, lines = [], [STRING.sub('""', line).partition("//") for line in text.split("\n")]
    for number, (code, _, _) in enumerate(lines):
        if not ORDER.search(code) or re.match(r"\s*(inline constexpr auto \w+ =|\w+ = __ATOMIC_\w+,$)", code):
            continue
        end = next((n for n in range(number, len(lines)) if ";" in lines[n][0]), number)
        if not any(LETTER.search(comment) for _, _, comment in lines[number:end + 1]):
            wrong.append((path, number + 1, f"{ORDER.search(code).group(0)}: its reason is a letter in the "
                                            "statement's comment, as `// (stack.C)`"))
    return wrong


def words(glossary):
    """[(line, what is wrong)] of a table whose first column has the words, divided by commas."""
    seen, wrong = {}, []
    for number, line in enumerate(glossary.split("\n"), 1):
        cells = line.split("|")
        if len(cells) < 4 or set(cells[1].strip()) <= set("-: ") or cells[1].strip() == "word":
            continue
        for word in (part.strip().lower() for part in re.sub(r"[*`]", "", cells[1]).split(",")):
            if word in seen:
                wrong.append((number, f'"{word}" has a meaning in line {seen[word]}'))
            seen.setdefault(word, number)
    return wrong
