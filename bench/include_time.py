#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long compilers take to read <coset/coset.hpp>, beside the standard headers that it includes alone.

usage: include_time.py [COMPILER…]      g++ and clang++ unless named

Prints seconds of processor time and the ratio, each the median of 15 turns. It should not exceed 1.2.
"""
import pathlib
import resource
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/rooms"))
from public_headers import read_by  # noqa: E402

TURNS = 15


def seconds(compiler, headers):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run([compiler, "-std=c++20", "-I", ROOT / "include", "-fsyntax-only", "-x", "c++", "-"], check=True, text=True,
                   input="".join(f"#include <{header}>\n" for header in headers))
    return spent() - before


def main(compilers):
    _, standard = read_by("coset/coset.hpp")
    for compiler in compilers or ["g++", "clang++"]:
        turns = [(seconds(compiler, ["coset/coset.hpp"]), seconds(compiler, sorted(standard))) for _ in range(TURNS)]
        ours, theirs = (statistics.median(column) for column in zip(*turns))
        ratio = statistics.median(a / b for a, b in turns)
        print(f"{compiler}: coset.hpp {ours:.2f} s, its {len(standard)} standard headers {theirs:.2f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
