#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link and picture in Markdown leads to a file, and every anchor to a heading. Other hosts are not asked.

usage: links.py
"""
import sys
import urllib.parse

import markdown


def wrong_links(path):
    text = path.read_text(encoding="utf-8")
    outside = "\n".join(markdown.outside_blocks(text))
    for link in [*markdown.LINK.finditer(outside), *markdown.IMAGE.finditer(outside)]:
        to = urllib.parse.unquote(link["to"])
        if "://" in to or to.startswith("mailto:"):
            continue
        name, _, anchor = to.partition("#")
        target = (path.parent / name).resolve() if name else path
        where = f"{path.relative_to(markdown.ROOT)}:{outside.count(chr(10), 0, link.start()) + 1}"
        if not target.is_relative_to(markdown.ROOT) or not target.exists():
            yield f"{where}: {to} does not exist"
        elif anchor and anchor not in {a for _, _, a in markdown.headings(target.read_text(encoding='utf-8'))}:
            yield f"{where}: {to}: no such heading"


def main():
    wrong = [each for path in markdown.files() for each in wrong_links(path)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
