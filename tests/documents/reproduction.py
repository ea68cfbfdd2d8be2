#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdicts in docs/scale.md are what `coset reproduce --all` finds.

usage: reproduction.py COSET [--write]

--write puts them into docs/scale.md instead of comparing them.
"""
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/scale.md"
PART = "(?<=<!-- reproduced: {0} -->\n).*?(?=<!-- end of reproduced: {0} -->)"
COUNTS = ["agree", "disagree", "undecided", "not_judged"]


def counts(sources):
    lines = ["| source | claims | agree | disagree | undecided | not judged here |", "|---|---|---|---|---|---|"]
    rows = [(source["source"], [source[key] for key in COUNTS]) for source in sources]
    rows.append(("all", [sum(column) for column in zip(*(row for _, row in rows))]))
    return "\n".join(lines + [f"| {name} | {sum(row)} | {' | '.join(map(str, row))} |" for name, row in rows]) + "\n"


def found(claim):
    """The answers that do not agree, each with its means; of a claim that is left open by two of them, all."""
    shown = [one for one in claim["answers"] if one["verdict"] == claim["verdict"]] or claim["answers"]
    return "; ".join(f"{one['asks']}, by {one['by']}: {one['found']}" for one in shown)


def not_agreed(sources, verdict):
    lines = ["| claim | the source's words | found | why |", "|---|---|---|---|"]
    for source in sources:
        for claim in source["claims"]:
            if claim["verdict"] == verdict:
                lines.append(f"| {claim['id']} | \"{claim['says']}\" | {found(claim)} | {claim['because']} |")
    return "\n".join(lines) + "\n"


def not_judged(sources):
    lines = ["| claim | the source's words | why not |", "|---|---|---|"]
    for source in sources:
        for claim in source["claims"]:
            if claim["verdict"] in ("not judged", "no numbers"):
                why = claim["not_judged"] or "; ".join(one["found"] for one in claim["answers"])
                lines.append(f"| {claim['id']} | \"{claim['says']}\" | {why} |")
    return "\n".join(lines) + "\n"


def parts(coset):
    shown = subprocess.run([coset, "reproduce", "--all", "--json"], check=True, capture_output=True, text=True)
    sources = json.loads(shown.stdout)["sources"]
    return {"counts": counts(sources), "disagree": not_agreed(sources, "disagrees"),
            "undecided": not_agreed(sources, "undecided"), "not judged": not_judged(sources)}


def main():
    before = page = PAGE.read_text(encoding="utf-8")
    for name, text in parts(sys.argv[1]).items():
        part = re.compile(PART.format(name), re.DOTALL)
        if not part.search(page):
            print(f"docs/scale.md has no part '{name}'")
            return 1
        page = part.sub(lambda _, text=text: text, page)
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if page == before:
        return 0
    print(f"docs/scale.md is not up to date: tests/documents/reproduction.py {sys.argv[1]} --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
