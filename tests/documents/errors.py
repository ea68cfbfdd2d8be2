#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every message that docs/errors.md quotes is in the sources. Every exception of the rooms that users call is on the page, and
so is what headers and CMake refuse.

usage: errors.py

The first column of the page's tables quotes coset's messages as code; … stands for what they fill in.
"""
import re
import sys

import markdown

PAGE = markdown.ROOT / "docs/errors.md"
SOURCES = ("include", "numa", "src", "cmake", "CMakeLists.txt")
COMPLETE = ("CMakeLists.txt", "cmake", "include", "numa", "src/runtime/calls", "src/mpi", "src/bindings/python", "src/reducer", "src/runtime",
            "src/team", "src/reducer/updates")
SUFFIXES = {".cpp", ".hpp", ".h", ".in", ".f90", ".cmake", ".txt", ".py"}
LITERAL = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'")
THROWN = re.compile(r"\b(?:argument_error|topology_error|mismatch_error|schedule_error|aborted|timed_out|error|refuse|fail)\("
                    r"(?:\(?\w[\w.:]*,\s*)*(?:\w+::)*(?:format\()?\s*\"([^\"]+)\"")
REFUSED = re.compile(r"(?:static_assert\([^;\"]+,\s*|#error |FATAL_ERROR )\"([^\"]+)\"")


def literals(text):
    """The texts in a source, with … for what is filled in: C++'s formats and sums, Fortran's, CMake's."""
    text = text.replace(r'\"', "\x01")
    text = re.sub(r'"\s*"', "", text)
    text = re.sub(r'"\s*\+[^";]*\+\s*"', "…", text)
    text = re.sub(r"'\s*//[^';]*//\s*(?:&\s*)?'", "…", text)
    text = re.sub(r"\$?\{[^{}\n]*\}", "…", text)
    return text.replace("\x01", "'")


def sources(roots):
    for root in roots:
        paths = [markdown.ROOT / root] if (markdown.ROOT / root).is_file() else sorted((markdown.ROOT / root).rglob("*"))
        for path in paths:
            if path.suffix in SUFFIXES:
                yield path.relative_to(markdown.ROOT), literals(path.read_text(encoding="utf-8"))


def pattern(quote):
    fixed = [re.escape(words) for words in quote.replace('"', "'").strip("… ").split("…")]
    return re.compile(r"[^\n]{0,200}?".join(fixed))


def quotes():
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("| `"):
            for quote in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                yield number, quote


def letters(text):
    return len(re.findall(r"\w", text))


def main():
    texts = dict(sources(SOURCES))
    said = "\n".join(each[1] or each[2] for text in texts.values() for each in LITERAL.finditer(text))
    quoted = [(number, quote, pattern(quote)) for number, quote in quotes()]
    wrong = [f"{PAGE.relative_to(markdown.ROOT)}:{number}: no source says “{quote}”" for number, quote, found in quoted
             if letters(quote) < 6 or not found.search(said)]
    of_users = [(path, message) for path, text in texts.items() if str(path).startswith(COMPLETE)
                for message in THROWN.findall(text) + REFUSED.findall(text) if letters(message) > 12]
    wrong += [f"{path}: docs/errors.md does not have “{message}”" for path, message in of_users
              if not any(found.search(message) and 2 * letters(quote) >= letters(message) for _, quote, found in quoted)]
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(quoted)} messages quoted, {len(of_users)} messages looked for, {len(wrong)} wrong")
    return 1 if wrong or not quoted or not of_users else 0


if __name__ == "__main__":
    sys.exit(main())
