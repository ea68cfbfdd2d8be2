#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link and picture in Markdown leads to a file, and every anchor to a heading. Other hosts are not asked.

usage: links.py [BUILD]

With BUILD, the same of the documents as that build installs them, where nothing else is.
"""
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

import markdown


def wrong_links(path, root):
    text = path.read_text(encoding="utf-8")
    outside = "\n".join(markdown.outside_blocks(text))
    for link in [*markdown.LINK.finditer(outside), *markdown.IMAGE.finditer(outside)]:
        to = urllib.parse.unquote(link["to"])
        if "://" in to or to.startswith("mailto:"):
            continue
        name, _, anchor = to.partition("#")
        target = (path.parent / name).resolve() if name else path
        where = f"{path.relative_to(root)}:{outside.count(chr(10), 0, link.start()) + 1}"
        if not target.is_relative_to(root) or not target.exists():
            yield f"{where}: {to} does not exist"
        elif anchor and anchor not in {a for _, _, a in markdown.headings(target.read_text(encoding='utf-8'))}:
            yield f"{where}: {to}: no such heading"


def installed(build, folder):
    """Its Markdown; one at a time installs from a build, as each writes its manifest."""
    subprocess.run(["flock", f"{build}/CMakeCache.txt", "cmake", "--install", build, "--component", "documentation", "--prefix", folder],
                   check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.rglob("*.md"))


def main():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve() if sys.argv[1:] else markdown.ROOT
        files = installed(sys.argv[1], root) if sys.argv[1:] else markdown.files()
        wrong = [each for path in files for each in wrong_links(path, root)]
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(files)} documents, {len(wrong)} dead links")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
