#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/environment.md is what `coset info --environment` says, the manual page names the same variables, and
only src/base/environment asks the system for one.

usage: environment.py COSET [--write]

--write puts the table into docs/environment.md instead of comparing it.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/environment.md"
ASKS = ROOT / "src/base/environment/variables.cpp"
LINKS_NOTHING = ROOT / "src/mpi/preload/front/front.cpp"  # which is in every process of a job
TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)
OF_VERBS, SAME_FOR_VERB = "plans by size", "The same for this verb."


def rows(coset):
    shown = subprocess.run([coset, "info", "--environment", "--json"], check=True, capture_output=True, text=True)
    return json.loads(shown.stdout)


def table(variables):
    lines = ["| variable | takes | default | meaning | read by |", "|---|---|---|---|---|"]
    for v in variables:
        if v["meaning"] != SAME_FOR_VERB:
            others = ", and so on for each verb" if v["takes"] == OF_VERBS else ""
            lines.append(f"| `{v['name']}`{others} | {v['takes']} | {v['default']} | {v['meaning']} | {v['readers']} |")
    return "\n".join(lines) + "\n"


def others_that_ask():
    for folder in ("include", "numa", "src", "bench", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".cpp", ".h", ".hpp", ".f90") and path not in (ASKS, LINKS_NOTHING):
                if re.search(r"\b(?:secure_)?getenv *\(", path.read_text(encoding="utf-8")):
                    yield f"{path.relative_to(ROOT)} calls getenv: variables are read by way of src/base/environment/variables.hpp"


def missing_in_manual(variables):
    manual = (ROOT / "docs/coset.1").read_text(encoding="utf-8")
    for v in variables:
        if v["name"].startswith("COSET_") and v["takes"] != OF_VERBS and not re.search(rf"Ev {v['name']}\b", manual):
            yield f"docs/coset.1 does not name {v['name']}"


def main():
    variables, page = rows(sys.argv[1]), PAGE.read_text(encoding="utf-8")
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(TABLE.sub(lambda _: table(variables), page), encoding="utf-8")
        return 0
    wrong = [*others_that_ask(), *missing_in_manual(variables)]
    if TABLE.search(page)[0] != table(variables):
        wrong.append(f"{PAGE.relative_to(ROOT)} is not up to date: tests/documents/environment.py {sys.argv[1]} --write")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
