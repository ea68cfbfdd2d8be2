#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of the command have one renderer, src/command/table.cpp: nobody else puts text into columns. Names each place that
does, as FILE:LINE."""
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
# Lines of a picture, which the Python module and coset::study draw, too: these know nothing of the command.
OTHERS = {"src/command/shown/draw.cpp"}
# A field with a fill, a side or a width: {:>9}, {:#<{}}, {:8}, {:{}}, {:>{}.3f}; not {:.3f}, {:g} or {:%Y}.
COLUMN = re.compile(r"\{[\w.]*:(?:[^{}]?[<>^]|0?[1-9]|\{)|\bsetw\b|\bstd::(?:left|right)\b")


def found(root=PROJECT):
    for folder in ("src/command", "src/lab"):
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            path = str(file.relative_to(root))
            if path in OTHERS:
                continue
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                for text in re.findall(r'"(?:[^"\\]|\\.)*"|\b(?:std::)?(?:setw|left|right)\b', line):
                    if COLUMN.search(text):
                        yield f"{path}:{number}: {line.strip()}"


def check_pattern():
    for text in ("{:>9}", "{:<22}", "{:#<{}}", "{:8}", "{:{}}", "{:>{}.3f}", "{0:^5}", "std::setw"):
        assert COLUMN.search(text), text
    for text in ("{:.3f}", "{:.{}f}", "{:g}", "{:%Y-%m}", "{}", "{{", "{:#x}", '{"a": 1}', "a: {}"):
        assert not COLUMN.search(text), text


def main():
    check_pattern()
    places = list(found())
    for place in places:
        print(place)
    print(f"{len(places)} places put text into columns beside the table of src/command/table.hpp")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
