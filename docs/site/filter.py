#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One document as doxygen wants it: headings and links get names that are unique in the site, and links to files that the site
does not have become plain words.

usage: filter.py FILE.md
"""
import itertools
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/documents"))
import markdown  # noqa: E402

# Pages whose tables order what they link: it stands below them in the site's tree.
TABLES_OF_CONTENTS = (ROOT / "README.md", ROOT / "docs/decisions/index.md")
LANGUAGES = {"fortran": "{.f90}", "cmake": "", "c": "{.c}", "cpp": "{.cpp}", "json": ""}

# To doxygen a single backtick and an apostrophe are a pair of quotation marks.
APOSTROPHE_IN_CODE = re.compile(r"(?<!`)`([^`\n]*'[^`\n]*)`(?!`)")

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def is_page(path):
    return path in PAGES


def page(path):
    """The name of a page: docs/start/openmp.md is start_openmp."""
    name = path.relative_to(ROOT).with_suffix("")
    return re.sub(r"\W", "_", str(name).removeprefix("docs/")).lower()


def reference(path, link, placed):
    name, _, anchor = link["to"].partition("#")
    target = pathlib.Path(os.path.normpath(path.parent / name)) if name else path
    if "://" in link["to"]:
        return link[0]
    if not is_page(target):
        return link["text"]
    if target == ROOT / "README.md" and not anchor:
        return f"[{link['text']}](@ref index)"
    if path in TABLES_OF_CONTENTS and not anchor and target not in placed:
        placed.add(target)
        return f'@subpage {page(target)} "{link["text"]}"'
    return f"[{link['text']}](@ref {page(target)}{'_' + anchor if anchor else ''})"


def with_references(path, text):
    """Outside of blocks. In tables of contents the first link to a page places it."""
    placed = set()

    def of_lines(lines, taken):
        text = "\n".join(lines)
        text = markdown.IMAGE.sub(lambda m: m[0].replace(m["to"], pathlib.Path(m["to"]).name), text)
        text = APOSTROPHE_IN_CODE.sub(r"``\1``", text)
        return markdown.LINK.sub(lambda m: reference(path, m, taken), text)

    for kind, lines in itertools.groupby(markdown.kinds(text), key=lambda each: each[0]):
        lines = [line for _, line in lines]
        yield "\n".join(lines) if kind == "block" else of_lines(lines, placed if kind == "table" else set(PAGES))


def as_doxygen_wants(path):
    text = "\n".join(with_references(path, path.read_text(encoding="utf-8")))
    anchors = iter(list(markdown.headings(path.read_text(encoding="utf-8"))))
    inside = False
    for line in text.splitlines():
        fence = re.match(r"```(\S*)$", line)
        if fence:
            inside = not inside
            yield "```" + (LANGUAGES.get(fence[1], "") if inside else "")
        elif inside:
            yield line
        elif re.fullmatch(r"<!-- .* -->", line):
            continue
        elif re.match(r"#+ ", line):
            level, words, anchor = next(anchors)
            plain = words.replace("`", "")
            name = page(path) if level == 1 else f"{page(path)}_{anchor}"
            yield f"{'#' * level} {plain} {{#{name}}}"
        else:
            yield line


print("\n".join(as_doxygen_wants(pathlib.Path(sys.argv[1]).resolve())))
