#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong programs: the compiler's first error has to say what is wrong and what would be right.

usage: wrong_uses.py COMPILER [FLAG…]

Compiles each program of wrong_uses.txt up to its types. The first error has to contain the words that stand below the
program, and no name of coset::detail, of which users know nothing.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-fopenmp", "-w", f"-I{HERE.parents[1] / 'include'}"]
BEGIN = """[[maybe_unused]] void use{}([[maybe_unused]] coset::member& me, [[maybe_unused]] coset::team& ranks,
                          [[maybe_unused]] int n) {{
  [[maybe_unused]] std::vector<double> const input(3);
  [[maybe_unused]] std::vector<double> output(3);
  [[maybe_unused]] double value = 0;
"""


def programs(text):
    """(name, program, words) of each paragraph; those of comments are left out."""
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.strip().split("\n") if not line.startswith("#")]
        if not lines:
            continue
        name, *program, words = lines
        if not program or not words.startswith("=> "):
            sys.exit(f"wrong_uses.txt: \"{name}\" is no name, program and \"=> words\"")
        yield name, "\n".join(program), words[3:]


class Compiler:
    """Reads wrong_uses.hpp once."""

    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        self.is_clang = "clang" in subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True).stdout
        header = folder / "wrong_uses.hpp"
        header.write_text(f'#include "{HERE / "wrong_uses.hpp"}"\n', encoding="utf-8")
        subprocess.run([*command, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)

    def first_errors(self, some):
        """Compiles programs together, each as a file of its own name, its number: {number: first error}."""
        text = "".join(f'{BEGIN.format(k)}# 1 "program {k}"\n{program}\n}}\n' for k, program in some.items())
        said = subprocess.run([*self.command, "-ferror-limit=0" if self.is_clang else "-fmax-errors=0", "-fsyntax-only", "-x", "c++", "-include", self.folder / "wrong_uses.hpp", "-"],
                              input=text, capture_output=True, text=True, check=False).stderr
        return attributed(said, place_comes_first=not self.is_clang)


def attributed(said, place_comes_first):
    """g++ says from where a template was instantiated before the error, clang++ after it."""
    found, place, waiting = {}, None, None
    for line in said.split("\n"):
        named = re.search(r"program (\d+):", line)
        error = re.search(r"error: (.*)", line)
        if named:
            place = int(named[1])
        if error and (named or (place_comes_first and place is not None)):
            found.setdefault(place, error[1])
            place = waiting = None
        elif error:
            waiting = error[1]
        elif named and waiting is not None:
            found.setdefault(place, waiting)
            waiting = None
    return found


def all_errors(compiler, todo):
    """What several programs instantiate alike is said of one only: the others come again."""
    found = {}
    while new := compiler.first_errors({k: program for k, program in todo.items() if k not in found}):
        found |= new
    return found


def complaint(name, program, words, error):
    if error is not None and words in error and "detail::" not in error:
        return None
    said = f"the first error is\n    {error}" if error else "nothing is said against it"
    return f"{name}: \"{words}\" is expected, without detail::, but {said}\n    {program}"


def main(compiler, *flags):
    rows = list(programs((HERE / "wrong_uses.txt").read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        reader = Compiler([compiler, *FLAGS, *flags], pathlib.Path(folder))
        right = reader.first_errors({0: "coset::allreduce(me, output);"})
        if right:
            sys.exit(f"a right program is refused: {right}")
        errors = all_errors(reader, {k: program for k, (_, program, _) in enumerate(rows)})
    complaints = list(filter(None, (complaint(*row, errors.get(k)) for k, row in enumerate(rows))))
    print("\n".join(complaints + [f"{len(rows)} wrong programs, {len(complaints)} not explained by {compiler}"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
