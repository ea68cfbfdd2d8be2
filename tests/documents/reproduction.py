#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/scale.md is what `coset reproduce --all` finds.

usage: reproduction.py COSET [--write]

--write puts the table into docs/scale.md instead of comparing it.
"""
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/scale.md"
TABLE = re.compile(r"(?<=<!-- reproduced -->\n).*?(?=<!-- end of reproduced -->)", re.DOTALL)


def table(coset):
    shown = subprocess.run([coset, "reproduce", "--all", "--json"], check=True, capture_output=True, text=True)
    lines = ["| source, figure | what | source | model | |", "|---|---|---|---|---|"]
    for figure in json.loads(shown.stdout)["figures"]:
        where = f"{figure['source']} {figure['figure']}"
        for claim in figure["claims"]:
            lines.append(f"| {where} | {claim['claim']} | {claim['source']} | {claim['model']} | {claim['verdict']} |")
            where = ""
    return "\n".join(lines) + "\n"


def main():
    page, found = PAGE.read_text(encoding="utf-8"), table(sys.argv[1])
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(TABLE.sub(lambda _: found, page), encoding="utf-8")
        return 0
    if TABLE.search(page)[0] == found:
        return 0
    print(f"docs/scale.md is not up to date: tests/documents/reproduction.py {sys.argv[1]} --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
