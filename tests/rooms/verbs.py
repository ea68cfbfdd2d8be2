#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who names a verb. What goes through all verbs asks their rows (include/coset/verbs/verb.hpp); whoever adds one finds here
which files it has to touch beside the table."""
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
MOST = 60
# A line or a function for each verb: what C, Python and MPI call it, what calls it for them, and what calls it to be timed.
OWN = {"src/command/measure/references/coset.cpp", "src/bindings/c/verbs.cpp", "src/bindings/python/members.cpp", "src/mpi/preload/call.cpp",
       "src/lab/foreign/mpi_routine.cpp"}


def verbs():
    header = (PROJECT / "include/coset/verbs/verb.hpp").read_text()
    body = re.search(r"enum class verb : std::uint8_t \{(.*?)\};", header, re.S).group(1)
    return re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", body).replace(",", "\n"), re.M)


def mentions(text, names):
    """However they are spelt: `using enum` counts as all of them."""
    code = re.sub(r"//[^\n]*", "", text)
    named = re.findall(r"\bverb::(?:%s)\b" % "|".join(names), code)
    return len(named) + len(names) * len(re.findall(r"using enum (?:\w+::)*verb\b", code))


def found(root=PROJECT, names=None):
    names = names or verbs()
    counts = {}
    for file in sorted((root / "src").rglob("*.[ch]pp")):
        path = str(file.relative_to(root))
        if path not in OWN and (number := mentions(file.read_text(errors="replace"), names)):
            counts[path] = number
    return counts


def main():
    counts = found()
    total = sum(counts.values())
    for path, number in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{number:4} {path}")
    print(f"{total:4} mentions of verbs outside their table and {len(OWN)} files of their own; {MOST} may be")
    return 0 if total <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
