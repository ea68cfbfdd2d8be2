# SPDX-License-Identifier: Apache-2.0
"""What the tests and the site need to know of Markdown: fenced blocks, headings with their anchors, links."""
import dataclasses
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\((?P<to>[^()\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]*\]\((?P<to>[^()\s]+)\)")


@dataclasses.dataclass
class Block:
    language: str
    text: str
    line: int  # of its first line of code, from 1
    marker: str  # the comment on the line before, without <!-- and -->


def files():
    """All Markdown that is kept here; what is not added yet, too."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, check=False,
                            capture_output=True, text=True).stdout.split()
    found = listed or [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.md") if "build" not in p.parts]
    return [ROOT / name for name in sorted(found) if (ROOT / name).exists()]


def blocks(text):
    lines = text.splitlines()
    begin = None
    for number, line in enumerate(lines):
        fence = re.match(r"```([\w+]*)", line)
        if begin is None and fence:
            before = lines[number - 1] if number > 0 else ""
            marker = re.fullmatch(r"<!-- (.*) -->", before)
            begin, language, said = number + 1, fence[1], marker[1] if marker else ""
        elif begin is not None and line.startswith("```"):
            yield Block(language, "\n".join(lines[begin:number]) + "\n", begin + 1, said)
            begin = None


def indented_blocks(text):
    """Blocks by indentation, outside of fenced ones; the comment is the last line with words before."""
    lines, begin, before = [*outside_blocks(text), ""], None, ""
    for number, line in enumerate(lines):
        inside = line.startswith("    ") and (begin is not None or number == 0 or not lines[number - 1].strip())
        if inside and begin is None:
            begin = number
        elif not inside and begin is not None:
            marker = re.fullmatch(r"<!-- (.*) -->", before)
            yield Block("", "".join(each[4:] + "\n" for each in lines[begin:number]), begin + 1, marker[1] if marker else "")
            begin = None
        if not inside and line.strip():
            before = line


def kinds(text):
    """(kind, line) of each line: of a fenced block, of a table, or words."""
    inside = False
    for line in text.splitlines():
        fence = line.startswith("```")
        yield "block" if inside or fence else "table" if line.startswith("|") else "words", line
        inside = inside != fence


def outside_blocks(text):
    """The lines, those of fenced blocks empty."""
    return ["" if kind == "block" else line for kind, line in kinds(text)]


def slug(heading):
    """As GitHub makes anchors."""
    words = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def headings(text):
    """(level, words, anchor); equal headings are numbered."""
    seen = {}
    for line in outside_blocks(text):
        found = re.match(r"(#+) (.*)", line)
        if found:
            plain = slug(found[2])
            number = seen.get(plain, 0)
            seen[plain] = number + 1
            yield len(found[1]), found[2], plain if number == 0 else f"{plain}-{number}"
