#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no class has more public data members than one can keep in mind.

usage: members.py
"""
import pathlib
import re
import sys

MOST_MEMBERS = 12
FOLDERS = ["include", "src", "numa", "bench"]

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                     r'\'(?:\\.|[^\'\\\n])+\'',
                     re.DOTALL | re.MULTILINE)
HEAD = re.compile(
    r"(?<!enum )\b(struct|class)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*(\w+)\s*(?:final\s*)?(?::[^{;()]*)?\{")
NO_DATA = re.compile(r"(?:using|friend|static|template|typedef|enum|operator|constexpr|explicit|virtual|inline|extern)\b|~")
NESTED = re.compile(r"\b(?:struct|class|union)\b[^{;]*\{\}\s*(?=\w)")


def body_after(text, begin):
    """What is between the brace that ends at `begin` and its partner."""
    depth = 1
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin:at]
    return text[begin:]


def flattened(body):
    """The same with nothing inside braces and parentheses but the function pointers' names, and without template
    arguments."""
    pairs = {"{": "}", "(": ")"}
    flat, closing = [], []
    body = re.sub(r"\(\*(\w+)\)\s*\([^()]*\)", r" \1", body)
    for c in body:
        if closing:
            if c == closing[-1]:
                closing.pop()
                if not closing:
                    flat.append(c)
            elif c in pairs:
                closing.append(pairs[c])
        else:
            flat.append(c)
            if c in pairs:
                closing.append(pairs[c])
    text = "".join(flat)
    while (less := re.sub(r"<[^<>;{}]*>", "", text)) != text:
        text = less
    return text


def public_members(kind, body):
    """How many data members of a class everybody may touch."""
    public, count = kind == "struct", 0
    # A function's body ends a statement as a semicolon does; the braces of an initialiser do not.
    statements = re.split(r";|(?<=:)(?<=public:|rivate:|tected:)|(?<=\{\})(?=\s*(?!,)\S)",
                          NESTED.sub("nested ", flattened(body)))
    for statement in (" ".join(each.split()) for each in statements):
        if (label := re.fullmatch(r"(public|private|protected)\s*:", statement)):
            public = label.group(1) == "public"
            continue
        if not public or not re.search(r"\w[*&\s]+\w", statement) or NO_DATA.match(statement):
            continue
        declared = re.sub(r"alignas\(\)|\[\[[^\]]*\]\]|=[^,]*", "", statement)
        if "(" not in declared and "operator" not in declared and not re.match(r"\s*(struct|class|union)\b", declared):
            count += 1 + declared.count(",")
    return count


def classes_in(text):
    """(name, public data members) of each class."""
    code = NO_CODE.sub(lambda found: '""' if found.group(0)[0] in "\"'R" else " ", text)
    for head in HEAD.finditer(code):
        yield head.group(2), public_members(head.group(1), body_after(code, head.end()))


def main(arguments):
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = [f"{path.relative_to(ROOT)}: {name} has {members} public data members, more than {MOST_MEMBERS}"
             for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cpp", ".hpp", ".h")
             for name, members in classes_in(path.read_text(encoding="utf-8")) if members > MOST_MEMBERS]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
